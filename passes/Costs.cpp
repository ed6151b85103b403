//===- Costs.cpp - costs that do not depend on available kernels ----------===//
#include "passes/Costs.h"

#include "ir/dlc/Contraction.h"
#include "passes/Devices.h"
#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc {

namespace {

class AssumedCosts : public Costs {
public:
  explicit AssumedCosts(const TargetCapabilities &capabilities = {}) : Costs(capabilities) {}

  std::optional<KernelTime> operation(Operation *op, ArrayRef<Type> operands,
                                      ArrayRef<Type> results) override {
    if (isa<FunctionOpInterface>(op))
      return std::nullopt;
    if (isa<ReorderOp>(op))
      return KernelTime{reorder(cast<RankedTensorType>(operands[0]))};
    bool isGradient = isa<ConvWeightGradOp>(op);
    auto y = typeOf(isGradient ? op->getOperand(1) : op->getResult(0));
    auto weights = typeOf(isGradient ? op->getResult(0) : op->getOperand(1));
    double products = double(y.getNumElements()) * double(weights.getNumElements()) /
                      double(std::max<int64_t>(1, y.getDimSize(1)));
    // Tensor cores process channels in groups of kTogether. Other channel counts are padded to a
    // multiple of kTogether, which takes additional time.
    if (int64_t own = weights.getRank() > 2 ? weights.getDimSize(1) : 0;
        own > 1 && own % kTogether && can(deviceOf(y), DLC_DEVICE_GPU_CODE))
      products *= 2 * double(llvm::alignTo(own, kTogether)) / double(own);
    bool isPlain = llvm::all_of(llvm::concat<const Type>(operands, results),
                                [](Type type) { return layoutOf(type).empty(); });
    return KernelTime{2 * products / kGflops / 1e3 * (isPlain ? 2 : 1) + kCall};
  }

  std::optional<LayoutPair> preferredLayouts(Operation *op, const LayoutQuery &query) override {
    RankedTensorType x = typeOf(op->getOperand(0));
    if (!x.hasStaticShape() || !typeOf(op->getResult(0)).hasStaticShape() || x.getRank() < 3 ||
        x.getRank() > 5 || x.getNumElements() == 0)
      return std::nullopt;
    if (query.required)
      return query.required;
    static constexpr const char *kBlocked[] = {"aBc16b", "aBcd16b", "aBcde16b"};
    std::string blocked = kBlocked[x.getRank() - 3];
    return LayoutPair{x.getDimSize(1) < kTogether ? "" : blocked, blocked};
  }

private:
  static double reorder(RankedTensorType type) {
    double bytes = double(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
    return 2 * bytes / kGigabytes / 1e3 + kCall;
  }

  static constexpr int64_t kTogether = 8;
  static constexpr double kGflops = 200, kGigabytes = 20, kCall = 2;
};

/// AssumedCosts for a CPU without a library kernel for exact 8-bit integer contractions: these run
/// as generated code, which supports matmuls, but no convolutions.
class GeneratedIntegerCosts : public AssumedCosts {
public:
  GeneratedIntegerCosts() : AssumedCosts({.generatesIntegerSums = true}) {}

  std::optional<KernelTime> operation(Operation *op, ArrayRef<Type> operands,
                                      ArrayRef<Type> results) override {
    return isIntegerContraction(op) && isa<ConvOp>(op)
               ? std::nullopt
               : AssumedCosts::operation(op, operands, results);
  }
};

} // namespace

bool isWeightBandwidthBound(MatmulOp product, int64_t maxRows) {
  constexpr int64_t kMin = 4096;
  auto weights = typeOf(product.getB());
  return weights.hasStaticShape() && weights.getNumElements() >= kMin &&
         typeOf(product.getY()).getShape().drop_back().back() <= maxRows;
}

bool hasKernel(Costs &costs, Operation *op) {
  return costs
      .operation(op, SmallVector<Type>(op->getOperandTypes()),
                 SmallVector<Type>(op->getResultTypes()))
      .has_value();
}

double reorderTime(Costs &costs, Type from, Type to) {
  // Used for types that no kernel reorders, so that another layout is chosen.
  constexpr double kUnsupported = 1e6;
  Location loc = UnknownLoc::get(from.getContext());
  OpBuilder builder(from.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({from}, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  auto reorder = ReorderOp::create(builder, loc, to, block->getArgument(0));
  std::optional<KernelTime> time = costs.operation(reorder, {from}, {to});
  return time ? time->estimated : kUnsupported;
}

std::unique_ptr<Costs> assumedCosts(const ModelOptions &) {
  return std::make_unique<AssumedCosts>();
}

std::unique_ptr<Costs> makeCosts(StringRef name, const CostsFactory &kernels,
                                 const ModelOptions &options, Operation *op) {
  if (name == "kernels")
    return kernels(options);
  if (name == "assumed")
    return assumedCosts(options);
  if (name == "generated-sums")
    return std::make_unique<GeneratedIntegerCosts>();
  op->emitError("costs '") << name << "': required: kernels, assumed or generated-sums";
  return nullptr;
}

} // namespace dlc
