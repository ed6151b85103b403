//===- Tensor.h - dense tensor in host memory -----------------------------===//
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

/// Error message for a constant whose elements Tensor::fromAttr() does not find.
inline constexpr llvm::StringLiteral kMissingData =
    "the module has no elements for a constant; printed modules elide large constants: write the "
    "module with 'dlc compile --to PHASE -o FILE', which writes all elements";

/// Dense row-major host tensor. Elements are little endian. A bool takes one byte. Two 4-bit
/// integers share a byte: the first is in the low four bits, and each row (along the last
/// dimension) begins at a byte. Storage is shared, so copying a Tensor copies no elements. To write
/// elements, create the tensor with `Tensor::empty`.
class Tensor {
public:
  Tensor() = default;

  /// Returns a new tensor of static shape whose elements are zero.
  static Tensor empty(mlir::RankedTensorType type);
  /// Returns a tensor that views memory which `owner` keeps alive. Asserts that `owner` is not
  /// null.
  static Tensor borrow(mlir::RankedTensorType type, const void *data,
                       std::shared_ptr<const void> owner);
  /// Returns the elements of a dense, splat or resource attribute as a tensor. Fails if a resource
  /// blob is missing or has the wrong size. The tensor never depends on the context of the
  /// attribute: it shares the memory of a blob that has an owner (BlobOwners.h), and copies other
  /// blobs. A shared blob whose address is not a multiple of the element size is copied when the
  /// tensor is first read.
  static mlir::FailureOr<Tensor> fromAttr(mlir::ElementsAttr attr);
  /// Returns the elements as a dense attribute for small tensors, or as a resource blob that shares
  /// the storage for large ones.
  mlir::ElementsAttr toAttr() const;
  /// Returns the elements as a resource blob that shares the storage, for tensors of any size. The
  /// context makes `name` unique.
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
  /// Returns the owner that keeps the memory at data() alive.
  std::shared_ptr<const void> owner() const;

  /// Returns the element as a double, which is exact except for large 64-bit integers. Setters
  /// convert to the element type by the rules of dlc.cast (floats to nearest even, integers wrap).
  double getDouble(int64_t index) const;
  int64_t getInt(int64_t index) const;
  void setDouble(int64_t index, double value);
  void setInt(int64_t index, int64_t value);

  Element getElement() const { return element; }
  bool isFloat() const { return ref::isFloat(element); }
  /// Returns a reshaped tensor of type `other` with the same elements, which shares the storage.
  Tensor withType(mlir::RankedTensorType other) const;

private:
  struct AlignedCopy;
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
  /// Aligned copy of elements whose address is not a multiple of the element size. It is made on
  /// first access because most users of a tensor only read its type.
  std::shared_ptr<AlignedCopy> unaligned;
};

/// Returns the size of one element in bytes (bool: 1). The element type must not be packed.
int64_t elementBytes(mlir::Type element);
/// Returns the size in bytes of all elements of a tensor of static shape.
int64_t storageBytes(mlir::RankedTensorType type);
/// Returns whether this is a 4-bit integer type, of which two elements share a byte.
bool isPackedElement(mlir::Type element);
/// Returns the ui8 tensor type that stores a packed tensor: its last dimension is the number of
/// bytes.
mlir::RankedTensorType getPackedBytesType(mlir::RankedTensorType packed);
/// Returns the size in bytes of one row (the last dimension) of packed 4-bit integers.
inline int64_t packedRowBytes(int64_t elements) { return (elements + 1) / 2; }

/// Returns the row-major strides of a shape.
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
