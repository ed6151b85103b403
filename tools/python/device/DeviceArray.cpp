//===- DeviceArray.cpp - dlc.DeviceArray: contiguous arrays on a device ------===//
#include "tools/python/device/DeviceArray.h"

#include "dlc/tensor.hpp"
#include "tools/python/device/Exchange.h"
#include "tools/python/device/Streams.h"

namespace nb = nanobind;

namespace dlc::python {

DeviceArray DeviceArray::empty(runtime::Device &device, DType type, std::vector<int64_t> shape,
                               void *stream) {
  const uint64_t bytes = tensorBytes(type, shape);
  return {std::make_shared<DeviceBlock>(device, bytes, stream), type, std::move(shape)};
}

int64_t DeviceArray::elements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

void DeviceArray::makeWait(void *stream) const {
  if (written && written->stream() != stream)
    written->makeWait(stream);
  block->waitForEarlier(stream);
}

void DeviceArray::setWritten(const std::shared_ptr<runtime::DeviceEvent> &end) {
  written = end;
  addUse(end);
  if (end->stream() == block->stream())
    block->forgetEarlier();
}

void DeviceArray::copyToHost(void *to) const {
  if (written)
    written->synchronize();
  copyBytes(to, runtime::hostDevice(), data(), device(), bytes());
}

void DeviceArray::copyFromHost(const void *from) {
  if (written)
    written->synchronize();
  copyBytes(data(), device(), from, runtime::hostDevice(), bytes());
}

DeviceArray DeviceArray::copyTo(runtime::Device &to) const {
  DeviceArray made = empty(to, type, dims, to.copyStream());
  if (written)
    written->synchronize();
  copyBytes(made.data(), to, data(), device(), bytes());
  made.setStream(defaultStream(to));
  return made;
}

namespace {

/// Data of an exported tensor, which owns the array's memory until the consumer calls the deleter.
struct ExportedTensor {
  DlpackVersionedTensor versioned{};
  DLManagedTensor managed{};
  std::shared_ptr<DeviceBlock> block;
  std::vector<int64_t> shape, strides;
};

} // namespace

/// Returns a capsule that owns the tensor until a consumer renames it, as DLPack requires.
template <typename Tensor> static nb::object makeCapsule(Tensor *tensor, const char *name) {
  PyObject *made = PyCapsule_New(tensor, name, [](PyObject *capsule) {
    const char *now = PyCapsule_GetName(capsule);
    if (std::string_view(now).starts_with("used_"))
      return;
    auto *unused = static_cast<Tensor *>(PyCapsule_GetPointer(capsule, now));
    unused->deleter(unused);
  });
  if (!made) {
    tensor->deleter(tensor);
    throw nb::python_error();
  }
  return nb::steal(made);
}

nb::object DeviceArray::toDlpack(nb::handle stream, nb::handle maxVersion, nb::handle target,
                                 nb::handle copy) {
  const DLDevice here = runtime::toDlpackDevice(device().name);
  if (copy.ptr() == Py_True)
    throw nb::buffer_error("copy=True is not supported; copy the array first, as in dlc.to");
  if (!target.is_none() && !nb::make_tuple(int(here.device_type), here.device_id).equal(target))
    throw nb::buffer_error(("the array is on " + device().name.text() +
                            "; required: the device of the array; copy it first, as in dlc.to(x, "
                            "'cpu')")
                               .c_str());
  const std::optional<void *> consumer = consumerStream(device(), stream);
  if (consumer)
    makeWait(*consumer);
  block->markForeign(consumer && *consumer == block->stream());

  auto *exported = new ExportedTensor;
  exported->block = block;
  exported->shape = dims;
  exported->strides.assign(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    exported->strides[d - 1] = exported->strides[d] * dims[d];
  DLTensor tensor{};
  tensor.data = data();
  tensor.device = here;
  tensor.ndim = int32_t(dims.size());
  tensor.dtype = detail::toDlpack(type);
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  if (!maxVersion.is_none() && nb::cast<int>(maxVersion[0]) >= 1) {
    exported->versioned = {
        {1, 0},
        exported,
        [](DlpackVersionedTensor *self) { delete static_cast<ExportedTensor *>(self->context); },
        0,
        tensor};
    return makeCapsule(&exported->versioned, "dltensor_versioned");
  }
  exported->managed = {tensor, exported, [](DLManagedTensor *self) {
                         delete static_cast<ExportedTensor *>(self->manager_ctx);
                       }};
  return makeCapsule(&exported->managed, "dltensor");
}

} // namespace dlc::python
