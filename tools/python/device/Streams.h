//===- Streams.h - device and stream arguments from Python -----------------===//
#ifndef DLC_TOOLS_PYTHON_DEVICE_STREAMS_H
#define DLC_TOOLS_PYTHON_DEVICE_STREAMS_H

#include "runtime/device/Device.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

namespace dlc::python {

/// Returns the name of a DLPack device, or nothing if dlc does not know the device. For the type
/// kDLExtDev, mapExtensionDevices() sets the device kind.
std::optional<runtime::DeviceName> deviceNameOf(DLDevice device);
/// Sets the device kind of tensors of type kDLExtDev, such as those of PyTorch's PrivateUse1
/// devices. An empty name removes the mapping.
void mapExtensionDevices(const std::string &kind);

/// Opens the device with this name. Raises ValueError if there is none.
runtime::Device &openNamedDevice(const std::string &name);

/// Returns the handle of the device's default stream; null if its kind shares no streams with
/// callers.
void *defaultStream(const runtime::Device &device);

/// Sets the function that returns the caller's current stream on a device, for array libraries that
/// do not report their current stream to dlc. None restores the default stream.
void setCurrentStream(const std::string &device, nanobind::object function);
/// Returns the handle of the stream that the function of setCurrentStream() returns, or of the
/// default stream if there is no function. Requires the GIL.
void *currentStream(const runtime::Device &device);

/// Returns the handle of a stream that the user passes: a number, or a stream object of a library
/// (`__cuda_stream__`, `cuda_stream`, `ptr`). 0 means the default stream. Raises TypeError.
void *streamHandle(const runtime::Device &device, nanobind::handle stream);

/// Returns the stream for which a consumer calls `__dlpack__(stream=..)`; unset if it requests no
/// synchronization. Raises ValueError for numbers that DLPack forbids.
std::optional<void *> consumerStream(const runtime::Device &device, nanobind::handle stream);

/// Returns the stream as DLPack numbers it, for the argument `stream` of `__dlpack__`.
nanobind::object streamNumber(void *stream);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_DEVICE_STREAMS_H
