//===- Arrays.h - zero-copy exchange of arrays with Python libraries ------===//
#ifndef DLC_TOOLS_PYTHON_ARRAYS_H
#define DLC_TOOLS_PYTHON_ARRAYS_H

#include "tools/python/Value.h"
#include "tools/python/device/DeviceArray.h"
#include "tools/python/device/Exchange.h"

#include <memory>

namespace dlc::python {

/// The Python library that an array belongs to. Results are created as arrays of the same library
/// as the inputs.
struct ArrayFamily {
  /// Numpy: numpy.ndarray. Own: dlc.DeviceArray. Exchange: array types with a table of C functions
  /// (DlpackExchangeTable), such as PyTorch's. Other: array types with only `__dlpack__`.
  enum class Kind { Numpy, Own, Exchange, Other } kind = Kind::Numpy;
  const DlpackExchangeTable *table = nullptr; ///< C functions of the array type (kind Exchange)
  nanobind::handle object;    ///< an array of the library (not owned), through which it is called
  DLDevice device{kDLCPU, 0}; ///< device of the array

  /// Returns the family of an array. ArrayView::open() sets `device`.
  static ArrayFamily of(nanobind::handle object);
};

/// Device on which a program takes and returns arrays, and the stream in which the program runs.
struct ArrayTarget {
  runtime::Device *device = nullptr; ///< null: the host
  void *stream = nullptr;
};

/// Read access to the elements of a Python array during the lifetime of this object.
class ArrayView {
public:
  ArrayView() = default;
  ~ArrayView();
  ArrayView(const ArrayView &) = delete;
  ArrayView &operator=(const ArrayView &) = delete;

  /// Opens an array for reading. Throws a Python exception if the object is not an array of the
  /// value's element type, or is neither in host memory nor on the target's device. `value` also
  /// supplies the name for messages. Makes the target's stream wait for arrays of the
  /// kinds Own and Other. The caller must order the work on arrays of the kind Exchange.
  void open(nanobind::handle object, const ArrayFamily &family, const Value &value,
            const ArrayTarget &target);

  const ArrayFamily &family() const { return whose; }
  /// Returns the device of the array; null: the host.
  runtime::Device *device() const { return on; }
  /// Returns the array as one of dlc's own; null if it belongs to another library.
  const DeviceArray *own() const { return array; }
  /// Returns the DLPack capsule of an array of the kind Other, or an invalid object.
  nanobind::object exported() const {
    return whose.kind == ArrayFamily::Kind::Other ? kept : nanobind::object();
  }
  /// Returns whether open() has replaced an array on a device by a contiguous copy.
  bool isCopied() const { return copied; }
  const int64_t *shape() const { return dims; }
  int rank() const { return ndim; }
  std::vector<int64_t> sizes() const { return {dims, dims + ndim}; }
  int64_t elements() const;
  uint64_t bytes() const { return uint64_t(elements()) * itemBytes; }
  /// Returns the address of the first element.
  const void *address() const { return data; }
  /// Returns the elements contiguously in row-major order: in place if possible, otherwise as a
  /// copy stored in `copy`. Throws a Python exception if 8-bit integers do not fit into the value's
  /// 4-bit type.
  const void *compact(std::unique_ptr<char[]> &copy) const;

private:
  void openNumpy(nanobind::handle object, const Value &value);
  void openOwn(nanobind::handle object, const Value &value, const ArrayTarget &target);
  void openExchange(nanobind::handle object, const Value &value, const ArrayTarget &target);
  void openBuffer(nanobind::handle object);
  void openPacked(nanobind::handle object, const Value &value, const ArrayTarget &target);
  nanobind::object callDlpack(nanobind::handle object, const ArrayTarget &target) const;
  void take(const DLTensor &tensor, const Value &value, const ArrayTarget &target);
  void takeDevice(DLDevice device, const Value &value, const ArrayTarget &target);
  void check(nanobind::handle object, const Value &value);
  bool isCompact() const;
  const void *plain(std::unique_ptr<char[]> &copy) const;
  const void *packed(std::unique_ptr<char[]> &copy) const;
  void gather(int dim, int inner, size_t bytes, const char *from, char *&to) const;

  ArrayFamily whose;
  runtime::Device *on = nullptr;
  const DeviceArray *array = nullptr;
  bool copied = false;
  const char *data = nullptr;
  std::optional<DType> type;
  /// The value's 4-bit type if the array holds 8-bit integers, which compact() packs; otherwise
  /// unset.
  std::optional<DType> packs;
  int ndim = 0;
  size_t itemBytes = 1;
  const int64_t *dims = nullptr;
  /// Strides of the array in multiples of `unit` bytes, or null if the array is contiguous.
  const int64_t *strides = nullptr;
  int64_t unit = 1;
  /// Owner of the memory: a DLPack capsule, or a view of the array with another element type.
  nanobind::object kept;
  Py_buffer buffer{};
  DLTensor borrowed{};
};

/// Creates the result arrays for one output of a program.
class ResultArrays {
public:
  explicit ResultArrays(const runtime::TensorInfo &info);
  /// Allocates an array of the given library, which the program writes to. finish() converts it to
  /// the array that the caller receives. The array is on the target's device.
  nanobind::object make(const ArrayFamily &family, const ArrayTarget &target, void *&address) const;
  /// Returns whether the array must be in host memory, as arrays of packed integers, which the host
  /// unpacks.
  bool needsHost() const { return isPacked(info.dtype); }
  /// Converts `made`, an array from make() whose elements are at `address`, to the array that the
  /// caller receives. `shape` is the actual shape of the result.
  nanobind::object finish(const ArrayFamily &family, nanobind::object made, const void *address,
                          const std::vector<int64_t> &shape) const;

private:
  /// Returns a view of the first elements of `made`, for a result with a data-dependent shape.
  static nanobind::object found(const nanobind::object &made, const std::vector<int64_t> &shape);
  nanobind::object makeNumpy(void *&address) const;
  DlpackVersionedTensor *makePacked(const ArrayFamily &family) const;

  const runtime::TensorInfo &info;
  /// Element type of the allocated arrays, followed by their shape. Packed 4-bit integers are
  /// stored as bytes.
  DType stored;
  std::vector<int64_t> dims;
  nanobind::object shape;
  mutable nanobind::object numpyType; ///< NumPy's type object, looked up on first use.
};

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_ARRAYS_H
