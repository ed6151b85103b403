//===- Expr.h - values with arithmetic, so that rules read as formulas ----===//
#ifndef DLC_PASSES_GRAD_EXPR_H
#define DLC_PASSES_GRAD_EXPR_H

#include "passes/TensorBuilder.h"

namespace dlc::grad {

/// A tensor value with arithmetic operators that create dlc operations by its builder. A null value
/// represents a zero for which no operation was created.
class Expr {
public:
  Expr() = default;
  Expr(TensorBuilder &b, mlir::Value value) : b(&b), v(value) {}

  operator mlir::Value() const { return v; }
  explicit operator bool() const { return bool(v); }
  TensorBuilder &builder() const { return *b; }
  llvm::ArrayRef<int64_t> shape() const { return shapeOf(v); }
  int64_t rank() const { return typeOf(v).getRank(); }
  int64_t dim(int64_t d) const { return shape()[d]; }
  mlir::Type element() const { return typeOf(v).getElementType(); }

  /// Creates the unary operation `Op` on this value.
  template <typename Op> Expr as() const { return {*b, b->make<Op>(v)}; }
  template <typename Op> Expr with(mlir::Value other) const { return {*b, b->make<Op>(v, other)}; }
  Expr scalar(double number) const { return {*b, b->scalar(number, v)}; }

  Expr reshape(llvm::ArrayRef<int64_t> shape) const { return {*b, b->reshape(v, shape)}; }
  Expr broadcast(llvm::ArrayRef<int64_t> shape) const { return {*b, b->broadcast(v, shape)}; }
  Expr cast(mlir::Type element) const { return {*b, b->cast(v, element)}; }
  Expr transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// Creates a sum over `axes`. Like all reductions of this class, it retains the reduced
  /// dimensions with size 1.
  Expr sum(llvm::ArrayRef<int64_t> axes) const { return {*b, b->reduce(ReduceKind::sum, v, axes)}; }
  Expr mean(llvm::ArrayRef<int64_t> axes) const;
  /// Sums over dimensions, and broadcasts others, so that the result has the given shape. One of
  /// the two shapes must broadcast to the other.
  Expr fit(llvm::ArrayRef<int64_t> shape) const;
  /// Creates the slice [from, from + size) of one dimension.
  Expr part(int64_t axis, int64_t from, int64_t size) const;
  Expr reversed(int64_t axis) const;
  Expr pad(llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high) const;
  /// Selects an index of the first dimension, and removes this dimension. `index` is a 0-d tensor.
  Expr at(mlir::Value index) const;

private:
  TensorBuilder *b = nullptr;
  mlir::Value v;
};

inline Expr operator-(Expr x) { return x.as<NegOp>(); }
inline Expr operator+(Expr x, Expr y) { return x.with<AddOp>(y); }
inline Expr operator-(Expr x, Expr y) { return x.with<SubOp>(y); }
inline Expr operator*(Expr x, Expr y) { return x.with<MulOp>(y); }
inline Expr operator/(Expr x, Expr y) { return x.with<DivOp>(y); }
inline Expr operator+(Expr x, double y) { return x + x.scalar(y); }
inline Expr operator-(Expr x, double y) { return x + x.scalar(-y); }
inline Expr operator-(double x, Expr y) { return y.scalar(x) - y; }
inline Expr operator*(double x, Expr y) { return x == 1 ? y : y * y.scalar(x); }
inline Expr operator/(double x, Expr y) { return y.scalar(x) / y; }

Expr compare(Predicate predicate, Expr x, Expr y);
Expr select(Expr condition, Expr x, Expr y);
/// keep() returns x where the condition is true and 0 elsewhere. drop() returns 0 where the
/// condition is true and x elsewhere.
inline Expr keep(Expr condition, Expr x) { return select(condition, x, x.scalar(0)); }
inline Expr drop(Expr condition, Expr x) { return select(condition, x.scalar(0), x); }
Expr concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis, TensorBuilder &b);
Expr matmul(Expr x, Expr y, bool transposeX = false, bool transposeY = false);
/// Returns the sum of each channel of [N, C, ..], as [C].
Expr channelSums(Expr x);
/// Creates a tensor of zeros of the given type, as a broadcast of one constant.
Expr zeros(TensorBuilder &b, mlir::Type type);
/// Creates a 0-d i64 constant on the device of `like`.
Expr index(TensorBuilder &b, int64_t value, mlir::Value like);
/// Creates a tensor of the shape whose elements are their indices along the dimension `axis`, as
/// i64 on the device of `like`.
Expr iota(TensorBuilder &b, llvm::ArrayRef<int64_t> shape, int64_t axis, mlir::Value like);

llvm::SmallVector<int64_t> range(int64_t from, int64_t to);
int64_t product(llvm::ArrayRef<int64_t> sizes);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_EXPR_H
