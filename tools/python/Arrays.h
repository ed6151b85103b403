//===- Arrays.h - arrays of other libraries, in and out without a copy --------===//
#ifndef DLC_TOOLS_PYTHON_ARRAYS_H
#define DLC_TOOLS_PYTHON_ARRAYS_H

#include "tools/python/Exchange.h"
#include "tools/python/Value.h"

#include <memory>

namespace dlc::python {

/// Whose array it is, so that results can be of the same kind.
struct Family {
  enum class Kind { Numpy, Exchange, Other } kind = Kind::Numpy;
  const ExchangeTable *table = nullptr; ///< of Exchange
  nanobind::handle object;              ///< one of them, which outlives this
};

/// What a Python object holds, as long as this lives.
class View {
public:
  View() = default;
  ~View();
  View(const View &) = delete;
  View &operator=(const View &) = delete;

  /// Throws a Python exception where it is no array of the value's type, or not in the host's
  /// memory; `what` names the value.
  void open(nanobind::handle object, const Value &value);

  const Family &family() const { return whose; }
  const int64_t *shape() const { return dims; }
  int rank() const { return ndim; }
  std::vector<int64_t> sizes() const { return {dims, dims + ndim}; }
  int64_t elements() const;
  /// The elements in row-major order: where they are, or a copy in `copy`. Throws a Python
  /// exception if integers of 8 bits do not fit into the 4 bits of the value's type.
  const void *compact(std::unique_ptr<char[]> &copy) const;

private:
  void openBuffer(nanobind::handle object);
  void openPacked(nanobind::handle object, const Value &value);
  void take(const DLTensor &tensor, nanobind::handle object, const Value &value);
  bool isCompact() const;
  const void *plain(std::unique_ptr<char[]> &copy) const;
  const void *packed(std::unique_ptr<char[]> &copy) const;
  void gather(int dim, int inner, size_t bytes, const char *from, char *&to) const;

  Family whose;
  const char *data = nullptr;
  std::optional<DType> type;
  /// The value's type of 4 bits, if the object has integers of 8 bits.
  std::optional<DType> packs;
  int ndim = 0;
  size_t itemBytes = 1;
  const int64_t *dims = nullptr;
  /// Null: compact. In units of so many bytes.
  const int64_t *strides = nullptr;
  int64_t unit = 1;
  nanobind::object kept; ///< a capsule, or an array seen as another type
  Py_buffer buffer{};
  DLTensor borrowed{};
};

/// Makes arrays for one output of a program.
class Results {
public:
  explicit Results(const runtime::TensorInfo &info);
  /// A new array of that family for the program to write to. finish() makes of it what users get.
  nanobind::object make(const Family &family, void *&address) const;
  /// `shape` is the shape that the run found, and `address` that of `made`.
  nanobind::object finish(const Family &family, nanobind::object made, const void *address,
                          const std::vector<int64_t> &shape) const;

private:
  /// What the run found of an array: a view of its beginning.
  static nanobind::object found(const nanobind::object &made, const std::vector<int64_t> &shape);
  nanobind::object makeNumpy(void *&address) const;
  VersionedTensor *makePacked(const ExchangeTable &table) const;

  const runtime::TensorInfo &info;
  /// Type and shape of the arrays: 4-bit integers are written to bytes.
  DType stored;
  std::vector<int64_t> dims;
  nanobind::object shape;
  mutable nanobind::object numpyType; ///< looked up when first needed
};

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_ARRAYS_H
