//===- Nvrtc.cpp - compiles CUDA C++ to machine code with NVRTC --------------===//
#include "runtime/device/cuda/Nvrtc.h"

#include "runtime/device/cuda/Loader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dlc::cuda {

namespace {

/// NVRTC functions in use. dlc has its own declarations so that no CUDA header is needed to build
/// it.
struct Nvrtc {
  using Handle = void *;
  int (*version)(int *, int *);
  int (*create)(Handle *, const char *, const char *, int, const char *const *,
                const char *const *);
  int (*destroy)(Handle *);
  int (*compile)(Handle, int, const char *const *);
  int (*cubinSize)(Handle, size_t *);
  int (*cubin)(Handle, char *);
  int (*logSize)(Handle, size_t *);
  int (*log)(Handle, char *);
  const char *(*errorString)(int);
  std::string error;
};

const Nvrtc &nvrtc() {
  static const Nvrtc *table = [] {
    auto *t = new Nvrtc();
    const LoadedLibrary &library = loadLibrary(Library::Nvrtc);
    if (!library) {
      t->error = formatLibraryStatus(library);
      return t;
    }
    auto get = [&](auto &to, const char *name) { library.take(to, name, t->error); };
    get(t->version, "nvrtcVersion");
    get(t->create, "nvrtcCreateProgram");
    get(t->destroy, "nvrtcDestroyProgram");
    get(t->compile, "nvrtcCompileProgram");
    get(t->cubinSize, "nvrtcGetCUBINSize");
    get(t->cubin, "nvrtcGetCUBIN");
    get(t->logSize, "nvrtcGetProgramLogSize");
    get(t->log, "nvrtcGetProgramLog");
    get(t->errorString, "nvrtcGetErrorString");
    return t;
  }();
  return *table;
}

std::string getCompileLog(const Nvrtc &n, Nvrtc::Handle program) {
  size_t size = 0;
  if (n.logSize(program, &size) || size < 2)
    return {};
  std::string log(size, '\0');
  if (n.log(program, log.data()))
    return {};
  log.resize(std::strlen(log.c_str()));
  return log;
}

} // namespace

std::string nvrtcVersion(std::string *why) {
  const Nvrtc &n = nvrtc();
  int major = 0, minor = 0;
  if (n.error.empty() && n.version(&major, &minor) == 0)
    return std::to_string(major) + "." + std::to_string(minor);
  if (why)
    *why = n.error;
  return {};
}

NvrtcResult compileCuda(const std::string &text, const std::string &name, const std::string &arch,
                        const std::vector<std::string> &options) {
  NvrtcResult result;
  const Nvrtc &n = nvrtc();
  if (!n.error.empty()) {
    result.error = n.error;
    return result;
  }
  std::vector<std::string> all = {"--gpu-architecture=" + arch, "--ptxas-options=-v"};
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char *> pointers;
  pointers.reserve(all.size());
  for (const std::string &option : all)
    pointers.push_back(option.c_str());

  Nvrtc::Handle program = nullptr;
  int code = n.create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (code == 0) {
    code = n.compile(program, static_cast<int>(pointers.size()), pointers.data());
    result.log = getCompileLog(n, program);
  }
  size_t size = 0;
  if (code == 0)
    code = n.cubinSize(program, &size);
  if (code == 0) {
    result.cubin.resize(size);
    code = n.cubin(program, result.cubin.data());
  }
  if (program)
    n.destroy(&program);
  if (code != 0) {
    result.cubin.clear();
    result.error = name + " does not compile for " + arch + " (NVRTC " + nvrtcVersion() +
                   "): " + n.errorString(code) + "\n" + result.log;
    return result;
  }
  result.kernels = parseResources(result.log);
  return result;
}

std::vector<KernelResources> parseResources(const std::string &log) {
  std::vector<KernelResources> kernels;
  for (size_t begin = 0, end; begin < log.size(); begin = end + 1) {
    end = std::min(log.find('\n', begin), log.size());
    std::string line = log.substr(begin, end - begin);
    size_t at;
    if ((at = line.find("Compiling entry function '")) != std::string::npos) {
      at += std::strlen("Compiling entry function '");
      kernels.emplace_back().name = line.substr(at, line.find('\'', at) - at);
    }
    if (kernels.empty())
      continue;
    KernelResources &k = kernels.back();
    // Example: "…  16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"
    if (line.find(" bytes stack frame") != std::string::npos)
      std::sscanf(line.c_str() + line.find_first_of("0123456789"),
                  "%d bytes stack frame, %d bytes spill stores, %d bytes spill loads",
                  &k.stackBytes, &k.spillStoreBytes, &k.spillLoadBytes);
    if ((at = line.find("Used ")) != std::string::npos) {
      std::sscanf(line.c_str() + at, "Used %d registers", &k.registers);
      // Example: "..., 1024 bytes smem, ...". The number precedes its name.
      if (size_t shared = line.find(" bytes smem"); shared != std::string::npos)
        k.sharedBytes = std::atoi(line.c_str() + line.rfind(' ', shared - 1));
    }
  }
  return kernels;
}

} // namespace dlc::cuda
