//===- Driver.cpp - loading and initialization of the CUDA driver ------------===//
#include "runtime/device/cuda/Driver.h"

#include "runtime/device/cuda/Loader.h"

#include <memory>
#include <type_traits>

namespace dlc::cuda {

namespace {

/// CUDA version of the oldest driver with all required features: graphs, stream-ordered attributes
/// and code for sm_90a.
constexpr int oldestDriver = 12000;

std::string getErrorName(const Driver &d, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (d.errorName)
    d.errorName(result, &name);
  if (d.errorString)
    d.errorString(result, &text);
  std::string all = name ? name : "CUDA error " + std::to_string(result);
  return text ? all + " (" + text + ")" : all;
}

std::string explainError(const Driver &d, Result result) {
  std::string name = getErrorName(d, result);
  switch (result) {
  case NoDevice:
    return "NVIDIA's driver is installed but finds no GPU: " + name +
           "; check $CUDA_VISIBLE_DEVICES and the output of nvidia-smi";
  case StubLibrary:
    return "the libcuda.so.1 that was found is only a stub for linking: " + name +
           "; remove the folder 'stubs' from the library path";
  case DriverMismatch:
    return "the driver's library and its kernel module have different versions: " + name +
           "; restart the machine after an update of the driver";
  default:
    return "NVIDIA's driver cannot be initialized: " + name + "; check the output of nvidia-smi";
  }
}

/// Resolves the CUDA driver's functions and initializes the driver. On failure sets `error` to the
/// reason.
void loadDriver(Driver &d) {
  const LoadedLibrary &library = loadLibrary(Library::Driver);
  if (!library) {
    d.error = "no NVIDIA driver: " + formatLibraryStatus(library);
    return;
  }
#define DLC_CUDA_DRIVER_RESOLVE(member, symbolName, parameters)                                    \
  d.member = reinterpret_cast<decltype(d.member)>(library.symbol(#symbolName));                    \
  if (!d.member && d.error.empty())                                                                \
    d.error = "NVIDIA's driver is too old: " + library.path + " has no " #symbolName +             \
              std::string("; install one for CUDA ") + versionText(oldestDriver) + " or later";
  DLC_CUDA_DRIVER_FUNCTIONS(DLC_CUDA_DRIVER_RESOLVE)
#undef DLC_CUDA_DRIVER_RESOLVE
  if (!d.error.empty())
    return;
  if (Result result = d.init(0)) {
    d.error = explainError(d, result);
    return;
  }
  if (Result result = d.driverVersion(&d.version)) {
    d.error = explainError(d, result);
    return;
  }
  if (d.version < oldestDriver) {
    d.error = "NVIDIA's driver is too old: required: CUDA " + versionText(oldestDriver) +
              "; found: CUDA " + versionText(d.version) + "; update the driver";
    return;
  }
  int count = 0;
  if (Result result = d.deviceCount(&count))
    d.error = explainError(d, result);
  else if (count == 0)
    d.error = explainError(d, NoDevice);
}

} // namespace

const Driver &driver() {
  // Never destroyed: worker threads may call the driver after main() has returned.
  static const Driver *table = [] {
    auto d = std::make_unique<Driver>();
    loadDriver(*d);
    return d.release();
  }();
  return *table;
}

std::string getErrorName(Result result) { return getErrorName(driver(), result); }

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace dlc::cuda
