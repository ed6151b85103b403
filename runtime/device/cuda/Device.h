//===- Device.h - types behind the opaque pointers of the device table -------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_DEVICE_H
#define DLC_RUNTIME_DEVICE_CUDA_DEVICE_H

#include "dlc/device.h"
#include "runtime/device/cuda/Driver.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace dlc::cuda {

struct Device {
  int index = 0;
  Ordinal ordinal = 0;
  Context context = nullptr;
  std::string architecture;
  int sharedLimit = 0;
  std::mutex mutex;
  std::set<int> peers;

  std::string name() const { return "cuda:" + std::to_string(index); }
};

inline Device &deviceOf(void *device) { return *static_cast<Device *>(device); }

/// Makes the device's context current for the calling thread during the lifetime of the object. The
/// context that other users of CUDA in this process had set is restored afterwards.
class CurrentContext {
public:
  explicit CurrentContext(const Device &device) {
    Context now = nullptr;
    driver().contextCurrent(&now);
    if (now != device.context)
      pushed = driver().contextPush(device.context) == Success;
  }
  ~CurrentContext() {
    Context ignored;
    if (pushed)
      driver().contextPop(&ignored);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  bool pushed = false;
};

/// Error buffer that the caller passed to a function of the device table.
struct ErrorBuffer {
  char *error;
  size_t size;

  int fail(const std::string &text) const {
    if (error && size) {
      size_t length = text.size() < size - 1 ? text.size() : size - 1;
      std::memcpy(error, text.data(), length);
      error[length] = 0;
    }
    return 1;
  }
  /// Returns 0 if the driver call succeeded. Otherwise writes an error message and returns nonzero;
  /// `what` is the failed operation.
  int check(Result result, const Device &device, const char *what) const;
};

std::string formatBytes(uint64_t bytes);

/// Each function fills one group of functions of the device table.
void setMemoryFunctions(dlc_device_table &table);
void setStreamFunctions(dlc_device_table &table);
void setModuleFunctions(dlc_device_table &table);
void setGraphFunctions(dlc_device_table &table);
void setLibraryFunctions(dlc_device_table &table);
void setNcclFunctions(dlc_device_table &table); // device groups, which run collectives

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_DEVICE_H
