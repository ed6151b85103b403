//===- Streams.cpp - device and stream arguments from Python ---------------===//
#include "tools/python/device/Streams.h"

#include "dlc/Error.h"
#include "runtime/kind/StreamNumbers.h"

#include <algorithm>
#include <map>

namespace nb = nanobind;

namespace dlc::python {

/// Kind of the devices of type kDLExtDev. If empty, the runtime's own numbering (toDlpackDevice())
/// determines the kind.
static std::string &extensionKind() {
  static auto &kind = *new std::string;
  return kind;
}

void mapExtensionDevices(const std::string &kind) { extensionKind() = kind; }

std::optional<runtime::DeviceName> deviceNameOf(DLDevice device) {
  if (device.device_type == kDLExtDev && !extensionKind().empty())
    return runtime::DeviceName{extensionKind(), device.device_id};
  return runtime::deviceName(device);
}

runtime::Device &openNamedDevice(const std::string &name) {
  try {
    return runtime::openDevice(runtime::requireDeviceName(name));
  } catch (const Error &error) {
    throw nb::value_error(error.what());
  }
}

void *defaultStream(const runtime::Device &device) {
  const runtime::StreamNumbers *numbers = runtime::streamNumbers(device.name.kind);
  return numbers ? reinterpret_cast<void *>(numbers->byDefault) : nullptr;
}

/// Returns the number of a stream object; an invalid object if it has none.
static nb::object numberOf(nb::handle stream) {
  if (PyLong_Check(stream.ptr()) && !PyBool_Check(stream.ptr()))
    return nb::borrow(stream);
  // The protocol __cuda_stream__ returns its version and the handle.
  if (nb::object protocol = nb::getattr(stream, "__cuda_stream__", nb::none());
      !protocol.is_none()) {
    nb::object found = protocol();
    if (PyTuple_Check(found.ptr()) && nb::len(found) == 2)
      return nb::object(found[1]);
  }
  // PyTorch and CuPy name the handle differently.
  for (const char *name : {"cuda_stream", "ptr"})
    if (nb::object found = nb::getattr(stream, name, nb::none()); PyLong_Check(found.ptr()))
      return found;
  return {};
}

/// Returns the value of a Python integer, or -2, which is not the number of any stream, if the
/// value is out of range.
static int64_t toInt64(nb::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow ? -2 : value;
}

static std::string foundText(nb::handle stream) {
  return std::string("; found: ") + nb::repr(stream).c_str();
}

void *streamHandle(const runtime::Device &device, nb::handle stream) {
  const runtime::StreamNumbers *numbers = runtime::streamNumbers(device.name.kind);
  if (!numbers)
    throw nb::value_error(("stream: devices of kind " + device.name.kind +
                           " share no streams with callers; call the program without `stream`")
                              .c_str());
  nb::object number = numberOf(stream);
  const int64_t value = number.is_valid() && PyLong_Check(number.ptr()) ? toInt64(number) : -2;
  if (value < 0)
    throw nb::type_error(("stream: required: the handle of a stream of " + device.name.text() +
                          ", or a stream object of PyTorch or CuPy" + foundText(stream))
                             .c_str());
  return reinterpret_cast<void *>(value == 0 ? numbers->byDefault : value);
}

/// Functions of setCurrentStream(), by device. Never destroyed, because the interpreter may be
/// finalized before static objects are.
static std::map<const runtime::Device *, nb::object> &streamFunctions() {
  static auto &functions = *new std::map<const runtime::Device *, nb::object>;
  return functions;
}

void setCurrentStream(const std::string &name, nb::object function) {
  runtime::Device &device = openNamedDevice(name);
  if (function.is_none())
    streamFunctions().erase(&device);
  else
    streamFunctions()[&device] = std::move(function);
}

void *currentStream(const runtime::Device &device) {
  const auto &functions = streamFunctions();
  if (functions.empty())
    return defaultStream(device);
  auto found = functions.find(&device);
  if (found == functions.end())
    return defaultStream(device);
  nb::object function = found->second; // the call may replace the function
  return streamHandle(device, function());
}

std::optional<void *> consumerStream(const runtime::Device &device, nb::handle stream) {
  const runtime::StreamNumbers *numbers = runtime::streamNumbers(device.name.kind);
  if (!numbers)
    return std::nullopt;
  if (stream.is_none())
    return reinterpret_cast<void *>(numbers->byDefault);
  if (!PyLong_Check(stream.ptr()) || PyBool_Check(stream.ptr()))
    throw nb::type_error(("stream: required: a number or None" + foundText(stream)).c_str());
  const int64_t value = toInt64(stream);
  if (value == runtime::kUnsynchronizedStream)
    return std::nullopt;
  if (value < 0 || std::count(numbers->forbidden.begin(), numbers->forbidden.end(), value))
    throw nb::value_error(("stream: required: " + std::to_string(numbers->byDefault) +
                           " for the default stream, -1 for no synchronization, or the handle of "
                           "a stream of " +
                           device.name.text() + foundText(stream))
                              .c_str());
  return reinterpret_cast<void *>(value);
}

nb::object streamNumber(void *stream) {
  return nb::steal(PyLong_FromLongLong(reinterpret_cast<intptr_t>(stream)));
}

} // namespace dlc::python
