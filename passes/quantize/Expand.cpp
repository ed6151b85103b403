//===- Expand.cpp - quantized operations as elementwise operations --------===//
//
//   dequantize x, s, z      ->  ((x in i32) - z) in s's type * s
//   quantize x, s, z        ->  clamp(round(x / s) + z, low, high)
//   dynamic_quantize x      ->  the range's scale and zero point, and a quantize
//   matmul a, b of 8 bits   ->  matmul (a in i32) - a_zero_point, (b in i32) - b_zero_point
//
// Scales and zero points per block are repeated for the elements of their block. Constant matrices
// in blocks become [n, blocks, depth] instead, the form of passes/ScaledBlocks.h. Values of 4 bits
// become 8 bits wide first.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Infer.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace dlc {
namespace {

bool isFloat(Value v) { return isa<FloatType>(typeOf(v).getElementType()); }

class Expander {
public:
  explicit Expander(Operation *op) : builder(op), b(builder, op->getLoc()) {}

  void expand(DequantizeOp op) {
    Value y = constantBlocks(op);
    if (!y) {
      Value scale = repeated(op, op.getScale()), zero = repeated(op, op.getZeroPoint());
      Type element = typeOf(scale).getElementType();
      Value x = unpacked(op.getX());
      if (zero && isFloat(zero))
        x = b.make<SubOp>(b.cast(x, element), zero);
      else
        x = b.cast(centered(x, zero), element);
      y = b.make<MulOp>(x, scale);
    }
    replace(op, y);
  }

  void expand(QuantizeOp op) {
    Value scale = repeated(op, op.getScale()), zero = repeated(op, op.getZeroPoint());
    bool isF64 = typeOf(op.getX()).getElementType().isF64();
    Type wide = isF64 ? Type(builder.getF64Type()) : builder.getF32Type();
    Value y = b.cast(op.getX(), wide);
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
    replace(op, b.make<CastOp>(y, op.getTo()));
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
    // An empty range: with any scale, the values are 0.
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
    Expander(quantize).expand(quantize);
  }

  void expand(MatmulOp op) {
    if (!isNarrowInteger(typeOf(op.getA()).getElementType()))
      return;
    Value y = b.make<MatmulOp>(centered(unpacked(op.getA()), op.getAZeroPoint()),
                               centered(unpacked(op.getB()), op.getBZeroPoint()),
                               op.getTransposeA(), op.getTransposeB());
    y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replace(op, y);
  }

  void expand(ConvOp op) {
    if (!isNarrowInteger(typeOf(op.getX()).getElementType()))
      return;
    Value zero = op.getWZeroPoint();
    if (zero && typeOf(zero).getRank() == 1) {
      SmallVector<int64_t> shape(typeOf(op.getW()).getRank(), 1);
      shape[0] = shapeOf(zero)[0];
      zero = folded(b.reshape(unpacked(zero), shape));
    }
    Value y = b.make<ConvOp>(centered(unpacked(op.getX()), op.getXZeroPoint()),
                             centered(unpacked(op.getW()), zero), op.getBias(), op.getStrides(),
                             op.getDilations(), op.getLow(), op.getHigh(), op.getGroups());
    y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replace(op, y);
  }

private:
  void replace(Operation *op, Value y) {
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
  }

  /// The constant that a value of a few elements is, if only constants make it; else the value.
  Value folded(Value value) {
    constexpr int64_t kMost = int64_t(1) << 20;
    Operation *op = value.getDefiningOp();
    bool isSmall = typeOf(value).hasStaticShape() && typeOf(value).getNumElements() <= kMost;
    if (!op || isa<ConstantOp>(op) || !isSmall ||
        !llvm::all_of(op->getOperands(), [](Value v) { return v.getDefiningOp<ConstantOp>(); }))
      return value;
    return constant(value);
  }

  Value constant(Value value) {
    auto tensor = evaluated(value);
    if (!tensor)
      return value;
    Value made = makeConstant(builder, value.getLoc(), *tensor, typeOf(value));
    Operation *op = value.getDefiningOp();
    if (op->use_empty())
      op->erase();
    return made;
  }

  /// Integers of 4 bits in 8 bits.
  Value unpacked(Value x) {
    Type element = typeOf(x).getElementType();
    if (!ref::isPackedElement(element))
      return x;
    auto sign = element.isUnsignedInteger() ? IntegerType::Unsigned : IntegerType::Signless;
    Value wide = b.make<CastOp>(x, IntegerType::get(builder.getContext(), 8, sign));
    return x.getDefiningOp<ConstantOp>() ? constant(wide) : wide;
  }

  /// In i32, less the zero point (null: 0).
  Value centered(Value x, Value zero) {
    Type i32 = builder.getI32Type();
    x = b.cast(x, i32);
    return zero ? b.make<SubOp>(x, folded(b.cast(unpacked(zero), i32))) : x;
  }

  /// A scale or zero point that broadcasts to x: repeated for the elements of each block.
  template <typename Op> Value repeated(Op op, Value each) {
    if (!each || !op.getBlockSize() || typeOf(each).getRank() == 0 ||
        shapeOf(each)[*op.getAxis()] == 1)
      return each;
    const auto axis = int64_t(*op.getAxis()), block = int64_t(*op.getBlockSize());
    SmallVector<int64_t> split(shapeOf(each)), wide, merged(split);
    split.insert(split.begin() + axis + 1, 1);
    wide = split;
    wide[axis + 1] = block;
    merged[axis] *= block;
    each = unpacked(each);
    each = folded(b.reshape(folded(b.broadcast(folded(b.reshape(each, split)), wide)), merged));
    return folded(prefix(each, axis, shapeOf(op.getX())[axis]));
  }

  Value prefix(Value x, int64_t axis, int64_t size) {
    SmallVector<int64_t> start(typeOf(x).getRank(), 0), sizes(shapeOf(x)),
        stride(typeOf(x).getRank(), 1);
    if (sizes[axis] == size)
      return x;
    sizes[axis] = size;
    return b.make<SliceOp>(x, start, sizes, stride);
  }

  Value transposed(Value v) { return folded(b.make<TransposeOp>(v, ArrayRef<int64_t>{1, 0})); }

  /// A constant matrix in blocks along one axis, as passes/ScaledBlocks.h has it; null if it is no
  /// such matrix.
  Value constantBlocks(DequantizeOp op) {
    constexpr int64_t kUnit = 16;
    auto isConstant = [](Value v) { return !v || v.getDefiningOp<ConstantOp>(); };
    Value scale = op.getScale(), zero = op.getZeroPoint();
    if (!op.getBlockSize() || *op.getBlockSize() % kUnit || typeOf(op.getX()).getRank() != 2 ||
        !isConstant(op.getX()) || !isConstant(scale) || !isConstant(zero) ||
        typeOf(scale).getRank() != 2 || typeOf(scale).getElementType().isF64() ||
        (zero && (isFloat(zero) || typeOf(zero).getRank() == 1)))
      return {};
    auto x = constantTensor(op.getX());
    if (!x || !isNarrowInteger(x->getElementType()))
      return {};
    const bool isAcross = *op.getAxis() == 0; // blocks of columns
    auto sizeOf = [=](ArrayRef<int64_t> shape, bool along) { return shape[isAcross != along]; };
    const int64_t rows = sizeOf(x->getShape(), false), k = sizeOf(x->getShape(), true),
                  block = int64_t(*op.getBlockSize()), blocks = (k + block - 1) / block;
    if (sizeOf(shapeOf(scale), false) != rows || sizeOf(shapeOf(scale), true) != blocks ||
        (zero && typeOf(zero).getRank() == 2 && shapeOf(zero) != shapeOf(scale)))
      return {};
    // Unsigned values are moved to the range of i8 by half of their range.
    const bool isUnsigned = x->getElementType().isUnsignedInteger();
    const int64_t middle =
        !isUnsigned ? 0 : int64_t(1) << (x->getElementType().getIntOrFloatBitWidth() - 1);
    auto values =
        ref::Tensor::empty(RankedTensorType::get({rows, blocks, block}, builder.getI8Type()));
    auto *to = reinterpret_cast<int8_t *>(values.mutableData());
    const int64_t rowStep = isAcross ? 1 : k, step = isAcross ? rows : 1;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < k; ++i)
        to[row * blocks * block + i] = int8_t(x->getInt(row * rowStep + i * step) - middle);
    Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
    Attribute place = deviceOf(op.getX().getType());
    auto typed = [&](ArrayRef<int64_t> shape, Type element) {
      return RankedTensorType::get(shape, element, place);
    };
    auto turned = [&](Value v) { return isAcross ? transposed(v) : v; };
    Value centre;
    if (zero && typeOf(zero).getRank() == 2) {
      centre = folded(b.cast(turned(unpacked(zero)), i32));
      if (middle)
        centre = folded(b.make<SubOp>(centre, b.scalar(double(middle), centre)));
      centre = folded(b.reshape(centre, {rows, blocks, 1}));
    } else {
      auto given = zero ? splatValue(zero) : std::optional<double>(0);
      if (!given)
        return {};
      if (double shift = *given - double(middle); shift != 0)
        centre = folded(
            b.broadcast(b.make<ConstantOp>(constantAttr(integer(int64_t(shift)), typed({}, i32))),
                        {rows, blocks, 1}));
    }
    Value y = b.cast(makeConstant(builder, op.getLoc(), values,
                                  typed({rows, blocks, block}, values.getElementType())),
                     i32);
    if (centre)
      y = b.make<SubOp>(y, centre);
    Value each = folded(b.reshape(folded(b.cast(turned(scale), f32)), {rows, blocks, 1}));
    y = b.make<MulOp>(b.cast(y, f32), each);
    y = prefix(b.reshape(y, {rows, blocks * block}), 1, k);
    return b.cast(isAcross ? b.make<TransposeOp>(y, ArrayRef<int64_t>{1, 0}) : y,
                  typeOf(scale).getElementType());
  }

  ref::Tensor integer(int64_t value) {
    auto one = ref::Tensor::empty(RankedTensorType::get({}, builder.getI32Type()));
    one.setInt(0, value);
    return one;
  }

  OpBuilder builder;
  TensorBuilder b;
};

struct ExpandQuantizedPass : PassWrapper<ExpandQuantizedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandQuantizedPass)

  StringRef getArgument() const final { return "dlc-expand-quantized"; }
  StringRef getDescription() const final {
    return "spells quantized operations out as casts, arithmetic and products of i32";
  }

  void runOnOperation() final {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<QuantizeOp, DequantizeOp, DynamicQuantizeOp, MatmulOp, ConvOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case<QuantizeOp, DequantizeOp, DynamicQuantizeOp, MatmulOp, ConvOp>(
              [](auto each) { Expander(each).expand(each); });
  }
};

} // namespace

std::unique_ptr<Pass> createExpandQuantizedPass() {
  return std::make_unique<ExpandQuantizedPass>();
}

} // namespace dlc
