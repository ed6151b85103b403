//===- Fuse.cpp - the fuse pass: groups operations into kernels -----------===//
#include "passes/Passes.h"
#include "passes/fuse/analysis/MonotonicGather.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/fuse/grouping/FuseSteps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

struct FusePass : PassWrapper<FusePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusePass)

  StringRef getArgument() const final { return "dlc-fuse"; }
  StringRef getDescription() const final {
    return "groups operations into dlc.fusion regions, each of which becomes one kernel";
  }

  void runOnOperation() final {
    SmallVector<Block *> blocks;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<FusionOp>(op))
        return WalkResult::skip();
      if (isa<func::FuncOp, IfOp, LoopOp>(op))
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
      return WalkResult::advance();
    });
    // Nested blocks are processed first, so that the values from outer blocks that their kernels
    // use are known when the outer blocks are grouped.
    for (Block *block : llvm::reverse(blocks)) {
      sinkScatters(*block);
      convertGpuReordersToTransposes(*block);
      markMonotonicGathers(*block);
      Grouping(*block).eraseDead();
      Grouping grouping(*block);
      groupAttention(grouping);
      groupContractions(grouping);
      grouping.eraseDead();
      groupMaps(grouping);
      mergeSiblings(grouping);
      mergeSmallUpdates(grouping);
      outlineGroups(grouping);
      fuseIntoSlicingReaders(*block);
      reorderPaddedFusions(*block);
      convertReordersToTransposes(*block);
      markStateUpdates(*block);
      grouping.eraseDead();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createFusePass() { return std::make_unique<FusePass>(); }

} // namespace dlc
