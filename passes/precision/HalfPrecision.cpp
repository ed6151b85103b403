//===- HalfPrecision.cpp - computes 16-bit models in f32 on processors without 16-bit matmuls -===//
//
//   matmul(x, w) of f16  ->  cast(matmul(cast(x to f32), w in f32) to f16)
//
// Operations between such matmuls (or convolutions) are computed in f32, too. A value is rounded to
// 16 bits if another kind of operation reads it: a result of the function, a movement of a tensor
// that has 16 bits, or an operation that observes small differences (comparisons, roundings,
// conversions to integers). All other readers then see the rounded value as well. All optimizations
// for f32 thereby apply to a model in f16. The only difference is that values between these
// operations are not rounded. Functions without such operations keep their types: their kernels
// compute in f32 anyway (ExcessPrecision.cpp).
//
// Matmuls of few rows are bound by weight bandwidth, so that their weights stay in 16 bits, unless
// these are computed from fewer bits. Training programs are not changed, because loss scaling
// checks for values that exceed 16-bit types.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/Rounding.h"
#include "passes/TensorBuilder.h"
#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace dlc {
namespace {

Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

/// Returns the table of the f32 values of all 65,536 bit patterns of the 16-bit type.
const std::vector<float> &getHalfToFloatTable(FloatType half) {
  auto made = [](const llvm::fltSemantics &semantics) {
    std::vector<float> all(size_t(1) << 16);
    for (size_t bits = 0; bits < all.size(); ++bits) {
      APFloat number(semantics, APInt(16, bits));
      bool loses = false;
      number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
      all[bits] = number.convertToFloat();
    }
    return all;
  };
  if (half.isBF16()) {
    static const std::vector<float> all = made(APFloat::BFloat());
    return all;
  }
  static const std::vector<float> all = made(APFloat::IEEEhalf());
  return all;
}

ref::Tensor convertHalfToFloat(const ref::Tensor &halves) {
  auto type = halves.getType();
  ref::Tensor wide = ref::Tensor::empty(type.clone(Float32Type::get(type.getContext())));
  const std::vector<float> &means = getHalfToFloatTable(cast<FloatType>(type.getElementType()));
  auto *from = reinterpret_cast<const uint16_t *>(halves.data());
  auto *to = reinterpret_cast<float *>(wide.mutableData());
  for (int64_t i = 0; i < halves.size(); ++i)
    to[i] = means[from[i]];
  return wide;
}

/// Returns whether the matmul or attention has so few rows that it is bound by reading its second
/// operand.
bool isBoundByRightOperand(Operation *product) {
  if (auto matmul = dyn_cast<MatmulOp>(product))
    return isWeightBandwidthBound(matmul);
  if (!isa<AttentionOp, GroupedMatmulOp>(product))
    return false;
  ArrayRef<int64_t> shape = shapeOf(product->getResult(0));
  return shape.drop_back().back() <= kMaxWeightBoundRows;
}

class HalfPrecisionWidener {
public:
  explicit HalfPrecisionWidener(const Costs &costs) : capabilities(costs.capabilities()) {}

  void run(FunctionOpInterface function) {
    bool hasProducts = function
                           ->walk([&](Operation *op) {
                             bool isOne =
                                 precision::classOf(op) == NumericClass::Product &&
                                 hasSlowResults(op) && !precision::isStrictAccuracy(op) &&
                                 !(isBoundByRightOperand(op) && isStored(op->getOperand(1)));
                             return isOne ? WalkResult::interrupt() : WalkResult::advance();
                           })
                           .wasInterrupted();
    if (!hasProducts)
      return;
    for (Block &block : function.getFunctionBody())
      visit(block);
    roundObserved();
    for (Operation *op : llvm::reverse(replaced))
      if (op->use_empty())
        op->erase();
  }

private:
  /// Returns whether the type is a 16-bit float without fast matmul kernels on this CPU.
  bool isSlow(Type element) {
    if (!element.isF16() && !element.isBF16())
      return false;
    return !(element.isF16() ? capabilities.hasFastF16 : capabilities.hasFastBf16);
  }
  bool isSlow(Value value) { return isSlow(elementOf(value)); }

  /// Returns whether the value was computed in f32 by this pass, so that it is not a 16-bit
  /// constant or argument.
  bool isMadeWide(Value value) { return made.contains(value); }

  /// Returns whether the value is stored in 16 bits before the program runs.
  static bool isStored(Value value) {
    return isa<BlockArgument>(value) || value.getDefiningOp<ConstantOp>();
  }

  bool hasSlowResults(Operation *op) {
    return isa<FactsInterface>(op) && op->getNumRegions() == 0 &&
           llvm::any_of(op->getResults(), [&](Value y) { return isSlow(y); }) &&
           llvm::all_of(op->getResults(), [&](Value y) {
             return (isSlow(y) || elementOf(y).isF32()) && !isOnGpu(y);
           });
  }

  /// Returns whether this pass computes the operation in f32, with f32 results.
  bool isWide(Operation *op) {
    if (!hasSlowResults(op))
      return false;
    switch (precision::classOf(op)) {
    case NumericClass::Product:
      return !precision::isStrictAccuracy(op) &&
             !(isBoundByRightOperand(op) && !isMadeWide(op->getOperand(1)));
    case NumericClass::Layer:
      return true;
    case NumericClass::Smooth:
    case NumericClass::Full:
      if (op->hasTrait<NoGradient>() || isa<CastOp, RemOp>(op))
        return false;
      return op->hasTrait<Elementwise>() || op->hasTrait<FloatArithmetic>();
    case NumericClass::Exact: {
      bool any = false;
      for (Value operand : op->getOperands()) {
        any |= isMadeWide(operand);
        if (isSlow(operand) && !isMadeWide(operand) && !operand.getDefiningOp<ConstantOp>())
          return false;
      }
      return any && !op->hasTrait<NoGradient>() && !isa<TransferOp>(op);
    }
    }
    return false;
  }

  static RankedTensorType single(RankedTensorType type) {
    return withElement(type, Float32Type::get(type.getContext()));
  }
  static bool isOnGpu(Value value) { return can(deviceOf(value.getType()), DLC_DEVICE_GPU_CODE); }

  void visit(Block &block) {
    for (Operation &each : llvm::make_early_inc_range(block)) {
      Operation *op = &each;
      if (auto cast = dyn_cast<CastOp>(op); cast && visitCast(cast))
        continue;
      if (isWide(op)) {
        widen(op);
        continue;
      }
      for (OpOperand &operand : op->getOpOperands())
        if (isMadeWide(operand.get()))
          operand.set(narrowed(operand.get()));
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          visit(inner);
    }
  }

  /// Handles casts to and from 16 bits. If the value is available in f32, the cast is dropped.
  /// Integers, such as quantized weights, are converted to f32 directly. Returns false for other
  /// casts.
  bool visitCast(CastOp cast) {
    Value x = cast.getX(), y = cast.getY();
    if (isMadeWide(x) && elementOf(y).isF32()) {
      y.replaceAllUsesWith(wide.lookup(x));
      replaced.push_back(cast);
      return true;
    }
    if ((elementOf(x).isF32() || isa<IntegerType>(elementOf(x))) && isSlow(y) && !isOnGpu(y)) {
      OpBuilder builder(cast);
      made.insert(y);
      // A separate cast is created even if x is already f32, because the readers of y must be
      // distinguishable from other readers of x.
      auto single = CastOp::create(builder, cast.getLoc(), x, builder.getF32Type());
      wide[y] = single.getY();
      if (elementOf(x).isF32())
        copies.push_back(single);
      narrow[y] = y;
      replaced.push_back(cast);
      return true;
    }
    return false;
  }

  void widen(Operation *op) {
    OpBuilder builder(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isSlow(operand) ? widened(operand) : operand);
    Operation *clone = builder.clone(*op);
    clone->setOperands(operands);
    for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults())) {
      if (!isSlow(from)) {
        from.replaceAllUsesWith(to);
        continue;
      }
      to.setType(single(typeOf(from)));
      made.insert(from);
      wide[from] = to;
    }
    replaced.push_back(op);
  }

  OpBuilder after(Value value) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    return builder;
  }

  Value widened(Value value) {
    Value &form = wide[value];
    if (form)
      return form;
    OpBuilder builder = after(value);
    auto constant = value.getDefiningOp<ConstantOp>();
    if (auto halves = constant ? constantTensor(value) : std::nullopt) {
      return form = makeConstant(builder, value.getLoc(), convertHalfToFloat(*halves),
                                 single(typeOf(value)));
    }
    return form = TensorBuilder(builder, value.getLoc()).cast(value, builder.getF32Type());
  }

  Value narrowed(Value value) {
    observed.insert(value);
    Value &form = narrow[value];
    if (form)
      return form;
    OpBuilder builder = after(wide.lookup(value));
    return form = TensorBuilder(builder, value.getLoc()).cast(wide.lookup(value), elementOf(value));
  }

  /// Gives all readers of a value the same precision: if one of them reads the value in 16 bits,
  /// the readers in f32 get the rounded value. This also applies to the operands of an operation
  /// that returns their elements.
  void roundObserved() {
    SmallVector<Value> reached(observed.begin(), observed.end());
    while (!reached.empty()) {
      Operation *op = reached.pop_back_val().getDefiningOp();
      if (!op || !commutesWithRounding(op))
        continue;
      for (Value operand : op->getOperands()) {
        if (!isMadeWide(operand) || observed.contains(operand))
          continue;
        reached.push_back(operand);
        if (llvm::any_of(operand.getUsers(), [&](Operation *user) { return user != op; }))
          narrowed(operand);
      }
    }
    for (Value value : observed) {
      Value half = narrow.lookup(value), single = wide.lookup(value);
      if (single.use_empty() ||
          (single.hasOneUse() && half.getDefiningOp() == *single.user_begin()))
        continue;
      OpBuilder builder = after(half);
      Value rounded = CastOp::create(builder, value.getLoc(), half, builder.getF32Type());
      single.replaceUsesWithIf(rounded, [&](OpOperand &use) {
        return use.getOwner() != half.getDefiningOp() && use.getOwner() != rounded.getDefiningOp();
      });
    }
    for (CastOp copy : copies) {
      copy.getY().replaceAllUsesWith(copy.getX());
      copy.erase();
    }
  }

  const TargetCapabilities &capabilities;
  llvm::DenseSet<Value> made;
  llvm::DenseMap<Value, Value> wide, narrow; ///< by original 16-bit value: f32 value, rounded value
  llvm::SetVector<Value> observed;           ///< values that an operation reads in 16 bits
  SmallVector<CastOp> copies;                ///< casts from f32 to f32, erased at the end
  SmallVector<Operation *> replaced;
};

struct HalfPrecisionPass : OptionPass<HalfPrecisionPass> {
  HalfPrecisionPass(const ModelOptions &options, CostsFactory kernels)
      : OptionPass("dlc-half-precision",
                   "computes matmuls and convolutions of 16-bit floats in f32 if no kernel "
                   "multiplies them",
                   {"device", "place", "accuracy"}, options),
        kernels(std::move(kernels)) {}
  HalfPrecisionPass(const HalfPrecisionPass &other) : OptionPass(other), kernels(other.kernels) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    if (!options.place.empty() || options.accuracy == "strict" ||
        can(options.device, DLC_DEVICE_GPU_CODE))
      return success();
    bool trains = module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (trains)
      return success();
    std::unique_ptr<Costs> costs = makeCosts(which, kernels, options, module);
    if (!costs)
      return failure();
    module->walk([&](FunctionOpInterface function) {
      if (!function.isExternal())
        HalfPrecisionWidener(*costs).run(function);
    });
    return success();
  }

  Option<std::string> which{*this, "costs", llvm::cl::desc(kCostsHelp), llvm::cl::init("kernels")};
  CostsFactory kernels;
};

} // namespace

std::unique_ptr<Pass> createHalfPrecisionPass(const ModelOptions &options, CostsFactory kernels) {
  return std::make_unique<HalfPrecisionPass>(options, std::move(kernels));
}

} // namespace dlc
