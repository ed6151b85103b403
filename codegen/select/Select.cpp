//===- Select.cpp - which kernel does each operation ----------------------===//
#include "codegen/select/Select.h"

#include "codegen/select/Candidates.h"

using namespace mlir;

namespace dlc {

/// What becomes a command with a kernel: fusions, and operations that only the runtime or a library can do.
static SmallVector<Operation *> operationsToSelect(ModuleOp module) {
  SmallVector<Operation *> work;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FusionOp>(op)) {
      work.push_back(op);
      return WalkResult::skip();
    }
    if (isa<TopKOp, ArgReduceOp, CumulativeOp, ScatterElementsOp, ScatterNdOp, MaxPoolIndicesOp, RandomOp, LstmOp, GruOp, RnnOp,
            ReorderOp, TransposeOp>(op))
      work.push_back(op);
    return WalkResult::advance();
  });
  return work;
}

LogicalResult selectKernels(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  if (!llvm::is_contained({"", "generated", "rows", "contract", "onednn", "builtin"}, options.kernels))
    return module.emitError("kernels '") << options.kernels << "' are unknown; required: generated, rows, contract, onednn or builtin";
  for (Operation *op : operationsToSelect(module)) {
    std::string refusals;
    auto candidates = candidatesFor(op, options, target, false, refusals);
    if (candidates.empty())
      return op->emitError("no kernel for this operation") << refusals;
    preferKernels(candidates, options.kernels);
    writeChoice(op, candidates);
  }
  return success();
}

} // namespace dlc
