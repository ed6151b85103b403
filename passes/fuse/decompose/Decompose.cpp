//===- Decompose.cpp - decomposes layers without a kernel of their own ----===//
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/decompose/DecomposePatterns.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace dlc {
namespace {

// reduce(x) without keepdims = reshape(reduce(x) with keepdims), because a fusion broadcasts the
// reduced value along the reduced rows
struct KeepReducedDims : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getKeepdims() || op.getAxes().empty())
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value kept = b.reduce(op.getKind(), op.getX(), op.getAxes());
    rewriter.replaceOp(op, b.reshape(kept, shapeOf(op.getY())));
    return success();
  }
};

struct DecomposePass : PassWrapper<DecomposePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposePass)

  explicit DecomposePass(std::shared_ptr<Costs> costs) : costs(std::move(costs)) {}

  StringRef getArgument() const final { return "dlc-decompose"; }
  StringRef getDescription() const final {
    return "decomposes softmax, normalisations, attention, recurrent layers and searches into "
           "simple operations";
  }

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<KeepReducedDims>(&getContext());
    addAttentionDecompositions(patterns);
    addNormDecompositions(patterns);
    addBatchNormDecompositions(patterns);
    addRecurrentDecompositions(patterns, costs.get());
    addSearchDecompositions(patterns);
    addGroupedMatmulPatterns(patterns);
    addConstantCasts(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  std::shared_ptr<Costs> costs;
};

} // namespace

std::unique_ptr<Pass> createDecomposePass(std::shared_ptr<Costs> costs) {
  return std::make_unique<DecomposePass>(std::move(costs));
}

} // namespace dlc
