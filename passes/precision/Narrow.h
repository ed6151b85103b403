//===- Narrow.h - converts matmuls and convolutions to 16-bit types -------===//
#ifndef DLC_PASSES_PRECISION_NARROW_H
#define DLC_PASSES_PRECISION_NARROW_H

#include "passes/precision/Demand.h"

namespace dlc::precision {

/// Converts values to 16-bit (narrow) types in place, and inserts casts between 16-bit and f32
/// values:
/// - Each value is cast at most once to a narrow type, immediately after its definition (a
///   parameter: before its first reader). All products (matmuls, convolutions, attention) share
///   this cast.
/// - An operation that reads a narrow value in f32 gets a cast of its own, so that no f32 copy
/// stays
///   live.
/// - A value that only one operation reads is passed on in f32.
class PrecisionNarrowing {
public:
  PrecisionNarrowing(const PrecisionRequest &request, const PrecisionDemand &demand)
      : request(request), demand(demand) {}

  void run(mlir::Block &block);

private:
  void visit(mlir::Operation *op);
  void visitProduct(mlir::Operation *op, mlir::FloatType type);
  bool visitLayer(mlir::Operation *op);
  bool visitExact(mlir::Operation *op);
  void visitWide(mlir::Operation *op);

  /// Returns the 16-bit type in which the value is already available, because the value itself was
  /// converted or has a 16-bit copy. Null if there is none.
  mlir::FloatType narrowTypeOf(mlir::Value value) const;
  mlir::Value narrow(mlir::Value value, mlir::FloatType type, mlir::Operation *user);
  /// Makes the operand read an f32 value, even if its value was converted to 16 bits.
  void widen(mlir::OpOperand &operand);
  void convert(mlir::Value result, mlir::FloatType type);
  bool mayJoin(mlir::OpOperand &operand, mlir::FloatType type) const;

  const PrecisionRequest &request;
  const PrecisionDemand &demand;
  /// Values whose own type was changed to a 16-bit type, with this type.
  llvm::DenseMap<mlir::Value, mlir::FloatType> converted;
  /// Casts from f32 values to 16-bit types, which all users share.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
  /// f32 values that are read through casts of their 16-bit copy, with the type of the copy.
  llvm::DenseMap<mlir::Value, mlir::FloatType> kept;
  /// For each 16-bit result of a product: the f32 value before rounding, for operations that read
  /// it in f32.
  llvm::DenseMap<mlir::Value, mlir::Value> sums;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_NARROW_H
