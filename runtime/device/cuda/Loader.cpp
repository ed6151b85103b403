//===- Loader.cpp - locates and loads NVIDIA's libraries ---------------------===//
#include "runtime/device/cuda/Loader.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <mutex>
#include <optional>
#include <unistd.h>

namespace dlc::cuda {

namespace {

struct LibraryInfo {
  Library library;
  const char *name, *variable;
  std::vector<const char *> sonames;
  const char *needed, *mend;
  /// Libraries that this library opens by name (dlopen). They are loaded first, so that dlopen
  /// finds them already in the process.
  std::vector<Library> opens;
  /// For a library that influences how an operation is computed: its name in programs, and its
  /// version function.
  const char *chooses = nullptr, *version = nullptr;
};

const std::vector<LibraryInfo> &getLibraryInfos() {
  static const auto *rows = new std::vector<LibraryInfo>{
      {Library::Driver,
       "libcuda",
       "DLC_CUDA_DRIVER",
       {"libcuda.so.1"},
       "to run on a GPU",
       "install NVIDIA's driver"},
      {Library::Nvrtc,
       "libnvrtc",
       "DLC_CUDA_NVRTC",
       {"libnvrtc.so.13", "libnvrtc.so.12"},
       "to compile kernels for a GPU",
       "install a CUDA toolkit, or 'pip install nvidia-cuda-nvrtc'"},
      {Library::CublasLt,
       "libcublasLt",
       "DLC_CUDA_CUBLASLT",
       {"libcublasLt.so.13", "libcublasLt.so.12"},
       "optional: faster matrix products",
       "install a CUDA toolkit, or 'pip install nvidia-cublas'",
       {},
       "cublaslt",
       "cublasLtGetVersion"},
      {Library::Cudnn,
       "libcudnn",
       "DLC_CUDA_CUDNN",
       {"libcudnn.so.9"},
       "optional: faster convolutions, attention and norms",
       "install cuDNN 9, or 'pip install nvidia-cudnn-cu13'",
       {Library::Nvrtc, Library::CublasLt},
       "cudnn",
       "cudnnGetVersion"},
      {Library::Nccl,
       "libnccl",
       "DLC_CUDA_NCCL",
       {"libnccl.so.2"},
       "optional: training in several processes, a GPU each",
       "install NCCL, or 'pip install nvidia-nccl-cu13'"},
  };
  return *rows;
}

const LibraryInfo &findLibraryInfo(Library library) {
  return *std::find_if(getLibraryInfos().begin(), getLibraryInfos().end(),
                       [&](const LibraryInfo &row) { return row.library == library; });
}

std::string getFolder(const std::string &file) {
  size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string() : file.substr(0, slash);
}

std::vector<std::string> globFiles(const std::string &pattern) {
  std::vector<std::string> found;
  glob_t result;
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0)
    found.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  globfree(&result);
  return found;
}

/// Returns the folder of the shared library or executable that contains this code.
std::string getOwnFolder() {
  Dl_info info;
  char path[PATH_MAX];
  if (!dladdr(reinterpret_cast<void *>(&getOwnFolder), &info) || !info.dli_fname)
    return {};
  // For the main program, dli_fname is argv[0], which may have no folder.
  const char *name = std::strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
  return realpath(name, path) ? getFolder(path) : std::string();
}

/// Returns glob patterns of the folders where Python packages install NVIDIA's libraries.
std::vector<std::string> getPythonFolders() {
  std::vector<std::string> patterns;
  const std::string below = "/lib/python3*/site-packages/nvidia/*/lib";
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    patterns.push_back(environment + below);
  std::string own = getOwnFolder();
  if (size_t packages = own.rfind("/site-packages/"); packages != std::string::npos)
    patterns.push_back(own.substr(0, packages) + "/site-packages/nvidia/*/lib");
  // tools/setup creates the virtual environment next to the folder of libraries or programs.
  if (!own.empty())
    patterns.push_back(getFolder(own) + "/venv" + below);
  for (const char *place : {"/opt/*/.venv", "/usr/local", "/usr"})
    patterns.push_back(place + below);
  patterns.push_back("/usr/local/lib/python3*/dist-packages/nvidia/*/lib");
  return patterns;
}

std::vector<std::string> splitPathList(const char *list) {
  std::vector<std::string> parts;
  for (const char *at = list; at && *at;) {
    size_t length = std::strcspn(at, ":");
    if (length)
      parts.emplace_back(at, length);
    at += length + (at[length] == ':');
  }
  return parts;
}

std::string getLibraryPath(void *handle, const std::string &fallback) {
  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
    return map->l_name;
  return fallback;
}

/// Loads NVRTC's builtins library from NVRTC's folder, which is not on the default search path. At
/// its first compilation, NVRTC opens this library by name alone.
void preloadNvrtcBuiltins(const std::string &nvrtc) {
  for (const std::string &file : globFiles(getFolder(nvrtc) + "/libnvrtc-builtins.so.*"))
    if (file.find(".alt.") == std::string::npos)
      dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Tries to load the library `file`. Returns true on success; otherwise records the reason in
/// `to.tried`.
bool openLibrary(const std::string &file, LoadedLibrary &to) {
  bool path = file.find('/') != std::string::npos;
  if (path && access(file.c_str(), F_OK) != 0) {
    to.tried.push_back({file, "no such file"});
    return false;
  }
  if (path && to.library == Library::Nvrtc)
    preloadNvrtcBuiltins(file);
  to.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!to.handle) {
    const char *reason = dlerror();
    to.tried.push_back({file, reason ? reason : "cannot be opened"});
    return false;
  }
  to.path = getLibraryPath(to.handle, file);
  if (!path && to.library == Library::Nvrtc)
    preloadNvrtcBuiltins(to.path);
  return true;
}

bool openMatchingLibrary(const std::string &pattern, const LibraryInfo &what, LoadedLibrary &to) {
  for (const char *soname : what.sonames) {
    std::vector<std::string> files = globFiles(pattern + "/" + soname);
    if (files.empty())
      to.tried.push_back({pattern + "/" + soname, "no such file"});
    for (const std::string &file : files)
      if (openLibrary(file, to))
        return true;
  }
  return false;
}

} // namespace

void *LoadedLibrary::symbol(const char *name) const {
  return handle ? dlsym(handle, name) : nullptr;
}

LoadedLibrary findLibrary(Library library) {
  LoadedLibrary result;
  result.library = library;
  const LibraryInfo &what = findLibraryInfo(library);
  const char *only = std::getenv(what.variable);
  if (only && *only) {
    openLibrary(only, result);
    return result;
  }
  for (const std::string &folder : splitPathList(std::getenv("DLC_CUDA_PATH")))
    if (openMatchingLibrary(folder, what, result))
      return result;
  for (const char *soname : what.sonames)
    if (openLibrary(soname, result))
      return result;
  std::vector<std::string> folders = {"/usr/local/cuda/lib64"};
  if (library == Library::Driver)
    folders.insert(folders.end(), {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"});
  else
    for (std::string &folder : getPythonFolders())
      folders.push_back(std::move(folder));
  for (const std::string &folder : folders)
    if (openMatchingLibrary(folder, what, result))
      return result;
  return result;
}

const LoadedLibrary &loadLibrary(Library library) {
  struct Slot {
    std::once_flag once;
    LoadedLibrary value;
  };
  // Never destroyed: threads that use the libraries may outlive main().
  static Slot *slots = new Slot[getLibraryInfos().size()];
  Slot &slot = slots[static_cast<int>(library)];
  std::call_once(slot.once, [&] {
    for (Library other : findLibraryInfo(library).opens)
      loadLibrary(other);
    slot.value = findLibrary(library);
  });
  return slot.value;
}

std::string formatLibraryStatus(const LoadedLibrary &loaded) {
  const LibraryInfo &what = findLibraryInfo(loaded.library);
  std::string text = what.name;
  if (loaded)
    return text + ": found at " + loaded.path;
  text += std::string(": missing (") + what.needed + "); " + what.mend +
          ", or name its folder in $DLC_CUDA_PATH; tried";
  for (const LoadAttempt &attempt : loaded.tried)
    text += "\n    " + attempt.file + ": " + attempt.reason;
  return text;
}

std::string formatLibraryReport() {
  std::string text;
  for (const LibraryInfo &row : getLibraryInfos())
    text += formatLibraryStatus(loadLibrary(row.library)) + "\n";
  return text;
}

std::vector<std::pair<std::string, std::string>> getLibraryVersions() {
  std::vector<std::pair<std::string, std::string>> versions;
  for (const LibraryInfo &row : getLibraryInfos()) {
    if (!row.chooses)
      continue;
    const LoadedLibrary &library = loadLibrary(row.library);
    auto ask = reinterpret_cast<size_t (*)()>(library.symbol(row.version));
    versions.emplace_back(row.chooses, ask ? std::to_string(ask()) : library ? "unknown" : "none");
  }
  return versions;
}

} // namespace dlc::cuda
