//===- DeviceArray.h - dlc.DeviceArray: contiguous arrays on a device --------===//
#ifndef DLC_TOOLS_PYTHON_DEVICE_DEVICEARRAY_H
#define DLC_TOOLS_PYTHON_DEVICE_DEVICEARRAY_H

#include "dlc/DType.h"
#include "tools/python/device/Memory.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::python {

/// The Python class dlc.DeviceArray: a contiguous row-major array in device memory. It has no
/// arithmetic; other libraries take it through `__dlpack__`.
class DeviceArray {
public:
  DeviceArray(std::shared_ptr<DeviceBlock> block, DType type, std::vector<int64_t> shape)
      : block(std::move(block)), type(type), dims(std::move(shape)) {}
  /// Returns a new array for work in the stream. Its elements are undefined.
  static DeviceArray empty(runtime::Device &device, DType type, std::vector<int64_t> shape,
                           void *stream);

  runtime::Device &device() const { return block->device(); }
  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  /// Declares that later work on the array is in this stream. Requires that all work is complete.
  void setStream(void *stream) { block->setStream(stream); }
  /// Replaces the shape by one of at most as many elements.
  void setShape(std::vector<int64_t> shape) { dims = std::move(shape); }
  uint64_t bytes() const { return tensorBytes(type, dims); }
  int64_t elements() const;
  void *data() const { return block->data(); }

  /// Makes the stream wait for the run that writes the array, and for earlier runs that still use
  /// its memory.
  void makeWait(void *stream) const;
  /// Records the end of a run that reads the array (addUse) or writes it (setWritten). Require the
  /// GIL.
  void addUse(const std::shared_ptr<runtime::DeviceEvent> &end) const { block->addUse(end); }
  void setWritten(const std::shared_ptr<runtime::DeviceEvent> &end);

  /// Copies all bytes to or from host memory, and waits for the copy.
  void copyToHost(void *to) const;
  void copyFromHost(const void *from);
  /// Returns a copy on another device.
  DeviceArray copyTo(runtime::Device &device) const;

  /// Implements `__dlpack__`: makes the consumer's stream wait for the array, and returns a
  /// capsule.
  nanobind::object toDlpack(nanobind::handle stream, nanobind::handle maxVersion,
                            nanobind::handle device, nanobind::handle copy);

private:
  std::shared_ptr<DeviceBlock> block;
  DType type;
  std::vector<int64_t> dims;
  std::shared_ptr<runtime::DeviceEvent> written; ///< null if the elements are complete
};

void bindDevice(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_DEVICE_DEVICEARRAY_H
