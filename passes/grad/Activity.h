//===- Activity.h - values on a path from xs to ys ------------------------===//
#ifndef DLC_PASSES_GRAD_ACTIVITY_H
#define DLC_PASSES_GRAD_ACTIVITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc::grad {

class GradientRules;

/// Determines the active values of reverse-mode differentiation: those that depend on some x, and
/// on which some y depends, through floating-point values only.
class ActivityAnalysis {
public:
  /// `ops` are the operations to analyze, in execution order.
  ActivityAnalysis(const GradientRules &rules, llvm::ArrayRef<mlir::Operation *> ops,
                   mlir::ValueRange ys, mlir::ValueRange xs);

  bool isActive(mlir::Value value) const {
    return varied.contains(value) && needed.contains(value);
  }
  bool isActive(mlir::Operation *op) const;

private:
  void vary(mlir::Operation *op);
  void vary(mlir::Block &block);
  void need(mlir::Operation *op);
  void need(mlir::Block &block);
  bool isVaried(mlir::Value value) const { return varied.contains(value); }
  bool isNeeded(mlir::Value value) const { return needed.contains(value); }
  /// Adds a value to the set of varied values (which depend on an x) or of needed values (on which
  /// a y depends). Returns whether the value was not yet in the set.
  bool setVaried(mlir::Value value);
  bool setNeeded(mlir::Value value);

  const GradientRules &rules;
  llvm::DenseSet<mlir::Value> varied, needed;
};

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_ACTIVITY_H
