//===- Expand.cpp - quantized operations as elementwise operations --------===//
//
//   dequantize x, s, z      ->  ((x in i32) - z) in s's type * s
//   quantize x, s, z        ->  clamp(round(x / s) + z, low, high)
//   dynamic_quantize x      ->  the range's scale and zero point, and a quantize
//
// An axis with blocks is split into two dimensions if the block size divides it; otherwise scales
// and zero points are repeated for the elements of their block. 4-bit values are first cast to 8
// bits.
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Expand.h"

#include "ir/dlc/Infer.h"
#include "passes/Passes.h"
#include "passes/QuantizedWeights.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace dlc {
namespace {

bool isFloat(Value v) { return isa<FloatType>(typeOf(v).getElementType()); }

class QuantizeExpander {
public:
  explicit QuantizeExpander(Operation *op) : QuantizeExpander(OpBuilder(op), op->getLoc()) {}
  QuantizeExpander(const OpBuilder &at, Location loc) : builder(at), b(builder, loc) {}

  void expand(DequantizeOp op) {
    Value scale = perBlock(op, op.getScale()), zero = perBlock(op, op.getZeroPoint());
    Type element = typeOf(scale).getElementType();
    Value x = split(op, unpacked(op.getX()));
    x = zero && isFloat(zero) ? b.make<SubOp>(b.cast(x, element), zero)
                              : b.cast(subtractZeroPoint(x, zero), element);
    replace(op, merged(op, b.make<MulOp>(x, scale)));
  }

  void expand(QuantizeOp op) { replace(op, b.make<CastOp>(rounded(op), op.getTo())); }

  /// Returns the rounded and clamped values of a quantization before the cast to integers.
  Value rounded(QuantizeOp op) {
    Value scale = perBlock(op, op.getScale()), zero = perBlock(op, op.getZeroPoint());
    bool isF64 = typeOf(op.getX()).getElementType().isF64();
    Type wide = isF64 ? Type(builder.getF64Type()) : builder.getF32Type();
    Value y = b.cast(split(op, op.getX()), wide);
    if (op.getReciprocal())
      y = b.make<MulOp>(y, folded(b.cast(folded(b.make<DivOp>(b.scalar(1, scale), scale)), wide)));
    else
      y = b.make<DivOp>(y, folded(b.cast(scale, wide)));
    auto shift = [&] {
      if (zero)
        y = b.make<AddOp>(y, folded(b.cast(unpacked(zero), wide)));
    };
    if (op.getZeroPointFirst())
      shift();
    y = b.make<RoundOp>(y);
    if (!op.getZeroPointFirst())
      shift();
    auto [low, high] = integerRange(cast<IntegerType>(op.getTo()));
    y = b.make<MaxOp>(y, b.scalar(double(int64_t(op.getLow().value_or(uint64_t(low)))), y));
    y = b.make<MinOp>(y, b.scalar(double(int64_t(op.getHigh().value_or(uint64_t(high)))), y));
    return merged(op, y);
  }

  void expand(DynamicQuantizeOp op) {
    Value x = op.getX(), none = b.scalar(0, x);
    SmallVector<int64_t> axes(typeOf(x).getRank());
    std::iota(axes.begin(), axes.end(), 0);
    bool isWhole = !op.getAxes();
    if (!isWhole)
      axes.assign(op.getAxes()->begin(), op.getAxes()->end());
    auto extreme = [&](ReduceKind kind) { return b.make<ReduceOp>(kind, x, axes, !isWhole); };
    Value high = b.make<MaxOp>(extreme(ReduceKind::max), none),
          low = b.make<MinOp>(extreme(ReduceKind::min), none);
    Value scale = b.make<DivOp>(b.make<SubOp>(high, low), b.scalar(255, x));
    // If all values are 0, the range is empty and the scale is 0. The scale is then replaced by 1,
    // because 0 is quantized to the zero point with any scale.
    Value isEmpty = b.make<CompareOp>(Predicate::eq, scale, none);
    Value one = b.broadcast(b.scalar(1, x), shapeOf(scale));
    Value safe = b.make<SelectOp>(isEmpty, one, scale);
    Value least = b.make<SubOp>(none, b.make<DivOp>(low, safe));
    least = b.make<MinOp>(b.make<MaxOp>(least, none), b.scalar(255, x));
    Type u8 = typeOf(op.getY()).getElementType();
    Value zero = b.cast(b.make<RoundOp>(least), u8);
    Value y = b.make<QuantizeOp>(x, safe, zero, TypeAttr::get(u8), IntegerAttr(), IntegerAttr(),
                                 IntegerAttr(), IntegerAttr(), UnitAttr(), UnitAttr());
    auto quantize = y.getDefiningOp<QuantizeOp>();
    op.replaceAllUsesWith(ValueRange{y, scale, zero});
    op.erase();
    QuantizeExpander(quantize).expand(quantize);
  }

  /// Returns x in i32 minus the zero point (null means 0).
  Value subtractZeroPoint(Value x, Value zero) {
    Type i32 = builder.getI32Type();
    x = b.cast(unpacked(x), i32);
    return zero ? b.make<SubOp>(x, folded(b.cast(unpacked(zero), i32))) : x;
  }

private:
  void replace(Operation *op, Value y) {
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
  }

  /// Returns the constant to which an operation on constants evaluates, if its result is small.
  /// Returns other values unchanged.
  Value folded(Value value) {
    constexpr int64_t kMax = int64_t(16) << 20;
    bool isSmall = typeOf(value).hasStaticShape() && typeOf(value).getNumElements() <= kMax;
    return isSmall ? constant(value) : value;
  }

  Value constant(Value value) {
    Value made = foldToConstant(builder, value);
    Operation *op = value.getDefiningOp();
    if (made != value && op->use_empty())
      op->erase();
    return made;
  }

  Value unpacked(Value x) { return quantize::unpacked(builder, x); }

  /// Returns the block size if it divides the size of the axis, which is then split into two
  /// dimensions; otherwise 0.
  template <typename Op> int64_t wholeBlocks(Op op) {
    if (!op.getBlockSize() || !typeOf(op.getX()).hasStaticShape())
      return 0;
    const auto block = int64_t(*op.getBlockSize());
    return shapeOf(op.getX())[*op.getAxis()] % block == 0 ? block : 0;
  }

  template <typename Op> Value split(Op op, Value x) {
    const int64_t block = wholeBlocks(op);
    if (!block)
      return x;
    const auto axis = int64_t(*op.getAxis());
    SmallVector<int64_t> shape(shapeOf(x));
    shape[axis] /= block;
    shape.insert(shape.begin() + axis + 1, block);
    return folded(b.reshape(x, shape));
  }

  template <typename Op> Value merged(Op op, Value y) {
    return wholeBlocks(op) ? b.reshape(y, shapeOf(op.getX())) : y;
  }

  /// Returns a scale or zero point that broadcasts to split(x). If the last block is shorter than
  /// the others, each scale or zero point is repeated for all elements of its block instead.
  template <typename Op> Value perBlock(Op op, Value each) {
    if (!each || !op.getBlockSize() || typeOf(each).getRank() == 0)
      return each;
    const auto axis = int64_t(*op.getAxis()), block = int64_t(*op.getBlockSize());
    SmallVector<int64_t> shape(shapeOf(each));
    if (!wholeBlocks(op) && shape[axis] == 1)
      return each;
    shape.insert(shape.begin() + axis + 1, 1);
    each = folded(b.reshape(unpacked(each), shape));
    if (wholeBlocks(op))
      return each;
    shape[axis + 1] = block;
    each = folded(b.broadcast(each, shape));
    shape.erase(shape.begin() + axis + 1);
    shape[axis] *= block;
    each = folded(b.reshape(each, shape));
    SmallVector<int64_t> start(shape.size(), 0), stride(shape.size(), 1);
    shape[axis] = shapeOf(op.getX())[axis];
    return folded(b.make<SliceOp>(each, start, shape, stride));
  }

  OpBuilder builder;
  TensorBuilder b;
};

struct ExpandQuantizedPass : PassWrapper<ExpandQuantizedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandQuantizedPass)

  StringRef getArgument() const final { return "dlc-expand-quantized"; }
  StringRef getDescription() const final {
    return "spells out dlc.quantize, dlc.dequantize and dlc.dynamic_quantize as casts and "
           "arithmetic, except for weights that kernels read quantized";
  }

  void runOnOperation() final {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<QuantizeOp, DequantizeOp, DynamicQuantizeOp>(op) &&
          !isQuantizedWeights(op->getResult(0)))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op).Case<QuantizeOp, DequantizeOp, DynamicQuantizeOp>(
          [](auto each) { QuantizeExpander(each).expand(each); });
  }
};

} // namespace

Value quantize::unpacked(OpBuilder &builder, Value x) {
  Type element = typeOf(x).getElementType();
  if (!ref::isPackedElement(element))
    return x;
  Value wide = TensorBuilder(builder, x.getLoc()).cast(x, withEightBits(element));
  Value made = foldToConstant(builder, wide);
  if (made != wide)
    wide.getDefiningOp()->erase();
  return made;
}

void quantize::unpackOperands(Operation *contraction) {
  OpBuilder builder(contraction);
  for (OpOperand &operand : contraction->getOpOperands())
    operand.set(unpacked(builder, operand.get()));
}

Value quantize::subtractZeroPoint(OpBuilder &builder, Location loc, Value x, Value zeroPoint) {
  return QuantizeExpander(builder, loc).subtractZeroPoint(x, zeroPoint);
}

Value quantize::roundedValues(QuantizeOp op) { return QuantizeExpander(op).rounded(op); }

std::unique_ptr<Pass> createExpandQuantizedPass() {
  return std::make_unique<ExpandQuantizedPass>();
}

} // namespace dlc
