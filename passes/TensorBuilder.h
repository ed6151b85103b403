//===- TensorBuilder.h - concise construction of dlc operations in passes ----===//
#ifndef DLC_PASSES_TENSORBUILDER_H
#define DLC_PASSES_TENSORBUILDER_H

#include "ir/dlc/Dialect.h"
#include "mlir/IR/PatternMatch.h"

namespace dlc {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }
inline bool isInt32(mlir::Type tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor).getElementType().isInteger(32);
}
/// Returns whether the tensor's elements are 8-bit integers, signed or unsigned.
inline bool isInt8(mlir::Type tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor).getElementType().isInteger(8);
}
inline bool hasOneElement(mlir::RankedTensorType type) {
  return type.hasStaticShape() && type.getNumElements() == 1;
}

/// Builder that creates dlc operations at one insertion point and location. It infers the result
/// types if the operation supports that.
class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }
  /// Creates a 0-d constant with the element type and the device of `like`.
  mlir::Value scalar(double value, mlir::Value like);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Casts `x` to the element type. Returns `x` itself if it already has this type.
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Returns the device of a tensor type without its layout, or null if the type has no device.
OnAttr deviceOf(mlir::Type type);

/// Returns the common value of all elements of a splat constant (float or integer), or nullopt if
/// the value is not a splat constant.
std::optional<double> splatValue(mlir::Value value);
/// Returns whether `value` is a constant whose elements all equal `expected`, up to rounding to the
/// element type.
bool isSplatWithValue(mlir::Value value, double expected);

} // namespace dlc

#endif // DLC_PASSES_TENSORBUILDER_H
