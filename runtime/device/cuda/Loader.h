//===- Loader.h - finding and opening NVIDIA's libraries by name --------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_LOADER_H
#define DLC_RUNTIME_DEVICE_CUDA_LOADER_H

#include <string>
#include <utility>
#include <vector>

namespace dlc::cuda {

/// Each has a row in Loader.cpp.
enum class Library {
  Driver,
  Nvrtc,
  CublasLt,
  Cudnn,
  Nccl,
};

struct Attempt {
  std::string file;
  std::string reason;
};

struct Loaded {
  Library library = Library::Driver;
  /// Null: missing.
  void *handle = nullptr;
  std::string path;
  /// What did not open, up to the one that did.
  std::vector<Attempt> tried;

  explicit operator bool() const { return handle; }
  /// Null where the library has no such function.
  void *symbol(const char *name) const;
  /// The function of that name; `error`, where it is still empty, says that there is none.
  template <typename Function> void take(Function &to, const char *name, std::string &error) const {
    to = reinterpret_cast<Function>(symbol(name));
    if (!to && error.empty())
      error = path + " has no function " + name;
  }
};

/// Tries to open the library, in the order: the file in its own variable ($DLC_CUDA_DRIVER, _NVRTC,
/// _CUBLASLT, _CUDNN, _NCCL; nothing else is tried then), the folders of $DLC_CUDA_PATH, the name
/// alone, the toolkit, and the folders of Python's packages.
Loaded find(Library library);

/// What find() gave the first time, for the whole process.
const Loaded &loaded(Library library);

/// As in "libnvrtc: found at /usr/local/cuda/lib64/libnvrtc.so.13", or "missing, tried …".
std::string describe(const Loaded &loaded);

/// A line or more for each library.
std::string report();

/// The versions of those libraries that choose how something is computed, by their names in
/// programs; "none" where one is missing.
std::vector<std::pair<std::string, std::string>> libraryVersions();

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_LOADER_H
