//===- Expr.h - values with arithmetic, so that rules read as formulas ----===//
#ifndef DLC_PASSES_GRAD_EXPR_H
#define DLC_PASSES_GRAD_EXPR_H

#include "passes/TensorBuilder.h"

namespace dlc::grad {

/// A value and the builder that goes on from it. Null stands for a zero that nobody wrote down.
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

  /// The operation of one operand.
  template <typename Op> Expr as() const { return {*b, b->make<Op>(v)}; }
  template <typename Op> Expr with(mlir::Value other) const { return {*b, b->make<Op>(v, other)}; }
  Expr scalar(double number) const { return {*b, b->scalar(number, v)}; }

  Expr reshape(llvm::ArrayRef<int64_t> shape) const { return {*b, b->reshape(v, shape)}; }
  Expr broadcast(llvm::ArrayRef<int64_t> shape) const { return {*b, b->broadcast(v, shape)}; }
  Expr cast(mlir::Type element) const { return {*b, b->cast(v, element)}; }
  Expr transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// Reductions keep their dimensions with size 1.
  Expr sum(llvm::ArrayRef<int64_t> axes) const { return {*b, b->reduce(ReduceKind::sum, v, axes)}; }
  Expr mean(llvm::ArrayRef<int64_t> axes) const;
  /// Summed and stretched to a shape that broadcasts to this one, or to which this one does.
  Expr fit(llvm::ArrayRef<int64_t> shape) const;
  /// Elements [from, from + size) of one dimension.
  Expr part(int64_t axis, int64_t from, int64_t size) const;
  Expr reversed(int64_t axis) const;
  Expr pad(llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high) const;
  /// The slice at a 0-d index of the first dimension, without it.
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
/// x where the condition holds, else 0; and the other way round.
inline Expr keep(Expr condition, Expr x) { return select(condition, x, x.scalar(0)); }
inline Expr drop(Expr condition, Expr x) { return select(condition, x.scalar(0), x); }
Expr concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis, TensorBuilder &b);
Expr matmul(Expr x, Expr y, bool transposeX = false, bool transposeY = false);
/// The sum for each channel of [N, C, ..], [C].
Expr channelSums(Expr x);
/// Zeros of a type, written as one number that is stretched.
Expr zeros(TensorBuilder &b, mlir::Type type);
/// 0-d i64 on the device of `like`.
Expr index(TensorBuilder &b, int64_t value, mlir::Value like);
/// The indices along one dimension of a shape, i64, on the device of `like`.
Expr iota(TensorBuilder &b, llvm::ArrayRef<int64_t> shape, int64_t axis, mlir::Value like);

llvm::SmallVector<int64_t> range(int64_t from, int64_t to);
int64_t product(llvm::ArrayRef<int64_t> sizes);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_EXPR_H
