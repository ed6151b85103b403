//===- KernelCosts.cpp - kernel costs for passes that choose by cost ------===//
#include "codegen/select/KernelCosts.h"

#include "codegen/cpu/contract/Contract.h"
#include "codegen/cpu/target/Native.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/select/FusedAttention.h"
#include "codegen/select/candidates/Candidates.h"
#include "ir/dlc/Contraction.h"
#include "passes/ConstantRewrites.h"
#include "passes/Devices.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/layouts/TransposeReorders.h"
#include "runtime/library/blocks/Describe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {

namespace {

/// Function that contains a copy of one operation with operands of other types. Constant operands
/// are copied if their type is the same.
struct OperationCopy {
  OperationCopy(Operation *op, ArrayRef<Type> operands) : builder(op->getContext()) {
    module = ModuleOp::create(op->getLoc());
    copyAccuracy(op, *module);
    builder.setInsertionPointToEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(builder, op->getLoc(), "main",
                                               builder.getFunctionType(operands, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      bool asItIs = constant && operand.getType() == operands[i];
      values.push_back(asItIs ? builder.clone(*constant)->getResult(0)
                              : Value(block->getArgument(unsigned(i))));
    }
  }

  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  SmallVector<Value> values;
};

class KernelCosts : public Costs {
public:
  KernelCosts(const CompileOptions &options, const cpu::Target &target)
      : Costs(capabilitiesOf(options, target)), options(options), target(target) {}

  std::optional<double> operation(Operation *op, ArrayRef<Type> operands,
                                  ArrayRef<Type> results) override {
    if (isIntegerContraction(op) && !hasIntegerKernel(op))
      return std::nullopt;
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    OperationCopy stage(op, operands);
    // Recurrent layers are not fused.
    if (isa<LstmOp, GruOp, RnnOp>(op)) {
      Operation *copy = stage.builder.clone(*op);
      copy->setOperands(stage.values);
      return bestEstimate(copy, /*generated=*/true);
    }
    auto fusion = FusionOp::create(stage.builder, op->getLoc(), results, stage.values);
    Block &body =
        fusion.getBody().empty() ? fusion.getBody().emplaceBlock() : fusion.getBody().front();
    body.clear();
    IRMapping map;
    for (Value value : stage.values)
      body.addArgument(value.getType(), value.getLoc());
    stage.builder.setInsertionPointToEnd(&body);
    Operation *inner = stage.builder.clone(*op, map);
    for (unsigned i = 0; i < inner->getNumOperands(); ++i)
      inner->setOperand(i, body.getArgument(i));
    for (auto [result, type] : llvm::zip(inner->getResults(), results))
      result.setType(type);
    YieldOp::create(stage.builder, op->getLoc(), inner->getResults());
    // For CPUs, code is generated only for row-major layouts, for which there may be no suitable
    // library; for GPUs, it is generated for any layout.
    bool generated = isGpu(getEnclosingCommandDevice(fusion)) ||
                     llvm::all_of(llvm::concat<const Type>(operands, results),
                                  [](Type type) { return layoutOf(type).empty(); });
    return bestEstimate(fusion, generated);
  }

  std::optional<LayoutPair> preferredLayouts(Operation *op, const LayoutQuery &query) override {
    if (estimateLowerBound(op) >= query.maxCost)
      return std::nullopt;
    for (const Provider *provider : providers())
      if (auto layouts = provider->preferredLayouts(op, query.required, options.threads))
        return layouts;
    return std::nullopt;
  }

  double reorder(Type from, Type to) override {
    MLIRContext *context = from.getContext();
    OpBuilder builder(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    builder.setInsertionPointToEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(builder, module->getLoc(), "main",
                                               builder.getFunctionType({from}, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    auto reorder = ReorderOp::create(builder, module->getLoc(), to, block->getArgument(0));
    if (reorderToTranspose(builder, reorder)) {
      reorder.erase();
      auto fusions = block->getOps<FusionOp>();
      return fusions.empty() ? 0 : bestEstimate(*fusions.begin(), true).value_or(1e6);
    }
    return bestEstimate(reorder, true).value_or(1e6);
  }

  bool prefersFusedAttention(Operation *op, bool gradients, bool preferred) override {
    Type element = typeOf(op->getOperand(0)).getElementType();
    if ((!element.isF32() && !element.isBF16()) ||
        llvm::none_of(providers(), [](const Provider *p) { return p->hasFusedAttention(); }))
      return false;
    if (!options.kernels.empty())
      return llvm::any_of(providers(), [&](const Provider *provider) {
        return matchesProviderName(options.kernels, *provider) && provider->hasFusedAttention();
      });
    auto attention = dyn_cast<AttentionOp>(op);
    if (!attention || preferred)
      return true;
    // Results are cached, since a model has many attention operations of the same kind.
    AttentionQuery question{op->getAttrDictionary(), SmallVector<Type>(op->getOperandTypes()),
                            gradients};
    auto known = llvm::find_if(answers, [&](auto &each) { return each.first == question; });
    if (known == answers.end())
      known = answers.insert(
          answers.end(), {question, isFusedAttentionFaster(attention, options, target, gradients)});
    return known->second;
  }

private:
  struct AttentionQuery {
    DictionaryAttr attributes;
    SmallVector<Type> operands;
    bool gradients;
    bool operator==(const AttentionQuery &) const = default;
  };

  static TargetCapabilities capabilitiesOf(const CompileOptions &options,
                                           const cpu::Target &target) {
    // CPUs are assumed to have only conversions for f16, so kernels for f16 are not fast.
    bool isOnGpu = can(options.device, DLC_DEVICE_GPU_CODE);
    using enum runtime::Feature;
    return {.generatesIntegerSums =
                !isOnGpu && !hasExactInt8Library() && cpu::supportsIntegerMatmul(target),
            .hasFastBf16 = isOnGpu || target.has(Avx512bf16) || target.has(AmxBf16),
            .hasFastF16 = isOnGpu,
            .maxBlockScaledRows = options.accuracy == "strict" ? 0 : blocks::maxRows()};
  }

  /// Returns whether the device has a kernel that multiplies and sums 8-bit integers, for an
  /// operation that may not be placed yet.
  bool hasIntegerKernel(Operation *op) {
    if (can(options.device, DLC_DEVICE_GPU_CODE))
      return multipliesBytes(options.device, options.gpuArch, op);
    if (isa<MatmulOp>(op))
      return hasExactInt8Library() || capabilities().generatesIntegerSums;
    return hasExactInt8Library() && preferredLayouts(op, {});
  }

  /// Returns a lower bound on the time of the operation in any layout except row-major, computed
  /// without a query.
  double estimateLowerBound(Operation *op) {
    auto transposed = dyn_cast<ConvTransposeOp>(op);
    if (!transposed || !typeOf(transposed.getY()).getElementType().isF32() ||
        llvm::all_of(transposed.getStrides(), [](int64_t stride) { return stride == 1; }))
      return 0;
    RankedTensorType x = typeOf(transposed.getX()), w = typeOf(transposed.getW());
    double flops =
        2.0 * double(x.getNumElements()) * double(w.getNumElements()) / double(w.getDimSize(0));
    CostModel cost(chooseProfile(options, target), target, options.threads);
    return cost.lowerBoundTransposed(flops);
  }

  std::optional<double> bestEstimate(Operation *op, bool generated) {
    std::string refusals;
    std::vector<Candidate> candidates =
        candidatesFor(op, options, target, /*every=*/false, refusals, generated);
    // On GPUs, a provider that --kernels requests is used wherever possible, so the costs of other
    // providers are irrelevant.
    if (isGpu(getEnclosingCommandDevice(op)))
      preferKernels(candidates, options.kernels);
    if (candidates.empty())
      return std::nullopt;
    return candidates.front().estimate;
  }

  CompileOptions options;
  cpu::Target target;
  std::vector<std::pair<AttentionQuery, bool>> answers;
};

} // namespace

std::unique_ptr<Costs> createKernelCosts(const CompileOptions &options) {
  return std::make_unique<KernelCosts>(options, cpu::hostTarget());
}

} // namespace dlc
