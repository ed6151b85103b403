//===- Narrow.h - rewrites a function so that products read narrow numbers ===//
#ifndef DLC_PASSES_PRECISION_NARROW_H
#define DLC_PASSES_PRECISION_NARROW_H

#include "passes/precision/Demand.h"

namespace dlc::precision {

/// Changes types in place and puts casts between what is narrow and what is wide:
/// - each value is cast at most once to a narrow type, where it is made (parameters: before their
///   first reader), and all products share that;
/// - who reads a narrow value in f32 gets a cast of its own, so that no wide copy lives on;
/// - what only one operation reads passes in f32 from one to the other.
class Narrowing {
public:
  Narrowing(const Question &question, const Demand &demand) : question(question), demand(demand) {}

  void run(mlir::Block &block);

private:
  void visit(mlir::Operation *op);
  void visitProduct(mlir::Operation *op, mlir::FloatType type);
  bool visitLayer(mlir::Operation *op);
  bool visitExact(mlir::Operation *op);
  void visitWide(mlir::Operation *op);

  /// The type in which the value is there narrow already; null when it is not.
  mlir::FloatType narrowTypeOf(mlir::Value value) const;
  mlir::Value narrow(mlir::Value value, mlir::FloatType type, mlir::Operation *user);
  /// Lets the operand read f32, whatever its value has become.
  void widen(mlir::OpOperand &operand);
  void convert(mlir::Value result, mlir::FloatType type);
  bool mayJoin(mlir::OpOperand &operand, mlir::FloatType type) const;

  const Question &question;
  const Demand &demand;
  /// Values that have become narrow themselves.
  llvm::DenseMap<mlir::Value, mlir::FloatType> converted;
  /// Casts of values that are wide.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
  /// Wide values that are read by way of their narrow form.
  llvm::DenseMap<mlir::Value, mlir::FloatType> kept;
  /// What a product gives to those that want f32, before it was rounded.
  llvm::DenseMap<mlir::Value, mlir::Value> sums;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_NARROW_H
