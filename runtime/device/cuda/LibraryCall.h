//===- LibraryCall.h - one call of a vendor's library, ready to run -------------===//
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

/// What makes one returns null with the reason in `error`: a wrong description, a buffer that is
/// too small or must not be written, a library that is missing or has no way to do it. The device's
/// context is the thread's.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Puts the work into the stream; the device's context is the thread's. Empty, or what went
  /// wrong.
  virtual std::string run(Stream stream, void *const *buffers, void *workspace) = 0;

  uint64_t workspace = 0; ///< bytes that a run wants
};

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_LIBRARYCALL_H
