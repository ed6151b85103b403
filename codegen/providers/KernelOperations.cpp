//===- KernelOperations.cpp - operations for which kernels are selected ---===//
#include "codegen/providers/KernelOperations.h"

#include "ir/dlc/Dialect.h"

using namespace mlir;

namespace dlc {

SmallVector<Operation *> findKernelOperations(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FusionOp>(op)) {
      found.push_back(op);
      return WalkResult::skip();
    }
    if (op->hasTrait<OwnKernel>() || isa<TransposeOp>(op))
      found.push_back(op);
    return WalkResult::advance();
  });
  return found;
}

} // namespace dlc
