//===- Build.h - builds the placement problem of a function ---------------===//
#ifndef DLC_PASSES_PLACE_BUILD_H
#define DLC_PASSES_PLACE_BUILD_H

#include "passes/place/Annotations.h"
#include "passes/place/Cost.h"
#include "passes/place/Problem.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc::place {

struct FunctionPlacement {
  mlir::func::FuncOp function;
  PlacementProblem problem;
  llvm::SmallVector<OnAttr> devices; ///< device of each label
  /// Nodes of the operations in the function's outermost block, except for constants and the
  /// return.
  llvm::DenseMap<mlir::Operation *, unsigned> nodes;
  llvm::SmallVector<unsigned> inputs, outputs; ///< node indices, by argument and result number
  std::vector<std::string> why; ///< reason for a fixed label, by node; empty if the node is free
  /// Values whose types already had a device before the placement, and operations whose devices
  /// these types determine.
  llvm::DenseSet<mlir::Value> placedBefore;
  llvm::DenseSet<mlir::Operation *> fixedByType;

  OnAttr deviceAt(const Labels &at, unsigned node) const { return devices[size_t(at[node])]; }
};

/// Builds the placement problem of a function. Fails with a diagnostic if annotations contradict
/// each other.
mlir::FailureOr<FunctionPlacement> buildProblem(mlir::func::FuncOp function,
                                                PlacementOptions &annotations,
                                                const PlacementCostModel &costs);

/// Calls f with each operand of the operation, or of an operation in its regions, whose value is
/// defined in `block`.
template <typename F> void forEachUse(mlir::Operation *op, mlir::Block &block, F f) {
  op->walk([&](mlir::Operation *inner) {
    for (mlir::OpOperand &operand : inner->getOpOperands())
      if (operand.get().getParentBlock() == &block)
        f(operand);
  });
}

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_BUILD_H
