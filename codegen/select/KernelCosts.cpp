//===- KernelCosts.cpp - kernel costs for passes that choose by cost ------===//
#include "codegen/select/KernelCosts.h"

#include "codegen/cpu/contract/Contract.h"
#include "codegen/cpu/target/Native.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/providers/KernelOperations.h"
#include "codegen/select/Select.h"
#include "codegen/select/Tune.h"
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

  std::optional<KernelTime> operation(Operation *op, ArrayRef<Type> operands,
                                      ArrayRef<Type> results) override {
    if (auto function = dyn_cast<func::FuncOp>(op))
      return timeOfFunction(function);
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
    if (isa<ReorderOp>(op))
      return timeOfReorder(stage, results[0]);
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

private:
  static TargetCapabilities capabilitiesOf(const CompileOptions &options,
                                           const cpu::Target &target) {
    // CPUs are assumed to have only conversions for f16, so kernels for f16 are not fast.
    bool isOnGpu = can(options.device, DLC_DEVICE_GPU_CODE);
    using enum runtime::Feature;
    return {.generatesIntegerSums =
                !isOnGpu && !hasExactInt8Library() && cpu::supportsIntegerMatmul(target),
            .hasFastBf16 = isOnGpu || target.has(Avx512bf16) || target.has(AmxBf16),
            .hasFastF16 = isOnGpu,
            .maxBlockScaledRows = options.accuracy == "strict" ? 0 : blocks::maxRows(),
            .hasFusedAttention = llvm::any_of(providers(), [&](const Provider *provider) {
              return provider->hasFusedAttention() &&
                     (options.kernels.empty() || matchesProviderName(options.kernels, *provider));
            })};
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

  std::optional<KernelTime> timeOfReorder(OperationCopy &stage, Type to) {
    Block *block = stage.builder.getInsertionBlock();
    auto reorder =
        ReorderOp::create(stage.builder, stage.module->getLoc(), to, stage.values.front());
    if (!reorderToTranspose(stage.builder, reorder))
      return bestEstimate(reorder, true);
    reorder.erase();
    auto fusions = block->getOps<FusionOp>();
    return fusions.empty() ? KernelTime() : bestEstimate(*fusions.begin(), true);
  }

  /// Returns the total time of the kernels of the function's operations. With --kernels, each
  /// operation requires one of the requested kernels.
  std::optional<KernelTime> timeOfFunction(func::FuncOp function) {
    auto module = function->getParentOfType<ModuleOp>();
    if (options.tune || options.tuning.onMiss == TuningMissPolicy::Measure)
      measureMissingOperations(module);
    std::string warning;
    TuningDatabase database(getTuningDatabasePath(options), /*readOnly=*/true, warning);
    TuningConditions conditions = conditionsOf(module, options, target);
    KernelTime time{.measured = 0.0};
    for (Operation *op : findKernelOperations(module)) {
      std::string refusals;
      const TuningEntry *known = database.find(makeTuningKey(op, conditions));
      auto candidates = candidatesFor(op, options, target, /*every=*/known != nullptr, refusals);
      if (!options.kernels.empty())
        llvm::erase_if(candidates, [&](const Candidate &c) {
          return !matchesProviderName(options.kernels, *findProvider(c.kernel));
        });
      if (candidates.empty())
        return std::nullopt;
      if (known)
        applyMeasurement(*known, candidates);
      time += {candidates.front().estimate, candidates.front().measured};
    }
    return time;
  }

  /// Measures those operations of the module that are not in the tuning database.
  void measureMissingOperations(ModuleOp module) {
    // The measurement gets only a fraction of the tuning time, since the model itself is measured
    // later.
    constexpr double kPart = 0.1;
    CompileOptions part = options;
    part.tuning.budgetSeconds *= kPart;
    part.tuning.report = nullptr;
    part.progress = nullptr;
    (void)selectKernels(module, part, target);
  }

  std::optional<KernelTime> bestEstimate(Operation *op, bool generated) {
    std::string refusals;
    std::vector<Candidate> candidates =
        candidatesFor(op, options, target, /*every=*/false, refusals, generated);
    // On GPUs, a provider that --kernels requests is used wherever possible, so the costs of other
    // providers are irrelevant.
    if (isGpu(getEnclosingCommandDevice(op)))
      preferKernels(candidates, options.kernels);
    if (candidates.empty())
      return std::nullopt;
    return KernelTime{candidates.front().estimate};
  }

  CompileOptions options;
  cpu::Target target;
};

} // namespace

std::unique_ptr<Costs> createKernelCosts(const CompileOptions &options) {
  return std::make_unique<KernelCosts>(options, cpu::hostTarget());
}

} // namespace dlc
