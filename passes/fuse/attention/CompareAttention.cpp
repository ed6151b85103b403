//===- CompareAttention.cpp - cost of attention as one kernel or as several ----===//
//
// A fused kernel does not store the scores, but its matmuls are computed in blocks. Separate
// kernels use a library's matmuls, but write and read all scores. Both variants are built as
// functions in separate modules, and the total times of their kernels are compared.
//
//===-----------------------------------------------------------------------===//
#include "passes/fuse/attention/CompareAttention.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/Compositions.h"
#include "passes/ConstantRewrites.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace dlc {

namespace {

/// Marks an operation to remain one fused kernel, and returns it.
Operation *markAsFused(Operation *op) {
  op->setAttr(kKeepFusedAttr, UnitAttr::get(op->getContext()));
  return op;
}

class FusedAttentionComparison {
public:
  FusedAttentionComparison(AttentionOp op, StringRef accuracy, Costs &costs)
      : op(op), accuracy(accuracy), costs(costs), operands(op->getOperandTypes()) {}

  bool isFusedAttentionFaster(bool gradients) {
    std::optional<KernelTime> whole = gradients ? wholeTraining() : this->whole(),
                              parts = this->parts();
    if (gradients && parts) {
      std::optional<KernelTime> backward = partsBackward();
      if (backward)
        *parts += *backward;
      else
        parts.reset();
    }
    return whole && (!parts || whole->isLessThan(*parts));
  }

private:
  using Build = llvm::function_ref<SmallVector<Value>(TensorBuilder &, Block &)>;

  /// Builds a function by `build` from operands of these types and returns its time; std::nullopt
  /// if an operation has no kernel.
  std::optional<KernelTime> timeOf(ArrayRef<Type> types, Build build) {
    MLIRContext *context = op.getContext();
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    OpBuilder builder(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
    setAccuracy(*module, accuracy);
    builder.setInsertionPointToEnd(module->getBody());
    auto function =
        func::FuncOp::create(builder, op.getLoc(), "main", builder.getFunctionType(types, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    TensorBuilder b(builder, op.getLoc());
    SmallVector<Value> results = build(b, *block);
    builder.setInsertionPointToEnd(block);
    func::ReturnOp::create(builder, op.getLoc(), results);
    function.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
    PassManager manager(context, ModuleOp::getOperationName());
    manager.addPass(createDecomposePass());
    manager.addPass(createFusePass());
    if (failed(manager.run(*module)))
      return std::nullopt;
    FunctionType type = function.getFunctionType();
    return costs.operation(function, type.getInputs(), type.getResults());
  }

  Value mask(Block &block) { return op.getMask() ? Value(block.getArgument(3)) : Value(); }

  std::optional<KernelTime> whole() {
    return timeOf(operands, [&](TensorBuilder &, Block &block) {
      OpBuilder builder = OpBuilder::atBlockEnd(&block);
      auto made =
          AttentionOp::create(builder, op.getLoc(), block.getArgument(0), block.getArgument(1),
                              block.getArgument(2), mask(block), op.getScale(), op.getCausal());
      return SmallVector<Value>(markAsFused(made)->getResults());
    });
  }

  std::optional<KernelTime> wholeTraining() {
    SmallVector<Type> types = operands;
    types.push_back(op.getY().getType());
    return timeOf(types, [&](TensorBuilder &, Block &block) {
      OpBuilder builder = OpBuilder::atBlockEnd(&block);
      Value q = block.getArgument(0), k = block.getArgument(1), v = block.getArgument(2);
      auto forward = AttentionTrainOp::create(builder, op.getLoc(), q, k, v, mask(block),
                                              op.getScale(), op.getCausal());
      auto backward = AttentionGradOp::create(builder, op.getLoc(), q, k, v, forward.getY(),
                                              forward.getLse(), block.getArguments().back(),
                                              mask(block), op.getScale(), op.getCausal());
      SmallVector<Value> results{markAsFused(forward)->getResult(0)};
      llvm::append_range(results, markAsFused(backward)->getResults());
      return results;
    });
  }

  std::optional<KernelTime> parts() {
    return timeOf(operands, [&](TensorBuilder &b, Block &block) {
      AttentionScoreOperands from{block.getArgument(0), block.getArgument(1), mask(block),
                                  op.getScale().convertToDouble(), op.getCausal()};
      return SmallVector<Value>{
          b.make<MatmulOp>(buildAttentionWeights(b, from), block.getArgument(2), false, false)};
    });
  }

  /// Returns the time of the backward pass as separate operations, built as in passes/grad, from
  /// the attention weights that the forward pass saved.
  std::optional<KernelTime> partsBackward() {
    SmallVector<Type> types{operands[0], operands[1], operands[2], op.getY().getType()};
    SmallVector<int64_t> scores(shapeOf(op.getQ()).drop_back());
    scores.push_back(shapeOf(op.getK()).drop_back().back());
    auto like = typeOf(op.getQ());
    types.push_back(makeTensorType(scores, like.getElementType(), like.getEncoding()));
    return timeOf(types, [&](TensorBuilder &b, Block &block) {
      Value q = block.getArgument(0), k = block.getArgument(1), v = block.getArgument(2),
            dy = block.getArgument(3), p = block.getArgument(4);
      Type wide = like.getElementType().isF64() ? like.getElementType()
                                                : Type(Float32Type::get(like.getContext()));
      Value dp = b.cast(b.make<MatmulOp>(dy, v, false, true), wide), full = b.cast(p, wide);
      Value share = b.reduce(ReduceKind::sum, b.make<MulOp>(dp, full), int64_t(scores.size()) - 1);
      Value ds = b.make<MulOp>(full, b.make<SubOp>(dp, share));
      ds = b.cast(b.make<MulOp>(ds, b.scalar(op.getScale().convertToDouble(), ds)),
                  like.getElementType());
      return SmallVector<Value>{b.make<MatmulOp>(ds, k, false, false),
                                b.make<MatmulOp>(ds, q, true, false),
                                b.make<MatmulOp>(p, dy, true, false)};
    });
  }

  AttentionOp op;
  StringRef accuracy;
  Costs &costs;
  SmallVector<Type> operands;
};

} // namespace

bool isFusedAttentionFaster(AttentionOp op, StringRef accuracy, Costs &costs, bool gradients) {
  return FusedAttentionComparison(op, accuracy, costs).isFusedAttentionFaster(gradients);
}

} // namespace dlc
