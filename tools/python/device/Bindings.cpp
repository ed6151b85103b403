//===- Bindings.cpp - Python functions for devices and arrays on them --------===//
#include "tools/python/device/Deferred.h"
#include "tools/python/device/DeviceArray.h"
#include "tools/python/device/Streams.h"

#include "dlc/MemoryError.h"
#include "dlc/tensor.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace dlc::python {

namespace {

/// Allocator that calls Python functions: allocate(bytes, stream) returns an address, and
/// free(address, bytes, stream) releases the memory.
class PythonAllocator : public runtime::DeviceAllocator {
public:
  PythonAllocator(nb::object allocate, nb::object free)
      : allocateFunction(std::move(allocate)), freeFunction(std::move(free)) {}
  ~PythonAllocator() override {
    if (!Py_IsInitialized()) {
      static_cast<void>(allocateFunction.release());
      static_cast<void>(freeFunction.release());
      return;
    }
    nb::gil_scoped_acquire held;
    allocateFunction.reset();
    freeFunction.reset();
  }

  void *allocate(uint64_t bytes, void *stream) override {
    nb::gil_scoped_acquire held;
    std::string why;
    try {
      const auto address = nb::cast<uintptr_t>(allocateFunction(bytes, streamNumber(stream)));
      if (address != 0 && address % 256 == 0)
        return reinterpret_cast<void *>(address);
      why = "required: an address that is a multiple of 256; found: " + std::to_string(address);
    } catch (const nb::python_error &error) {
      why = error.what();
    } catch (const nb::cast_error &) {
      why = "required: an address as an integer; found: another type";
    }
    throw MemoryError("the allocator of dlc.set_allocator failed for " + std::to_string(bytes) +
                      " bytes: " + why);
  }

  void release(void *address, uint64_t bytes, void *stream) noexcept override {
    if (!Py_IsInitialized())
      return;
    nb::gil_scoped_acquire held;
    try {
      freeFunction(reinterpret_cast<uintptr_t>(address), bytes, streamNumber(stream));
    } catch (nb::python_error &error) {
      error.discard_as_unraisable("the function `free` of dlc.set_allocator");
    }
  }

private:
  nb::object allocateFunction, freeFunction;
};

} // namespace

static void setAllocator(const std::string &device, nb::object allocate, nb::object free) {
  runtime::Device &on = openNamedDevice(device);
  on.setAllocator(allocate.is_none() ? nullptr : std::make_shared<PythonAllocator>(allocate, free));
}

/// Parses an element type's name. Raises ValueError.
static DType requireType(const std::string &name) {
  const auto type = parseDType(name);
  if (!type || isPacked(*type))
    throw nb::value_error(("dtype: required: an element type of dlc of at least 8 bits, such as "
                           "f32, bf16 or i64; found: '" +
                           name + "'")
                              .c_str());
  return *type;
}

static DeviceArray makeEmpty(std::vector<int64_t> shape, const std::string &type,
                             const std::string &device, nb::handle stream) {
  const DType element = requireType(type);
  runtime::Device &on = openNamedDevice(device);
  void *order = stream.is_none() ? currentStream(on) : streamHandle(on, stream);
  return DeviceArray::empty(on, element, std::move(shape), order);
}

/// A contiguous buffer of a Python object in host memory, which must have the size of an array.
struct HostBuffer {
  HostBuffer(nb::handle object, int flags, uint64_t bytes) {
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_C_CONTIGUOUS | flags) != 0)
      throw nb::python_error();
    if (uint64_t(view.len) == bytes)
      return;
    PyBuffer_Release(&view);
    throw nb::value_error("the buffer does not have the size of the array");
  }
  ~HostBuffer() { PyBuffer_Release(&view); }
  HostBuffer(const HostBuffer &) = delete;
  HostBuffer &operator=(const HostBuffer &) = delete;

  Py_buffer view{};
};

/// Creates an array from a contiguous buffer of the host.
static DeviceArray copyFromHost(nb::handle source, std::vector<int64_t> shape,
                                const std::string &type, const std::string &device) {
  const DType element = requireType(type);
  runtime::Device &on = openNamedDevice(device);
  const HostBuffer buffer(source, 0, tensorBytes(element, shape));
  // Earlier work may still use the memory, so it is allocated for the stream of the copy, which
  // then waits for this work.
  DeviceArray made = DeviceArray::empty(on, element, std::move(shape), on.copyStream());
  nb::gil_scoped_release released;
  made.copyFromHost(buffer.view.buf);
  made.setStream(defaultStream(on));
  return made;
}

static void copyToHost(const DeviceArray &array, nb::handle target) {
  const HostBuffer buffer(target, PyBUF_WRITABLE, array.bytes());
  nb::gil_scoped_release released;
  array.copyToHost(buffer.view.buf);
}

static std::vector<uint64_t> memoryFigures(const std::string &device) {
  runtime::Device &on = openNamedDevice(device);
  nb::gil_scoped_release released;
  const dlc_device_properties properties = on.properties();
  const PoolFigures pool = poolFigures(on);
  return {properties.total_bytes, properties.free_bytes, pool.arrays, pool.pooled};
}

static nb::tuple dlpackDevice(const DeviceArray &array) {
  const DLDevice device = runtime::toDlpackDevice(array.device().name);
  return nb::make_tuple(int(device.device_type), device.device_id);
}

static void bindArray(nb::module_ &module) {
  nb::class_<DeviceArray>(module, "DeviceArray", nb::is_weak_referenceable(),
                          "A contiguous array on a device. dlc.to copies it to the host; other "
                          "libraries take it through __dlpack__ without a copy.")
      .def_prop_ro("shape",
                   [](const DeviceArray &self) { return nb::tuple(nb::cast(self.shape())); })
      .def_prop_ro("dtype",
                   [](const DeviceArray &self) { return std::string(dtypeName(self.dtype())); })
      .def_prop_ro("device", [](const DeviceArray &self) { return self.device().name.text(); })
      .def_prop_ro("ndim", [](const DeviceArray &self) { return self.shape().size(); })
      .def_prop_ro("size", &DeviceArray::elements)
      .def_prop_ro("nbytes", &DeviceArray::bytes)
      .def_prop_ro("address",
                   [](const DeviceArray &self) { return reinterpret_cast<uintptr_t>(self.data()); })
      .def("__dlpack__", &DeviceArray::toDlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none())
      .def("__dlpack_device__", dlpackDevice)
      .def("__array__",
           [](const DeviceArray &self, nb::args, nb::kwargs) -> nb::object {
             throw nb::type_error(("the array is on " + self.device().name.text() +
                                   "; copy it to the host first, as in dlc.to(x, 'cpu')")
                                      .c_str());
           })
      .def("__repr__", [](const DeviceArray &self) {
        return "<dlc.DeviceArray " + std::string(dtypeName(self.dtype())) +
               detail::shapeText(self.shape()) + " on " + self.device().name.text() + ">";
      });
}

void bindDevice(nb::module_ &module) {
  bindArray(module);
  module.def("empty", makeEmpty, nb::arg("shape"), nb::arg("dtype"), nb::arg("device"),
             nb::arg("stream").none());
  module.def("copy_from_host", copyFromHost, nb::arg("buffer"), nb::arg("shape"), nb::arg("dtype"),
             nb::arg("device"));
  module.def("copy_to_host", copyToHost, nb::arg("array"), nb::arg("buffer"));
  module.def(
      "copy_to_device",
      [](const DeviceArray &array, const std::string &device) {
        runtime::Device &on = openNamedDevice(device);
        nb::gil_scoped_release released;
        return array.copyTo(on);
      },
      nb::arg("array"), nb::arg("device"));
  module.def(
      "synchronize",
      [](const std::string &device) {
        runtime::Device &on = openNamedDevice(device);
        {
          nb::gil_scoped_release released;
          runtime::synchronizeEvents(on);
        }
        releaseFinished();
      },
      nb::arg("device"));
  module.def("device_memory", memoryFigures, nb::arg("device"));
  module.def(
      "release_pool",
      [](const std::string &device) {
        runtime::Device &on = openNamedDevice(device);
        nb::gil_scoped_release released;
        clearPool(on);
      },
      nb::arg("device"));
  module.def("set_allocator", setAllocator, nb::arg("device"), nb::arg("allocate").none(),
             nb::arg("free").none());
  module.def("set_current_stream", setCurrentStream, nb::arg("device"), nb::arg("function").none());
  module.def("map_extension_devices", mapExtensionDevices, nb::arg("kind"));
}

} // namespace dlc::python
