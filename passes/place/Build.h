//===- Build.h - a function as a placement problem ------------------------===//
#ifndef DLC_PASSES_PLACE_BUILD_H
#define DLC_PASSES_PLACE_BUILD_H

#include "passes/place/Annotations.h"
#include "passes/place/Cost.h"
#include "passes/place/Problem.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc::place {

struct FunctionProblem {
  mlir::func::FuncOp function;
  Problem problem;
  llvm::SmallVector<OnAttr> devices; ///< by label
  /// Operations of the outermost block, constants and the return apart.
  llvm::DenseMap<mlir::Operation *, unsigned> nodes;
  llvm::SmallVector<unsigned> inputs, outputs; ///< nodes, by argument and by result
  std::vector<std::string> why;                ///< by node; empty where the node was free
  /// Values, and operations, that had a device before.
  llvm::DenseSet<mlir::Value> placedBefore;
  llvm::DenseSet<mlir::Operation *> fixedByType;

  OnAttr deviceAt(const Labels &at, unsigned node) const { return devices[size_t(at[node])]; }
};

/// Fails with a diagnostic where annotations contradict each other.
mlir::FailureOr<FunctionProblem> buildProblem(mlir::func::FuncOp function, Annotations &annotations,
                                              const CostTable &costs);

/// Calls f with each value of `block` that the operation or its regions use, and the operand that
/// does.
template <typename F> void forEachUse(mlir::Operation *op, mlir::Block &block, F f) {
  op->walk([&](mlir::Operation *inner) {
    for (mlir::OpOperand &operand : inner->getOpOperands())
      if (operand.get().getParentBlock() == &block)
        f(operand);
  });
}

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_BUILD_H
