//===- DecomposeConstants.cpp - folds casts of constants for GPUs ---------===//
#include "ir/dlc/Shape.h"
#include "ir/reference/Evaluate.h"
#include "passes/Devices.h"
#include "passes/fuse/decompose/DecomposePatterns.h"
#include "passes/simplify/Constants.h"

using namespace mlir;

namespace dlc {

namespace {

// cast(constant) -> constant. Otherwise a GPU would run a kernel that casts the constant in each
// run. CPU kernels cast constant weights when they pack them.
struct CastConstant : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getY());
    if (!can(deviceOf(type), DLC_DEVICE_GPU_CODE) || !isEvaluable(op) || splatValue(op.getX()) ||
        staticElements(type) > kMaxEvaluated ||
        type.getElementTypeBitWidth() > typeOf(op.getX()).getElementTypeBitWidth())
      return failure();
    std::optional<ref::Tensor> constant = constantTensor(op.getX());
    SmallVector<ref::Tensor> results;
    auto nothing = [](Value) { return ref::Tensor(); };
    if (!constant || failed(ref::evaluateOp(op, {*constant}, nothing, results)))
      return failure();
    rewriter.replaceOp(op, makeConstant(rewriter, op.getLoc(), results[0], type));
    return success();
  }
};

} // namespace

void addConstantCasts(RewritePatternSet &patterns) {
  patterns.add<CastConstant>(patterns.getContext());
}

} // namespace dlc
