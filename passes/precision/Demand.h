//===- Demand.h - which values products want narrow -----------------------===//
#ifndef DLC_PASSES_PRECISION_DEMAND_H
#define DLC_PASSES_PRECISION_DEMAND_H

#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"

namespace dlc::precision {

/// What the pass is asked for.
struct Question {
  /// Null: products stay in f32, but for those that an override names.
  mlir::FloatType narrow;
  Overrides overrides;

  /// The class of an operation, and the type of its products; f32 makes it Full.
  NumericClass classOf(mlir::Operation *op) const;
  mlir::FloatType typeOf(mlir::Operation *op) const;
};

/// Whether this is a tensor of f32: the others are as the model wants them.
bool isWide(mlir::Value value);

/// A value is demanded in a narrow type when a product reads it, or when it becomes, element by
/// element, one that is. Small operands of the way (means, scales, biases) are not: what they would
/// lose every element of the result would lose.
class Demand {
public:
  Demand(mlir::Operation *root, const Question &question);

  /// The type that the value is wanted in; null when nobody wants it narrow.
  mlir::FloatType of(mlir::Value value) const { return wanted.lookup(value); }
  /// Whether the narrow value is the one that is kept: not what leaves its block (results, state).
  bool isStored(mlir::Value value) const;

private:
  mlir::FloatType wantedBy(mlir::OpOperand &use) const;
  void decide(mlir::Value value);
  void visit(mlir::Block &block);

  const Question &question;
  llvm::DenseMap<mlir::Value, mlir::FloatType> wanted;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_DEMAND_H
