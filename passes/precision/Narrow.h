//===- Narrow.h - converts matmuls and convolutions to 16-bit types -------===//
#ifndef DLC_PASSES_PRECISION_NARROW_H
#define DLC_PASSES_PRECISION_NARROW_H

#include "passes/precision/Demand.h"

namespace dlc::precision {

/// Changes types in place, and inserts casts between narrow and f32 values:
/// - Each value is cast at most once to a narrow type, where it is computed (a parameter: before
///   its first reader). All products (matmuls, convolutions, attention) share this cast.
/// - A reader of a narrow value in f32 gets a cast of its own, so that no f32 copy stays live.
/// - A value that only one operation reads is passed on in f32.
class Narrowing {
public:
  Narrowing(const PrecisionRequest &request, const Demand &demand)
      : request(request), demand(demand) {}

  void run(mlir::Block &block);

private:
  void visit(mlir::Operation *op);
  void visitProduct(mlir::Operation *op, mlir::FloatType type);
  bool visitLayer(mlir::Operation *op);
  bool visitExact(mlir::Operation *op);
  void visitWide(mlir::Operation *op);

  /// The type in which the value is already available in narrow form. Null if it is not.
  mlir::FloatType narrowTypeOf(mlir::Value value) const;
  mlir::Value narrow(mlir::Value value, mlir::FloatType type, mlir::Operation *user);
  /// Makes the operand read f32, even if its value has become narrow.
  void widen(mlir::OpOperand &operand);
  void convert(mlir::Value result, mlir::FloatType type);
  bool mayJoin(mlir::OpOperand &operand, mlir::FloatType type) const;

  const PrecisionRequest &request;
  const Demand &demand;
  /// Values whose own type was changed to a narrow one.
  llvm::DenseMap<mlir::Value, mlir::FloatType> converted;
  /// Casts from f32 values to narrow types.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
  /// f32 values that are read through casts of their narrow copy.
  llvm::DenseMap<mlir::Value, mlir::FloatType> kept;
  /// For each narrow result of a product: its unrounded sums in f32, for readers in f32.
  llvm::DenseMap<mlir::Value, mlir::Value> sums;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_NARROW_H
