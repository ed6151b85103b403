//===- Tensor.h - a tensor on the host ------------------------------------===//
#ifndef DLC_IR_TENSOR_TENSOR_H
#define DLC_IR_TENSOR_TENSOR_H

#include "ir/tensor/Element.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace mlir {
class AsmResourceBlob;
} // namespace mlir

namespace dlc::ref {

/// A dense row-major host tensor. Elements are stored as in memory everywhere else: little endian,
/// bool as one byte, two 4-bit integers per byte (the first in the low half; each row, along the
/// last dimension, begins at a byte). Storage is shared, so copying a Tensor copies no elements;
/// whoever fills one makes it with `Tensor::empty`.
class Tensor {
public:
  Tensor() = default;

  /// New storage for a tensor of static shape; the elements are zero.
  static Tensor empty(mlir::RankedTensorType type);
  /// A view of memory that `owner` keeps alive. Asserts that there is an owner.
  static Tensor borrow(mlir::RankedTensorType type, const void *data,
                       std::shared_ptr<const void> owner);
  /// Reads dense elements, splats and resources. Fails on a blob that is missing or has the wrong
  /// size. The tensor never depends on the context of the attribute: it shares the memory of a blob
  /// that has an owner (BlobOwners.h), and copies other blobs. A shared blob whose address is not a
  /// multiple of the element size is copied when the tensor is first read.
  static mlir::FailureOr<Tensor> fromAttr(mlir::ElementsAttr attr);
  /// A dense attribute for small tensors, a resource blob sharing the storage for large ones.
  mlir::ElementsAttr toAttr() const;
  /// A resource blob that shares the storage, of any size. The context makes `name` unique.
  mlir::DenseResourceElementsAttr toResource(llvm::StringRef name) const;

  explicit operator bool() const { return bool(type); }
  mlir::RankedTensorType getType() const { return type; }
  mlir::Type getElementType() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t size() const { return count; }
  int64_t bytes() const;

  const char *data() const { return unaligned ? aligned() : bytesPtr; }
  char *mutableData() { return const_cast<char *>(data()); }
  /// Owner of the memory at data().
  std::shared_ptr<const void> owner() const;

  /// Elements as double (exact for all but large 64-bit integers) and as int64; setting rounds to
  /// the element type as dlc.cast does (floats to nearest even, integers wrap).
  double getDouble(int64_t index) const;
  int64_t getInt(int64_t index) const;
  void setDouble(int64_t index, double value);
  void setInt(int64_t index, int64_t value);

  Element getElement() const { return element; }
  bool isFloat() const { return ref::isFloat(element); }
  /// The same elements under another type of the same size (a reshape).
  Tensor withType(mlir::RankedTensorType other) const;

private:
  struct Unaligned;
  Tensor(mlir::RankedTensorType type, const char *data, std::shared_ptr<const void> keep);
  static Tensor uninitialised(mlir::RankedTensorType type);
  int64_t getPacked(int64_t index) const;
  void setPacked(int64_t index, int64_t value);
  static mlir::FailureOr<Tensor> fromBlob(mlir::RankedTensorType type,
                                          const mlir::AsmResourceBlob *blob);
  const char *aligned() const;

  mlir::RankedTensorType type;
  Element element = Element::F32;
  int64_t count = 0;
  const char *bytesPtr = nullptr;
  std::shared_ptr<const void> keep;
  /// The copy of elements that lie at no multiple of their size: most who have a tensor only ask
  /// what it is.
  std::shared_ptr<Unaligned> unaligned;
};

/// Bytes of one element in memory (bool: 1). The element must not be packed.
int64_t elementBytes(mlir::Type element);
/// Bytes of all elements of a tensor of static shape.
int64_t storageBytes(mlir::RankedTensorType type);
/// Whether it is an integer type of 4 bits, of which two elements share a byte.
bool isPackedElement(mlir::Type element);
/// The type of the bytes (ui8) that a packed tensor consists of.
mlir::RankedTensorType bytesType(mlir::RankedTensorType packed);
/// Bytes of one row, the last dimension, of 4-bit integers.
inline int64_t packedRowBytes(int64_t elements) { return (elements + 1) / 2; }

/// Row-major strides of a shape.
std::vector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Calls `f(index)` for every multi-index of a shape in row-major order.
template <typename F> void forEachIndex(llvm::ArrayRef<int64_t> shape, F f) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t d : shape)
    if (d == 0)
      return;
  while (true) {
    f(index);
    int64_t d = int64_t(shape.size()) - 1;
    for (; d >= 0; --d) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

} // namespace dlc::ref

#endif // DLC_IR_TENSOR_TENSOR_H
