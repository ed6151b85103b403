//===- Memory.h - memory of arrays on devices ------------------------------===//
#ifndef DLC_TOOLS_PYTHON_DEVICE_MEMORY_H
#define DLC_TOOLS_PYTHON_DEVICE_MEMORY_H

#include "runtime/device/Event.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dlc::python {

/// Memory of an array on a device, from the allocator that the user has installed for the device,
/// or from a pool. The destructor does not wait for work that uses the memory: the pool gives the
/// memory to another array only after this work, in stream order.
class DeviceBlock {
public:
  /// Allocates memory for work in the stream. Throws dlc::MemoryError.
  DeviceBlock(runtime::Device &device, uint64_t bytes, void *stream);
  ~DeviceBlock();
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;

  void *data() const { return address; }
  runtime::Device &device() const { return on; }
  void *stream() const { return owner; }
  /// Adds a run that uses the memory. Requires the GIL.
  void addUse(const std::shared_ptr<runtime::DeviceEvent> &end);
  /// Marks the memory as used by another library, until a time that dlc does not know. If the
  /// library uses it in stream(), the pool gives the memory only to arrays in this stream.
  /// Otherwise the memory is not pooled.
  void markForeign(bool isInStream) { (isInStream ? isOnlyInStream : isForeign) = true; }
  /// Declares that later work is in this stream. Requires that all work is complete.
  void setStream(void *stream) {
    owner = stream;
    earlier.clear();
  }
  /// Makes a stream wait for the runs that used the memory before this array. The stream for which
  /// the memory was allocated waits for these runs already.
  void waitForEarlier(void *stream) const;
  /// Declares that users of the array wait for a run in stream(), which follows the earlier runs.
  void forgetEarlier() { earlier.clear(); }

private:
  friend class DevicePool;
  bool hasUseIn(const void *stream) const;

  runtime::Device &on;
  uint64_t size;
  void *owner; ///< stream for whose work the memory was allocated
  void *address = nullptr;
  std::shared_ptr<runtime::DeviceAllocator> source; ///< null: the pool
  std::vector<std::shared_ptr<runtime::DeviceEvent>> uses;
  /// Runs that used the memory for an earlier array, as far as they may be incomplete. For memory
  /// of the user's allocator: the work in the stream before the allocation.
  std::vector<std::shared_ptr<runtime::DeviceEvent>> earlier;
  bool isForeign = false, isOnlyInStream = false;
  unsigned bornIn; ///< number of forks at construction: a forked process cannot use the device
};

/// Bytes of arrays on a device, and bytes that the pool retains for further arrays.
struct PoolFigures {
  uint64_t arrays = 0, pooled = 0;
};
PoolFigures poolFigures(runtime::Device &device);
/// Returns the pooled memory to the device. Waits for work that uses it.
void clearPool(runtime::Device &device);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_DEVICE_MEMORY_H
