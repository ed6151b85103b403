//===- Shape.h - the shapes of tensor types ----------------------------------===//
//
// All code reads, compares and builds shapes through this header. A dimension is a number, an
// expression over symbols, or a `?` whose size is unknown. Two dimensions are equal only if both
// sizes are known and their normal forms are identical.
//
// Code that needs numbers calls `staticShape`, `staticDim` or `staticElements`, which assert that
// the dimensions are numbers.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_SHAPE_H
#define DLC_IR_DLC_SHAPE_H

#include "ir/dlc/Dialect.h"
#include "runtime/size/Bounds.h"

namespace dlc {

/// Size of one dimension.
class Dim {
public:
  Dim(int64_t number) : value(number) {}
  explicit Dim(size::Size value) : value(std::move(value)) {}
  static Dim unknown() { return Dim(size::Size::invalid("the size is not known")); }

  bool isKnown() const { return value.isValid(); }
  bool isStatic() const { return value.constant().has_value(); }
  /// Returns the size, which must be a number.
  int64_t number() const {
    assert(isStatic() && "the size of this dimension is not a number");
    return *value.constant();
  }
  /// Returns whether the size is the number 1. Only such dimensions broadcast.
  bool isOne() const { return value.constant() == 1; }
  const size::Size &get() const { return value; }
  /// Formats the size: a number, an expression, or `?`.
  std::string text() const;

  /// Returns whether both sizes are known and have identical normal forms. They are then equal for
  /// all values of the symbols.
  friend bool operator==(const Dim &a, const Dim &b) { return a.value == b.value; }
  friend Dim operator*(const Dim &a, const Dim &b) { return Dim(a.value * b.value); }

private:
  size::Size value;
};

/// View of the shape of a tensor type.
class TensorShape {
public:
  explicit TensorShape(mlir::RankedTensorType type) : type(type) {}
  explicit TensorShape(mlir::Value value)
      : TensorShape(llvm::cast<mlir::RankedTensorType>(value.getType())) {}

  int64_t rank() const { return type.getRank(); }
  Dim operator[](int64_t dimension) const;
  llvm::SmallVector<Dim, 6> dims() const;
  bool isStatic() const { return type.hasStaticShape(); }
  /// Returns the product of the dimensions.
  Dim countElements() const;
  /// Formats the shape: `[batch, 3, 2*length]`.
  std::string text() const;

  friend bool operator==(const TensorShape &a, const TensorShape &b);

private:
  mlir::RankedTensorType type;
};

/// Returns the dimensions, which must be numbers.
llvm::ArrayRef<int64_t> staticShape(mlir::Type type);
inline llvm::ArrayRef<int64_t> staticShape(mlir::Value value) {
  return staticShape(value.getType());
}
inline llvm::ArrayRef<int64_t> staticShape(const ref::Tensor &tensor) { return tensor.getShape(); }
/// Returns a dimension, which must be a number.
int64_t staticDim(mlir::Type type, int64_t dimension);
inline int64_t staticDim(mlir::Value value, int64_t dimension) {
  return staticDim(value.getType(), dimension);
}
/// Returns the number of elements of a type whose dimensions must be numbers.
int64_t staticElements(mlir::Type type);
inline int64_t staticElements(mlir::Value value) { return staticElements(value.getType()); }

/// Returns a static tensor type. The encoding is a device and layout, or null.
mlir::RankedTensorType makeTensorType(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                                      mlir::Attribute encoding = {});
/// Returns a tensor type with dimensions that may be expressions. All must be known.
mlir::RankedTensorType makeTensorType(llvm::ArrayRef<Dim> shape, mlir::Type element, OnAttr place);
/// Returns the type with another element type, and the same shape, device and layout.
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);
/// Returns the type with another device and layout, which may be null.
mlir::RankedTensorType withPlace(mlir::RankedTensorType type, OnAttr place);

} // namespace dlc

#endif // DLC_IR_DLC_SHAPE_H
