//===- View.cpp - accesses the elements of Python arrays ------------------===//
#include "runtime/program/Packed.h"
#include "tools/python/Arrays.h"
#include "tools/python/Names.h"
#include "tools/python/Raise.h"
#include "tools/python/device/Streams.h"

#include <cstring>

namespace nb = nanobind;

namespace dlc::python {

/// Returns the type object numpy.ndarray if NumPy has been imported. Otherwise returns null,
/// because no object can be a NumPy array.
static PyTypeObject *numpyArrayType() {
  static PyTypeObject *type = nullptr;
  if (type)
    return type;
  PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  PyObject *found = module ? PyObject_GetAttrString(module, "ndarray") : nullptr;
  if (!found)
    PyErr_Clear();
  return type = reinterpret_cast<PyTypeObject *>(found);
}

/// Returns the DLPack exchange table of an object's type, or null. Caches the last type, because
/// most calls pass arrays of the same type.
static const DlpackExchangeTable *findExchangeTable(nb::handle object) {
  static PyTypeObject *lastType = nullptr;
  static const DlpackExchangeTable *last = nullptr;
  PyTypeObject *type = Py_TYPE(object.ptr());
  if (type == lastType)
    return last;
  const DlpackExchangeTable *table = nullptr;
  PyObject *capsule =
      PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), kExchangeAttribute);
  if (capsule && PyCapsule_IsValid(capsule, kExchangeCapsule))
    table =
        static_cast<const DlpackExchangeTable *>(PyCapsule_GetPointer(capsule, kExchangeCapsule));
  PyErr_Clear();
  Py_XDECREF(capsule);
  while (table && table->version.major > 1)
    table = table->before;
  if (table && (!table->fromObject || !table->allocate || !table->toObject))
    table = nullptr;
  Py_INCREF(type); // Keeps the cached type alive, so that no other type can have its address.
  Py_XDECREF(reinterpret_cast<PyObject *>(lastType));
  lastType = type;
  return last = table;
}

static std::optional<DType> typeOf(DLDataType given) {
  if (given.lanes != 1)
    return std::nullopt;
  if (given.code == kDLBool)
    return given.bits == 8 ? std::optional(DType::Bool) : std::nullopt;
  if (given.code == kDLBfloat)
    return given.bits == 16 ? std::optional(DType::BF16) : std::nullopt;
  const char *letter = given.code == kDLFloat  ? "f"
                       : given.code == kDLInt  ? "i"
                       : given.code == kDLUInt ? "u"
                                               : "?";
  return parseDType(letter + std::to_string(given.bits));
}

/// Converts a format of the buffer protocol to an element type. The format's character determines
/// the kind; `itemBytes` determines the size.
static std::optional<DType> typeOf(const char *format, Py_ssize_t itemBytes) {
  if (!format)
    return DType::U8;
  if (std::strchr("@=<|", *format) && *format)
    ++format;
  if (!*format || format[1])
    return std::nullopt;
  if (*format == '?')
    return DType::Bool;
  const char *letter = std::strchr("efd", *format)      ? "f"
                       : std::strchr("bhilqn", *format) ? "i"
                       : std::strchr("BHILQN", *format) ? "u"
                                                        : "?";
  return parseDType(letter + std::to_string(8 * itemBytes));
}

/// Returns the name of the element type, as the array object itself prints it.
static std::string typeText(nb::handle object) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  return dtype.is_none() ? "an unsupported element type" : nb::str(dtype).c_str();
}

static std::string required(const Value &value) {
  return "input '" + value.name + "': required: " + value.text() + "; found: ";
}

ArrayView::~ArrayView() {
  if (buffer.obj)
    PyBuffer_Release(&buffer);
}

void ArrayView::openBuffer(nb::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_RECORDS_RO) != 0)
    return PyErr_Clear();
  data = static_cast<const char *>(buffer.buf);
  type = typeOf(buffer.format, buffer.itemsize);
  itemBytes = size_t(buffer.itemsize);
  ndim = buffer.ndim;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  dims = reinterpret_cast<const int64_t *>(buffer.shape);
  strides = reinterpret_cast<const int64_t *>(buffer.strides);
}

/// Sets the device of the array. Raises ValueError if this is neither the host nor the target's
/// device.
void ArrayView::takeDevice(DLDevice device, const Value &value, const ArrayTarget &target) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost)
    return;
  whose.device = device;
  const auto name = deviceNameOf(device);
  on = target.device;
  if (name && on && *name == on->name)
    return;
  const std::string found = name ? "an array on " + name->text()
                                 : "an array that is not in host memory (DLPack device type " +
                                       std::to_string(int(device.device_type)) + ")";
  raise(PyExc_ValueError, required(value) + found + "; move it to " + value.device + ", as in " +
                              (whose.kind == ArrayFamily::Kind::Own ? "dlc.to(x, \"" : "x.to(\"") +
                              value.device + "\")");
}

void ArrayView::take(const DLTensor &tensor, const Value &value, const ArrayTarget &target) {
  takeDevice(tensor.device, value, target);
  data = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  type = typeOf(tensor.dtype);
  itemBytes = (size_t(tensor.dtype.bits) * tensor.dtype.lanes + 7) / 8;
  ndim = tensor.ndim;
  dims = tensor.shape;
  strides = tensor.strides;
  unit = int64_t(itemBytes);
}

/// Raises a TypeError for a tensor that DLPack does not support, such as a sparse tensor. The first
/// line of the library's exception is the reason; later lines are the library's call stack.
[[noreturn]] static void raiseUnreadable(const nb::python_error &error, const Value &value) {
  std::string reason = nb::str(error.value()).c_str();
  raise(PyExc_TypeError,
        required(value) + "a tensor whose memory cannot be read (" +
            reason.substr(0, reason.find('\n')) +
            "); pass a dense tensor in host memory, as in x.to_dense() or x.cpu()");
}

/// Returns whether an array's method `__dlpack_device__` reports a device other than the host.
static bool isElsewhere(nb::handle object) {
  nb::object method = nb::getattr(object, "__dlpack_device__", nb::none());
  if (method.is_none())
    return false;
  int type = kDLCPU;
  return nb::try_cast(nb::object(method()[0]), type) && type != kDLCPU && type != kDLCUDAHost;
}

/// Calls `__dlpack__`. If the array is on a device, passes the stream that will read the array.
nb::object ArrayView::callDlpack(nb::handle object, const ArrayTarget &target) const {
  nb::object method = object.attr("__dlpack__");
  nb::dict arguments, versioned;
  if (target.stream && isElsewhere(object))
    arguments["stream"] = versioned["stream"] = streamNumber(target.stream);
  versioned["max_version"] = nb::make_tuple(1, 0);
  try {
    return method(**versioned);
  } catch (nb::python_error &error) {
    // Array libraries that predate DLPack 1.0 do not accept the argument `max_version`.
    if (!error.matches(PyExc_TypeError))
      throw;
    return method(**arguments);
  }
}

/// Opens an array through its method __dlpack__.
void ArrayView::openPacked(nb::handle object, const Value &value, const ArrayTarget &target) {
  if (!nb::hasattr(object, "__dlpack__"))
    raise(PyExc_TypeError, required(value) + "an object of type " +
                               nb::type_name(object.type()).c_str() +
                               ", which is not a NumPy array and has no __dlpack__; convert it "
                               "first, as in numpy.asarray(x)");
  kept = callDlpack(object, target);
  // The DLPack capsule is not marked as consumed, so its destructor releases the tensor.
  if (PyCapsule_IsValid(kept.ptr(), "dltensor_versioned")) {
    auto *tensor = static_cast<DlpackVersionedTensor *>(
        PyCapsule_GetPointer(kept.ptr(), "dltensor_versioned"));
    return take(tensor->tensor, value, target);
  }
  auto *tensor = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(kept.ptr(), "dltensor"));
  if (!tensor)
    throw nb::python_error();
  take(tensor->dl_tensor, value, target);
}

/// Returns true if the object has a method of this name that returns True.
static bool methodReturnsTrue(nb::handle object, PyObject *method) {
  nb::object found = nb::steal(PyObject_CallMethodNoArgs(object.ptr(), method));
  if (!found.is_valid() && !PyErr_ExceptionMatches(PyExc_AttributeError))
    throw nb::python_error();
  PyErr_Clear();
  return found.ptr() == Py_True;
}

ArrayFamily ArrayFamily::of(nb::handle object) {
  PyTypeObject *numpy = numpyArrayType();
  if (numpy && PyObject_TypeCheck(object.ptr(), numpy))
    return {Kind::Numpy, nullptr, object};
  if (const DlpackExchangeTable *table = findExchangeTable(object))
    return {Kind::Exchange, table, object};
  return {nb::isinstance<DeviceArray>(object) ? Kind::Own : Kind::Other, nullptr, object};
}

void ArrayView::openNumpy(nb::handle object, const Value &value) {
  if (Py_TYPE(object.ptr()) != numpyArrayType() && nb::hasattr(object, "mask"))
    raise(PyExc_TypeError,
          required(value) +
              "a masked array, whose mask dlc would ignore; fill it first, as in x.filled(0)");
  openBuffer(object);
  // The element types of ml_dtypes do not support the buffer protocol, so the array is viewed as,
  // or converted to, a type that does.
  const std::string text = buffer.obj ? "" : typeText(object);
  if (text == "bfloat16") {
    kept = object.attr("view")("uint16");
    openBuffer(kept);
    type = DType::BF16;
  } else if (text == "int4" || text == "uint4") {
    kept = object.attr("astype")(text == "int4" ? "int8" : "uint8");
    openBuffer(kept);
  }
}

void ArrayView::openOwn(nb::handle object, const Value &value, const ArrayTarget &target) {
  array = nb::inst_ptr<DeviceArray>(object);
  takeDevice(runtime::toDlpackDevice(array->device().name), value, target);
  array->makeWait(target.stream);
  data = static_cast<const char *>(array->data());
  type = array->dtype();
  itemBytes = dtypeBytes(array->dtype());
  ndim = int(array->shape().size());
  dims = array->shape().data();
}

void ArrayView::openExchange(nb::handle object, const Value &value, const ArrayTarget &target) {
  nb::object tracked = nb::steal(PyObject_GetAttr(object.ptr(), DLC_NAME("requires_grad")));
  if (!tracked.is_valid())
    PyErr_Clear();
  if (tracked.ptr() == Py_True)
    raise(PyExc_ValueError,
          required(value) +
              "a tensor that requires gradients, which dlc does not compute; pass x.detach()");
  // Tensors that are lazy negations (such as the imaginary part of a conjugate) or zeros without
  // memory are cloned, because DLPack only describes the memory.
  if (methodReturnsTrue(object, DLC_NAME("is_neg")) ||
      methodReturnsTrue(object, DLC_NAME("_is_zerotensor")))
    object = kept = object.attr("clone")();
  auto read = [&](nb::handle tensor) {
    if (whose.table->fromObject(tensor.ptr(), &borrowed) != 0)
      raiseUnreadable(nb::python_error(), value);
    take(borrowed, value, target);
  };
  read(object);
  // Strided arrays in host memory are copied by compact().
  if (on && !isCompact() && nb::hasattr(object, "contiguous")) {
    kept = object.attr("contiguous")();
    read(kept);
    copied = true;
  }
}

void ArrayView::open(nb::handle object, const ArrayFamily &family, const Value &value,
                     const ArrayTarget &target) {
  whose = family;
  switch (family.kind) {
  case ArrayFamily::Kind::Numpy:
    openNumpy(object, value);
    break;
  case ArrayFamily::Kind::Own:
    openOwn(object, value, target);
    break;
  case ArrayFamily::Kind::Exchange:
    openExchange(object, value, target);
    break;
  case ArrayFamily::Kind::Other:
    openPacked(object, value, target);
    break;
  }
  check(object, value);
}

/// Checks element type, shape and memory of the opened array.
void ArrayView::check(nb::handle object, const Value &value) {
  // Array libraries that predate DLPack 0.8 export booleans as bytes.
  if (type == DType::U8 && value.dtype == DType::Bool && whose.kind != ArrayFamily::Kind::Numpy)
    type = DType::Bool;
  const bool isUnpacked =
      value.dtype && isPacked(*value.dtype) && type == runtime::unpackedType(*value.dtype);
  if (isUnpacked)
    packs = value.dtype;
  if (!type || (type != value.dtype && !isUnpacked) || isPacked(*type))
    raise(PyExc_TypeError,
          required(value) + (type ? std::string(dtypeName(*type)) : typeText(object)) +
              "; convert it first, as in x." +
              (whose.kind == ArrayFamily::Kind::Exchange ? "to(..)" : "astype(..)"));
  if (!value.fits(dims, ndim))
    raise(PyExc_ValueError,
          required(value) + "the shape " + shapeText(dims, ndim) +
              "; pass an array of the required shape, or compile the model for this shape");
  if (!data && elements() > 0)
    raise(PyExc_ValueError, required(value) +
                                "an array without memory (a fake tensor, or one whose storage was "
                                "freed); pass an array with memory");
  if (on && packs)
    raise(PyExc_ValueError, required(value) + "8-bit integers on " + on->name.text() +
                                "; pass them in host memory, where dlc packs them");
  if (on && !isCompact())
    raise(PyExc_ValueError, required(value) + "an array on " + on->name.text() +
                                " that is not contiguous; copy it first, as in "
                                "xp.ascontiguousarray(x)");
}

int64_t ArrayView::elements() const {
  int64_t count = 1;
  for (int d = 0; d < ndim; ++d)
    count *= dims[d];
  return count;
}

bool ArrayView::isCompact() const {
  if (!strides)
    return true;
  int64_t step = int64_t(itemBytes);
  for (int d = ndim; d-- > 0;) {
    if (dims[d] == 0)
      return true;
    if (dims[d] != 1 && strides[d] * unit != step)
      return false;
    step *= dims[d];
  }
  return true;
}

template <size_t N>
static char *copyStridedRow(const char *from, int64_t step, int64_t count, char *to) {
  for (int64_t i = 0; i < count; ++i, to += N)
    std::memcpy(to, from + i * step, N);
  return to;
}

static char *copyStridedRuns(const char *from, int64_t step, int64_t count, size_t bytes,
                             char *to) {
  for (int64_t i = 0; i < count; ++i, to += bytes)
    std::memcpy(to, from + i * step, bytes);
  return to;
}

void ArrayView::gather(int dim, int inner, size_t bytes, const char *from, char *&to) const {
  int64_t step = strides[dim] * unit;
  if (dim + 1 < inner) {
    for (int64_t i = 0; i < dims[dim]; ++i)
      gather(dim + 1, inner, bytes, from + i * step, to);
    return;
  }
  to = bytes == 16  ? copyStridedRow<16>(from, step, dims[dim], to)
       : bytes == 8 ? copyStridedRow<8>(from, step, dims[dim], to)
       : bytes == 4 ? copyStridedRow<4>(from, step, dims[dim], to)
       : bytes == 2 ? copyStridedRow<2>(from, step, dims[dim], to)
       : bytes == 1 ? copyStridedRow<1>(from, step, dims[dim], to)
                    : copyStridedRuns(from, step, dims[dim], bytes, to);
}

const void *ArrayView::compact(std::unique_ptr<char[]> &copy) const {
  if (packs)
    return packed(copy);
  return plain(copy);
}

const void *ArrayView::packed(std::unique_ptr<char[]> &copy) const {
  std::unique_ptr<char[]> gathered;
  const void *values = plain(gathered);
  const auto count = uint64_t(elements());
  if (uint64_t at = runtime::findUnpackable(*packs, values, count); at < count)
    raise(PyExc_ValueError, "element " + std::to_string(at) +
                                " of an array of 4-bit integers is out of range; " +
                                "give integers from " + runtime::packedRange(*packs));
  const std::vector<int64_t> shape = sizes();
  copy.reset(new char[std::max<size_t>(tensorBytes(*packs, shape), 1)]);
  runtime::pack(shape, values, copy.get());
  return copy.get();
}

const void *ArrayView::plain(std::unique_ptr<char[]> &copy) const {
  if (isCompact())
    return data;
  copy.reset(new char[std::max<size_t>(size_t(elements()) * itemBytes, 1)]);
  // The contiguous inner dimensions are copied as one block.
  int inner = ndim;
  size_t bytes = itemBytes;
  while (inner > 1 && (dims[inner - 1] == 1 || strides[inner - 1] * unit == int64_t(bytes)))
    bytes *= size_t(dims[--inner]);
  char *to = copy.get();
  gather(0, inner, bytes, data, to);
  return copy.get();
}

} // namespace dlc::python
