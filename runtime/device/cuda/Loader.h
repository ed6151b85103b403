//===- Loader.h - locates and loads NVIDIA's libraries -----------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_LOADER_H
#define DLC_RUNTIME_DEVICE_CUDA_LOADER_H

#include <string>
#include <utility>
#include <vector>

namespace dlc::cuda {

/// NVIDIA libraries. Each has a row in the table of Loader.cpp.
enum class Library {
  Driver,
  Nvrtc,
  CublasLt,
  Cudnn,
  Nccl,
};

struct LoadAttempt {
  std::string file;
  std::string reason;
};

struct LoadedLibrary {
  Library library = Library::Driver;
  /// dlopen handle; null if the library was not found.
  void *handle = nullptr;
  std::string path;
  /// Failed attempts to load the library, in search order.
  std::vector<LoadAttempt> tried;

  explicit operator bool() const { return handle; }
  /// Returns the address of a symbol; null if the library does not have it.
  void *symbol(const char *name) const;
  /// Resolves a function. If the library does not have it and `error` is empty, sets `error`.
  template <typename Function> void take(Function &to, const char *name, std::string &error) const {
    to = reinterpret_cast<Function>(symbol(name));
    if (!to && error.empty())
      error = path + " has no function " + name;
  }
};

/// Loads a library. If the library's own variable ($DLC_CUDA_DRIVER, _NVRTC, _CUBLASLT, _CUDNN,
/// _NCCL) is set, only this file is tried. Otherwise the search order is: the folders of
/// $DLC_CUDA_PATH, the default search path of dlopen, the CUDA toolkit, the site-packages folders
/// of Python.
LoadedLibrary findLibrary(Library library);

/// Returns the result of findLibrary(), which is cached for the whole process.
const LoadedLibrary &loadLibrary(Library library);

/// Formats the result of a search: "libnvrtc: found at /usr/local/cuda/lib64/libnvrtc.so.13", or
/// "missing, tried …".
std::string formatLibraryStatus(const LoadedLibrary &loaded);

/// Returns a report of the search, with one or more lines per library.
std::string formatLibraryReport();

/// Returns the names (as in programs) and versions of the libraries that influence code generation
/// or autotuning results; the version is "none" if a library is missing.
std::vector<std::pair<std::string, std::string>> getLibraryVersions();

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_LOADER_H
