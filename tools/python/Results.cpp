//===- Results.cpp - arrays for the results of a program ------------------===//
#include "runtime/program/Packed.h"
#include "tools/python/Arrays.h"
#include "tools/python/Raise.h"
#include "tools/python/ResultMemory.h"

#include "dlc/tensor.hpp"

#include <nanobind/ndarray.h>

#include <iterator>

namespace nb = nanobind;

namespace dlc::python {

/// Returns NumPy's name of an element type. NumPy has no bfloat16; its elements are allocated as
/// uint16.
static const char *numpyName(DType type) {
  constexpr const char *names[] = {"float32", "float16", "uint16", "float64", "int8",
                                   "uint8",   "int16",   "uint16", "int32",   "uint32",
                                   "int64",   "uint64",  "bool",   "int8",    "uint8"};
  static_assert(std::size(names) == kDTypeCount);
  return names[int(type)];
}

static nb::object toPythonTuple(const std::vector<int64_t> &shape) {
  nb::list dims;
  for (int64_t dim : shape)
    dims.append(dim);
  return nb::tuple(dims);
}

ResultArrays::ResultArrays(const runtime::TensorInfo &info)
    : info(info), stored(isPacked(info.dtype) ? DType::U8 : info.dtype),
      dims(storedShape(info.dtype, info.shape)), shape(toPythonTuple(dims)) {}

nb::object ResultArrays::makeNumpy(void *&address) const {
  static PyObject *empty = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  if (!numpyType.is_valid())
    numpyType = nb::module_::import_("numpy").attr("dtype")(numpyName(stored));
  if (info.bytes >= ResultMemoryPool::kMin) {
    auto block = std::make_unique<PooledBlock>(info.bytes);
    address = block->data();
    nb::capsule owner(block.release(),
                      [](void *block) noexcept { delete static_cast<PooledBlock *>(block); });
    nb::ndarray<nb::numpy, uint8_t> bytes(address, {info.bytes}, owner);
    return nb::cast(bytes).attr("view")(numpyType).attr("reshape")(shape);
  }
  PyObject *arguments[] = {shape.ptr(), numpyType.ptr()};
  nb::object made = nb::steal(PyObject_Vectorcall(empty, arguments, 2, nullptr));
  Py_buffer buffer;
  if (!made.is_valid() || PyObject_GetBuffer(made.ptr(), &buffer, PyBUF_WRITABLE) != 0)
    throw nb::python_error();
  address = buffer.buf;
  PyBuffer_Release(&buffer);
  return made;
}

/// Sets a Python exception of the type that `kind` names, such as "MemoryError".
static void setErrorByName(void *, const char *kind, const char *message) {
  if (PyErr_Occurred())
    return;
  nb::object type = nb::getattr(nb::module_::import_("builtins"), kind, nb::none());
  setError(PyExceptionClass_Check(type.ptr()) ? type.ptr() : PyExc_RuntimeError, message);
}

namespace {

/// A DLPack tensor whose elements are in a block of the result pool.
struct PooledDlpackTensor {
  DlpackVersionedTensor packed{};
  std::vector<int64_t> shape, strides;
  PooledBlock block;

  PooledDlpackTensor(const DLTensor &like, size_t bytes)
      : shape(like.shape, like.shape + like.ndim), strides(shape.size(), 1), block(bytes) {
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    packed.version = {1, 0};
    packed.context = this;
    packed.deleter = [](DlpackVersionedTensor *self) {
      delete static_cast<PooledDlpackTensor *>(self->context);
    };
    packed.tensor = like;
    packed.tensor.shape = shape.data();
    packed.tensor.strides = strides.data();
    packed.tensor.data = block.data();
  }
};

} // namespace

DlpackVersionedTensor *ResultArrays::makePacked(const ArrayFamily &family) const {
  DLTensor like{};
  like.device = family.device;
  like.ndim = int32_t(dims.size());
  like.dtype = detail::toDlpack(stored);
  like.shape = const_cast<int64_t *>(dims.data());
  if (like.device.device_type == kDLCPU && info.bytes >= ResultMemoryPool::kMin)
    return &(new PooledDlpackTensor(like, info.bytes))->packed;
  DlpackVersionedTensor *made = nullptr;
  if (family.table->allocate(&like, &made, nullptr, setErrorByName) != 0) {
    setErrorByName(nullptr, "MemoryError", "out of memory for a result");
    throw nb::python_error();
  }
  return made;
}

nb::object ResultArrays::make(const ArrayFamily &family, const ArrayTarget &target,
                              void *&address) const {
  if (family.kind != ArrayFamily::Kind::Exchange && target.device) {
    DeviceArray made = DeviceArray::empty(*target.device, stored, dims, target.stream);
    address = made.data();
    return nb::cast(std::move(made));
  }
  if (family.kind != ArrayFamily::Kind::Exchange)
    return makeNumpy(address);
  DlpackVersionedTensor *made = makePacked(family);
  address = static_cast<char *>(made->tensor.data) + made->tensor.byte_offset;
  void *object = nullptr;
  if (family.table->toObject(made, &object) != 0)
    throw nb::python_error();
  return nb::steal(static_cast<PyObject *>(object));
}

nb::object ResultArrays::found(const nb::object &made, const std::vector<int64_t> &shape) {
  if (nb::isinstance<DeviceArray>(made)) {
    nb::inst_ptr<DeviceArray>(made)->setShape(shape);
    return made;
  }
  int64_t elements = 1;
  for (int64_t dim : shape)
    elements *= dim;
  nb::object flat = made.attr("reshape")(-1);
  return flat[nb::slice(nb::int_(0), nb::int_(elements), nb::int_(1))].attr("reshape")(
      toPythonTuple(shape));
}

/// Returns the module ml_dtypes, or None if the package is not installed.
static nb::object importMlDtypes() {
  try {
    return nb::module_::import_("ml_dtypes");
  } catch (nb::python_error &) {
    return nb::none();
  }
}

nb::object ResultArrays::finish(const ArrayFamily &family, nb::object made, const void *address,
                                const std::vector<int64_t> &shape) const {
  if (isPacked(info.dtype)) {
    runtime::TensorInfo wide = info;
    wide.dtype = runtime::unpackedType(info.dtype);
    wide.shape = shape;
    wide.bytes = tensorBytes(wide.dtype, shape);
    void *to = nullptr;
    ResultArrays results(wide);
    made = results.make(family, {}, to);
    runtime::unpack(info.dtype, shape, address, to);
    nb::object types = family.kind == ArrayFamily::Kind::Numpy ? importMlDtypes() : nb::none();
    if (!types.is_none())
      return made.attr("astype")(types.attr(info.dtype == DType::I4 ? "int4" : "uint4"));
  } else if (info.counter >= 0) {
    made = found(made, shape);
  }
  const bool isHere = !nb::isinstance<DeviceArray>(made);
  if (family.kind == ArrayFamily::Kind::Exchange ||
      (!isHere && family.kind == ArrayFamily::Kind::Own))
    return made;
  if (isHere && info.dtype == DType::BF16) {
    // NumPy has no bfloat16 type; the package ml_dtypes adds it.
    nb::object types = importMlDtypes();
    if (types.is_none())
      raise(PyExc_TypeError, "output '" + info.name +
                                 "' is bf16, which NumPy supports only with the package ml_dtypes; "
                                 "install ml_dtypes, or pass PyTorch tensors");
    return made.attr("view")(types.attr("bfloat16"));
  }
  if (family.kind == ArrayFamily::Kind::Numpy || !nb::hasattr(family.object, "__array_namespace__"))
    return made;
  return family.object.attr("__array_namespace__")().attr("from_dlpack")(made);
}

} // namespace dlc::python
