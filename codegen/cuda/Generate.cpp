//===- Generate.cpp - compiles kernels as CUDA C++ text to machine code ---===//
#include "codegen/cuda/Generate.h"

#include "codegen/cache/ObjectCache.h"
#include "codegen/cuda/Prelude.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace dlc::cuda {

namespace {

const std::vector<std::string> kOptions = {"--std=c++17", "--ptxas-options=-v"};

NvrtcResult compileByNvrtc(const std::string &source, const std::string &arch) {
  return compileCuda(source, "kernels.cu", arch, kOptions);
}

/// Returns the cache key of a compiled image: everything that determines the image.
std::string computeCacheKey(const std::string &source, const std::string &arch,
                            const std::string &compiler) {
  std::string key = "cuda " + arch + " " + compiler;
  for (const std::string &option : kOptions)
    key += " " + option;
  return key + "\n" + source;
}

} // namespace

std::string buildModuleSource(llvm::ArrayRef<const Kernel *> kernels) {
  std::string source = "#include \"prelude.cuh\"\n";
  for (const Kernel *kernel : kernels)
    source += "\n" + kernel->text;
  return expandIncludes(source);
}

std::optional<std::vector<Module>> compileKernels(llvm::ArrayRef<const Kernel *> kernels,
                                                  const std::string &arch,
                                                  const std::string &cacheDir, int threads,
                                                  std::vector<unsigned> &where, std::string &error,
                                                  Compiler compiler, size_t moduleText) {
  std::vector<std::vector<const Kernel *>> groups;
  size_t text = 0;
  where.clear();
  for (const Kernel *kernel : kernels) {
    if (groups.empty() || text + kernel->text.size() > moduleText) {
      groups.emplace_back();
      text = 0;
    }
    groups.back().push_back(kernel);
    text += kernel->text.size();
    where.push_back(groups.size() - 1);
  }
  std::string version = "given";
  if (!compiler) {
    version = nvrtcVersion(&error);
    if (version.empty())
      return std::nullopt;
    compiler = compileByNvrtc;
  }
  std::vector<Module> modules(groups.size());
  ObjectCache cache(cacheDir);
  std::atomic<size_t> next = 0;
  std::mutex lock;
  auto work = [&] {
    for (size_t i; (i = next++) < groups.size();) {
      Module &module = modules[i];
      module.source = buildModuleSource(groups[i]);
      std::string key = computeCacheKey(module.source, arch, version);
      if (auto found = cache.find(key)) {
        module.image.assign(found->bytes.begin(), found->bytes.end());
        continue;
      }
      NvrtcResult result = compiler(module.source, arch);
      if (!result.error.empty()) {
        std::lock_guard guard(lock);
        std::string names;
        for (const Kernel *kernel : groups[i])
          for (const Launch &launch : kernel->launches)
            names += (names.empty() ? "" : ", ") + launch.function;
        error += "generated CUDA kernels do not compile for " + arch + " (" + names +
                 "): " + result.error + "\n";
        continue;
      }
      module.image = std::move(result.cubin);
      module.resources = std::move(result.kernels);
      cache.store(key, {std::string(module.image.begin(), module.image.end()), 0});
    }
  };
  size_t helpers = std::min<size_t>(std::max(threads, 1), groups.size());
  std::vector<std::thread> running;
  for (size_t i = 1; i < helpers; ++i)
    running.emplace_back(work);
  work();
  for (std::thread &thread : running)
    thread.join();
  if (!error.empty())
    return std::nullopt;
  return modules;
}

} // namespace dlc::cuda
