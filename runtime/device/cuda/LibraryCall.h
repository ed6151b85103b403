//===- LibraryCall.h - a prepared call of a vendor library -------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_LIBRARYCALL_H
#define DLC_RUNTIME_DEVICE_CUDA_LIBRARYCALL_H

#include "runtime/device/cuda/Device.h"

#include <nlohmann/json.hpp>

#include <span>

namespace dlc::cuda {

struct LibraryBuffer {
  uint64_t bytes = 0;
  bool writable = false;
};

/// A prepared call of a vendor library. Its factory returns null and sets `error` to the reason if
/// the description is invalid, if a buffer is too small or must be writable but is not, or if the
/// library is missing or does not support the operation. The caller has made the device's context
/// current.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Submits the call to the stream. The caller has made the device's context current. Returns an
  /// error message, empty on success.
  virtual std::string run(Stream stream, void *const *buffers, void *workspace) = 0;

  uint64_t workspace = 0; ///< size in bytes of a run's workspace
};

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_LIBRARYCALL_H
