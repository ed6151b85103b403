//===- FusedAttention.cpp - attention as one kernel, or as matmuls and a softmax --===//
//
// A fused kernel does not store the scores, but its matmuls are computed in blocks. Separate
// kernels use a library's matmuls, but write and read all scores. Both variants are built in
// separate modules, and the sums of their kernels' times are compared: measured times if the tuning
// database has all of them (with `--tune`, they are measured now), otherwise estimates.
//
//===-----------------------------------------------------------------------===//
#include "codegen/select/FusedAttention.h"

#include "codegen/select/Select.h"
#include "codegen/select/Tune.h"
#include "codegen/select/candidates/Candidates.h"
#include "ir/dlc/Attributes.h"
#include "passes/Compositions.h"
#include "passes/ConstantRewrites.h"
#include "passes/Passes.h"
#include "passes/fuse/attention/FusedAttention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace dlc {

namespace {

using Build = llvm::function_ref<SmallVector<Value>(TensorBuilder &, Block &)>;

/// Total microseconds of the kernels of a variant (fused or separate).
struct VariantTimes {
  double estimated = 0;
  std::optional<double> measured = 0.0;

  void add(const Candidate &best) {
    estimated += best.estimate;
    measured = measured && best.measured ? std::optional(*measured + *best.measured) : std::nullopt;
  }
  static std::optional<VariantTimes> sum(std::optional<VariantTimes> a,
                                         std::optional<VariantTimes> b) {
    if (!a || !b)
      return std::nullopt;
    return VariantTimes{a->estimated + b->estimated,
                        a->measured && b->measured ? std::optional(*a->measured + *b->measured)
                                                   : std::nullopt};
  }
};

/// Measures those operations of the module that are not in the tuning database.
void measureMissingOperations(ModuleOp module, CompileOptions options, const cpu::Target &target) {
  // The measurement gets only a fraction of the tuning time, since the model itself is measured
  // later.
  constexpr double kPart = 0.1;
  options.tuning.budgetSeconds *= kPart;
  options.tuning.report = nullptr;
  options.progress = nullptr;
  (void)selectKernels(module, options, target);
}

/// Builds a function by `build` from operands of these types and returns the total time of the best
/// kernels for its operations; std::nullopt if an operation has no kernel.
std::optional<VariantTimes> timesOf(Location loc, ArrayRef<Type> operands,
                                    const CompileOptions &options, const cpu::Target &target,
                                    Build build) {
  ScopedDiagnosticHandler quiet(loc.getContext(), [](Diagnostic &) { return success(); });
  OpBuilder builder(loc.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  setAccuracy(*module, options.accuracy);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType(operands, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  TensorBuilder b(builder, loc);
  SmallVector<Value> results = build(b, *block);
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(builder.getFunctionType(operands, ValueRange(results).getTypes()));
  PassManager manager(loc.getContext(), ModuleOp::getOperationName());
  manager.addPass(createDecomposePass());
  manager.addPass(createFusePass());
  if (failed(manager.run(*module)))
    return std::nullopt;
  if (options.tune || options.tuning.onMiss == TuningMissPolicy::Measure)
    measureMissingOperations(*module, options, target);
  std::string warning;
  TuningDatabase database(getTuningDatabasePath(options), /*readOnly=*/true, warning);
  TuningConditions conditions = conditionsOf(*module, options, target);
  std::optional<VariantTimes> times = VariantTimes();
  module->walk<WalkOrder::PreOrder>([&](FusionOp fusion) {
    std::string refusals;
    const TuningEntry *known = database.find(makeTuningKey(fusion, conditions));
    auto candidates = candidatesFor(fusion, options, target, /*every=*/known != nullptr, refusals);
    if (candidates.empty()) {
      times = std::nullopt;
      return WalkResult::interrupt();
    }
    if (known)
      applyMeasurement(*known, candidates);
    times->add(candidates.front());
    return WalkResult::skip();
  });
  return times;
}

/// Marks an operation to remain one fused kernel, and returns it.
Operation *markAsFused(Operation *op) {
  op->setAttr(kKeepFusedAttr, UnitAttr::get(op->getContext()));
  return op;
}

class FusedAttentionComparison {
public:
  FusedAttentionComparison(AttentionOp op, const CompileOptions &options, const cpu::Target &target)
      : op(op), options(options), target(target), operands(op->getOperandTypes()) {}

  bool isFusedAttentionFaster(bool gradients) {
    std::optional<VariantTimes> whole = gradients ? wholeTraining() : this->whole(),
                                parts = this->parts();
    if (gradients)
      parts = VariantTimes::sum(parts, partsBackward());
    if (!whole || !parts)
      return whole.has_value();
    return whole->measured && parts->measured ? *whole->measured < *parts->measured
                                              : whole->estimated < parts->estimated;
  }

private:
  Value mask(Block &block) { return op.getMask() ? Value(block.getArgument(3)) : Value(); }

  std::optional<VariantTimes> whole() {
    return timesOf(op.getLoc(), operands, options, target, [&](TensorBuilder &, Block &block) {
      OpBuilder builder = OpBuilder::atBlockEnd(&block);
      auto made =
          AttentionOp::create(builder, op.getLoc(), block.getArgument(0), block.getArgument(1),
                              block.getArgument(2), mask(block), op.getScale(), op.getCausal());
      return SmallVector<Value>(markAsFused(made)->getResults());
    });
  }

  std::optional<VariantTimes> wholeTraining() {
    SmallVector<Type> types = operands;
    types.push_back(op.getY().getType());
    return timesOf(op.getLoc(), types, options, target, [&](TensorBuilder &, Block &block) {
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

  std::optional<VariantTimes> parts() {
    return timesOf(op.getLoc(), operands, options, target, [&](TensorBuilder &b, Block &block) {
      AttentionScoreOperands from{block.getArgument(0), block.getArgument(1), mask(block),
                                  op.getScale().convertToDouble(), op.getCausal()};
      return SmallVector<Value>{
          b.make<MatmulOp>(buildAttentionWeights(b, from), block.getArgument(2), false, false)};
    });
  }

  /// Returns the time of the backward pass as separate operations, built as in passes/grad, from
  /// the attention weights that the forward pass saved.
  std::optional<VariantTimes> partsBackward() {
    SmallVector<Type> types{operands[0], operands[1], operands[2], op.getY().getType()};
    SmallVector<int64_t> scores(shapeOf(op.getQ()).drop_back());
    scores.push_back(shapeOf(op.getK()).drop_back().back());
    auto like = typeOf(op.getQ());
    types.push_back(RankedTensorType::get(scores, like.getElementType(), like.getEncoding()));
    return timesOf(op.getLoc(), types, options, target, [&](TensorBuilder &b, Block &block) {
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
  const CompileOptions &options;
  const cpu::Target &target;
  SmallVector<Type> operands;
};

} // namespace

bool isFusedAttentionFaster(AttentionOp op, const CompileOptions &options,
                            const cpu::Target &target, bool gradients) {
  return FusedAttentionComparison(op, options, target).isFusedAttentionFaster(gradients);
}

} // namespace dlc
