//===- IntegerSums.cpp - contractions of 8-bit integers as sums of integers ===//
//
// x·w stands for a matmul or a convolution of x and the weights w.
//
//   x·w of dequantized operands       ->  (x's integers · w's integers) * scales
//   x in f32, rounded and clamped     ->  cast to 8 bits; a NaN in a row goes into the row's scale
//   a zero point z for each row of x  ->  (x's integers · w's integers - z * Σw) * scales
//   conv(x, w), generated kernel      ->  a matmul over unfolded windows (Unfold.cpp)
//   x·w in i32 without a kernel       ->  contractions in f32 whose sums f32 holds exactly, one for
//                                         each part of the depth or, up to 16 groups, each group
//   x·w, w outside the range of i8    ->  x·(w - c) + Σx * c, with one c for each output channel
//   x·w, w dequantized in blocks      ->  Blocks.cpp
//   quantize of dequantized values    ->  Requantize.cpp
//
// Kernels that sum integers: oneDNN's on CPUs with VNNI, generated ones on other CPUs, and tensor
// cores on GPUs. Contractions without such a kernel (convolutions that oneDNN does not support, and
// programs placed on CPUs and GPUs) are computed in f32.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Infer.h"
#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/SubPixels.h"
#include "passes/TensorBuilder.h"
#include "passes/Widened.h"
#include "passes/precision/Names.h"
#include "passes/quantize/Blocks.h"
#include "passes/quantize/Expand.h"
#include "passes/quantize/Requantize.h"
#include "passes/quantize/Unfold.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;

namespace dlc {

namespace {

/// A dequantized operand: (cast(integers) - zeros) * scale.
struct Dequantized {
  Value integers; ///< i32
  Value scale;    ///< f32, broadcasts to the integers
  Value zeros;    ///< zero points in f32 that are not subtracted from `integers` yet; null: none
  Value floats;   ///< rounded floats that `integers` are cast from and that may be NaN; null: none
};

using Range = std::pair<int64_t, int64_t>;

/// Returns the minimum and maximum of an integer value: of a constant, of casts from 8-bit types,
/// of views of these, and of their differences. Returns nothing for other values.
std::optional<Range> rangeOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    auto tensor = ref::Tensor::fromAttr(constant.getValue());
    if (failed(tensor) || !isInt32(value.getType()) || tensor->size() == 0)
      return std::nullopt;
    ArrayRef<int32_t> all(reinterpret_cast<const int32_t *>(tensor->data()), tensor->size());
    auto [low, high] = std::minmax_element(all.begin(), all.end());
    return Range{*low, *high};
  }
  if (op && op->hasTrait<ViewLike>() && op->getNumOperands() == 1)
    return rangeOf(op->getOperand(0));
  if (auto cast = dyn_cast_or_null<CastOp>(op)) {
    Type from = typeOf(cast.getX()).getElementType();
    if (from.isInteger(8))
      return from.isUnsignedInteger() ? Range{0, 255} : Range{-128, 127};
    return isa<IntegerType>(from) ? rangeOf(cast.getX()) : std::nullopt;
  }
  auto sub = dyn_cast_or_null<SubOp>(op);
  auto a = sub ? rangeOf(sub.getA()) : std::nullopt, b = a ? rangeOf(sub.getB()) : std::nullopt;
  return b ? std::optional(Range{a->first - b->second, a->second - b->first}) : std::nullopt;
}

/// Returns the maximum of |x| if it is at most 512, as for 8-bit integers minus a zero point.
std::optional<double> boundOf(Value value) {
  auto range = rangeOf(value);
  constexpr int64_t kMost = 512;
  int64_t largest = range ? std::max(-range->first, range->second) : kMost + 1;
  return largest <= kMost ? std::optional(double(std::max<int64_t>(largest, 1))) : std::nullopt;
}

/// Checks that kernels can read an i32 operand of a contraction in 8 bits.
bool isRead(Value value) { return matchWidenedBehindViews(value).has_value(); }

/// Checks by types alone that i32 integers are cast from i8 without a zero point.
bool isPlainInt8(Value value) {
  auto widened = matchWidened(value);
  return widened && !typeOf(widened->x).getElementType().isUnsignedInteger() &&
         (!widened->zeroPoint || isSplatOf(widened->zeroPoint, 0));
}

/// Checks whether a dequantization has a scale or a zero point for each of several blocks.
bool hasBlocks(DequantizeOp op) {
  return op.getBlockSize() && llvm::any_of(op->getOperands().drop_front(), [&](Value each) {
           return typeOf(each).getRank() != 0 && shapeOf(each)[*op.getAxis()] != 1;
         });
}

/// Matches a dequantization of 4- or 8-bit integers to f32, or views of one with a single scale.
/// With `byRows`, float zero points and zero points of several elements are returned in `zeros`.
std::optional<Dequantized> dequantized(Value value, OpBuilder &builder, bool byRows = false) {
  // A view commutes with a dequantization that has a single scale.
  if (Operation *op = value.getDefiningOp();
      op && op->hasTrait<ViewLike>() && op->getNumOperands() == 1) {
    auto inner = dequantized(op->getOperand(0), builder);
    if (!inner || typeOf(inner->scale).getNumElements() != 1)
      return std::nullopt;
    Operation *view = builder.clone(*op);
    view->setOperand(0, inner->integers);
    view->getResult(0).setType(typeOf(value).clone(builder.getI32Type()));
    return Dequantized{view->getResult(0), inner->scale, Value(), Value()};
  }
  auto op = value.getDefiningOp<DequantizeOp>();
  auto isRead = [](Value x) {
    return isNarrowInteger(typeOf(x).getElementType()) || (isInt32(x.getType()) && boundOf(x));
  };
  if (!op || !typeOf(value).getElementType().isF32() || hasBlocks(op) || !isRead(op.getX()))
    return std::nullopt;
  // Insert before the dequantization, so that all contractions that read it share the integers.
  OpBuilder at(op);
  Value zero = op.getZeroPoint();
  const bool isFloat = zero && isa<FloatType>(typeOf(zero).getElementType());
  if (!zero || !(isFloat || (byRows && typeOf(zero).getNumElements() != 1)))
    return Dequantized{quantize::centered(at, op.getLoc(), op.getX(), zero), op.getScale(), Value(),
                       Value()};
  if (!byRows)
    return std::nullopt;
  Value integers = quantize::centered(at, op.getLoc(), op.getX(), Value());
  if (isSplatOf(zero, 0))
    return Dequantized{integers, op.getScale(), Value(), Value()};
  TensorBuilder b(at, op.getLoc());
  if (!isFloat)
    zero = b.cast(b.cast(zero, builder.getI32Type()), builder.getF32Type());
  return Dequantized{integers, op.getScale(), zero, Value()};
}

/// Returns rounded and clamped floats as i32 integers within the range of an 8-bit type. NaN has no
/// meaning in the result. Returns null for other floats.
Value roundedIntegers(Value floats, OpBuilder &builder) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = -kInfinity, high = kInfinity;
  Value value = floats;
  for (Operation *op = value.getDefiningOp(); isa_and_nonnull<MaxOp, MinOp, AddOp>(op);
       op = value.getDefiningOp()) {
    auto number = splatValue(op->getOperand(1));
    if (!number || *number != std::round(*number) || shapeOf(op->getOperand(0)) != shapeOf(floats))
      return nullptr;
    if (isa<MaxOp>(op))
      low = std::max(low, *number);
    if (isa<MinOp>(op))
      high = std::min(high, *number);
    value = op->getOperand(0);
    if (isa<AddOp>(op))
      break;
  }
  bool isSigned = low >= -128 && high <= 127, isUnsigned = low >= 0 && high <= 255;
  if (!value.getDefiningOp<RoundOp>() || !typeOf(floats).getElementType().isF32() || low > high ||
      !(isSigned || isUnsigned))
    return nullptr;
  TensorBuilder b(builder, floats.getLoc());
  auto sign = isSigned ? IntegerType::Signless : IntegerType::Unsigned;
  return b.cast(b.cast(floats, IntegerType::get(builder.getContext(), 8, sign)),
                builder.getI32Type());
}

/// Like dequantized(), for an operand whose rows may have scales and zero points of their own.
std::optional<Dequantized> dequantizedRows(Value value, OpBuilder &builder) {
  auto mul = value.getDefiningOp<MulOp>();
  auto sub = mul ? mul.getA().getDefiningOp<SubOp>() : SubOp();
  Value floats = sub ? sub.getA() : mul ? mul.getA() : Value();
  Value integers = floats ? roundedIntegers(floats, builder) : Value();
  if (!integers)
    return dequantized(value, builder, /*byRows=*/true);
  if (shapeOf(integers) != shapeOf(value))
    return std::nullopt;
  return Dequantized{integers, mul.getB(), sub ? sub.getB() : Value(), floats};
}

class Rewriter {
public:
  /// `isHost` and `isGpu`: the whole program runs on a CPU or on a GPU.
  Rewriter(ModuleOp module, Costs &costs, bool isHost, bool isGpu)
      : builder(module.getContext()), costs(costs), isHost(isHost), isGpu(isGpu) {
    module.walk([&](GradientOp) { isTraining = true; });
  }

  void rewrite(Operation *op) {
    builder.setInsertionPoint(op);
    Type element = typeOf(op->getResult(0)).getElementType();
    if (!typeOf(op->getResult(0)).hasStaticShape())
      return;
    if (auto transposed = dyn_cast<ConvTransposeOp>(op)) {
      if (element.isF32() && isHost && !isTraining)
        sumTransposed(transposed);
      return;
    }
    auto product = dyn_cast<MatmulOp>(op);
    if (product && quantize::keepBlocks(product, isHost && !isTraining ? &costs : nullptr))
      return;
    if (element.isF32() && (isHost || isGpu) && !isTraining) {
      Operation *sums = asIntegers(op);
      if (!sums && isHost)
        readNarrow(op);
      op = sums;
    }
    if (!op || !isInt32(op->getResult(0).getType()))
      return;
    builder.setInsertionPoint(op);
    bool isThere = hasKernelAsItIs(op);
    if (auto conv = dyn_cast<ConvOp>(op); conv && !isThere && isProduct(conv)) {
      TensorBuilder b(builder, op->getLoc());
      Value y = quantize::unfolded(conv, b);
      conv.getY().replaceAllUsesWith(y);
      conv.erase();
      return quantize::keepInRows(y);
    }
    if (!isThere)
      asFloats(op);
    else if (isOfConstants(op->getOperand(1)) && !isTaken(op->getOperand(1)))
      withoutShift(op);
  }

private:
  /// Checks that a kernel computes the i32 contraction, possibly as an unfolded convolution.
  bool hasKernel(Operation *op) {
    auto conv = dyn_cast<ConvOp>(op);
    return hasKernelAsItIs(op) || (conv && isProduct(conv));
  }

  bool isProduct(ConvOp conv) {
    return isHost && costs.generatesSums() && quantize::canUnfold(conv);
  }

  bool hasKernelAsItIs(Operation *op) {
    auto weights = matchWidened(op->getOpOperand(1));
    bool isWeight =
        isOfConstants(op->getOperand(1)) ||
        (isa<MatmulOp>(op) && weights && !typeOf(weights->x).getElementType().isUnsignedInteger());
    bool takesAny = isHost ? costs.generatesSums() : isGpu;
    bool isTakenThere = isWeight ? isHost || isGpu : takesAny && isRead(op->getOperand(1));
    return isTakenThere && isRead(op->getOperand(0)) && costs.sumsIntegers(op);
  }

  /// Checks that kernels accept constant weights without a further rewrite.
  bool isTaken(Value weights) { return isGpu ? isRead(weights) : isPlainInt8(weights); }

  /// Keeps the weights of a matmul with few rows in 8 bits, since it is bound by weight bandwidth.
  /// The scales are multiplied after the matmul.
  void readNarrow(Operation *op) {
    auto product = dyn_cast<MatmulOp>(op);
    if (!product || typeOf(product.getB()).getRank() != 2 ||
        !waitsForWeights(product, std::max(kMostRows, costs.rowsOfBlocks())))
      return;
    Value right = product.getB();
    auto transpose = right.getDefiningOp<TransposeOp>();
    bool isTurned = product.getTransposeB() != (transpose && transpose.getPermutation()[0] == 1);
    auto w = (transpose ? transpose.getX() : right).getDefiningOp<DequantizeOp>();
    Value zero = w ? w.getZeroPoint() : Value();
    int64_t axis = isTurned ? 0 : 1;
    if (!w || !typeOf(right).getElementType().isF32() || hasBlocks(w) ||
        !isNarrowInteger(typeOf(w.getX()).getElementType()) || !isOfConstants(w.getX()) ||
        !isPerIndex(right, axis, w.getScale()) ||
        (zero &&
         (!isa<IntegerType>(typeOf(zero).getElementType()) || !isPerIndex(right, axis, zero))))
      return;
    auto constantOf = [](Value v) { return isOfConstants(v) ? evaluated(v) : std::nullopt; };
    auto numbers = constantOf(w.getX()), scales = constantOf(w.getScale()),
         zeros = zero ? constantOf(zero) : std::nullopt;
    if (numbers && scales && (!zero || zeros)) {
      quantize::Channels weights{*numbers, *scales, zeros, isTurned};
      if (Value y = quantize::keepChannels(product, weights, costs)) {
        op->getResult(0).replaceAllUsesWith(y);
        return op->erase();
      }
    }
    auto factors = perChannel(op, w.getScale());
    if (zero || transpose || !factors || !isInt8(w.getX().getType()) ||
        !waitsForWeights(product, kMostRows))
      return;
    TensorBuilder b(builder, op->getLoc());
    Value bits = b.cast(w.getX(), builder.getF32Type());
    Operation *sums = builder.clone(*op);
    sums->setOperand(1, bits);
    op->getResult(0).replaceAllUsesWith(b.make<MulOp>(sums->getResult(0), *factors));
    op->erase();
  }

  /// Checks that `each` has one element, or one for each index of the axis of the weights.
  static bool isPerIndex(Value weights, int64_t axis, Value each) {
    auto type = typeOf(each);
    return type.getNumElements() == 1 || (type.getRank() == typeOf(weights).getRank() &&
                                          type.getNumElements() == type.getDimSize(axis));
  }

  /// Clones a contraction with other operands and without its bias.
  Operation *withOperands(Operation *op, Value left, Value right) {
    Operation *other = builder.clone(*op);
    if (auto conv = dyn_cast<ConvOp>(other))
      conv.getBiasMutable().clear();
    other->setOperand(0, left);
    other->setOperand(1, right);
    return other;
  }

  /// Rewrites a contraction of dequantized operands. Returns the i32 contraction, or null.
  Operation *asIntegers(Operation *op) {
    auto x = dequantizedRows(op->getOperand(0), builder);
    auto w = x ? dequantized(op->getOperand(1), builder) : std::nullopt;
    auto factors = w ? perChannel(op, w->scale) : std::nullopt,
         rows = w ? perRow(op, x->scale) : std::nullopt,
         zeros = w && x->zeros ? perRow(op, x->zeros) : std::nullopt;
    if (rows && x->floats)
      rows = withNaN(op, *rows, x->floats);
    if (!factors || !rows ||
        (x->zeros && (!zeros || !isa<MatmulOp>(op) || !isOfConstants(w->integers))))
      return nullptr;
    Operation *sums = withOperands(op, x->integers, w->integers);
    sums->getResult(0).setType(typeOf(op->getResult(0)).clone(builder.getI32Type()));
    if (!hasKernel(sums))
      return sums->erase(), nullptr;
    TensorBuilder b(builder, op->getLoc());
    Value y = b.cast(sums->getResult(0), builder.getF32Type());
    if (zeros)
      y = b.make<SubOp>(y, b.make<MulOp>(*zeros, channelSums(op, w->integers)));
    y = scaled(op, y, *factors, *rows, b);
    if (op->getNumOperands() > 2)
      y = b.make<AddOp>(y, b.reshape(op->getOperand(2), channelShape(op)));
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
    return sums;
  }

  /// Multiplies i32 sums by the scales of the weights and of x; by the product of the two if x has
  /// a single scale. `op` is the operation that is replaced.
  static Value scaled(Operation *op, Value sums, Value ofWeights, Value ofX, TensorBuilder &b) {
    if (typeOf(ofX).getNumElements() == 1 && mayMergeScales(op, ofWeights, ofX))
      return b.make<MulOp>(sums, b.make<MulOp>(ofWeights, ofX));
    return b.make<MulOp>(b.make<MulOp>(sums, ofWeights), ofX);
  }

  /// Checks that products of constant scales are normal numbers (neither subnormal nor infinite).
  static bool mayMergeScales(Operation *op, Value ofWeights, Value ofX) {
    if (!isOfConstants(ofWeights) || !isOfConstants(ofX))
      return true;
    auto all = evaluated(ofWeights), one = evaluated(ofX);
    if (!all || !one)
      return false;
    Type element = typeOf(ofX).getElementType();
    for (int64_t i = 0; i < all->size(); ++i)
      if (!isAllowed(
              {ConstantRewrite::Kind::MergeScales, element, {all->getDouble(i), one->getDouble(0)}},
              op))
        return false;
    return true;
  }

  /// Reshapes x's scales to broadcast to the result. Returns nothing unless there is a single scale
  /// or one for each row of a matmul.
  std::optional<Value> perRow(Operation *op, Value scale) {
    TensorBuilder b(builder, op->getLoc());
    SmallVector<int64_t> shape(shapeOf(scale));
    if (typeOf(scale).getNumElements() == 1)
      return shape.empty() ? scale : b.reshape(scale, {});
    auto product = dyn_cast<MatmulOp>(op);
    int64_t rank = shape.size();
    if (!product || rank < 2 || rank != typeOf(product.getA()).getRank())
      return std::nullopt;
    if (shape[rank - (product.getTransposeA() ? 2 : 1)] != 1)
      return std::nullopt;
    if (product.getTransposeA())
      std::swap(shape[rank - 2], shape[rank - 1]);
    return b.reshape(scale, shape);
  }

  /// Makes the scale of each row that contains NaN a NaN. Returns nothing for convolutions.
  std::optional<Value> withNaN(Operation *op, Value rows, Value floats) {
    auto product = dyn_cast<MatmulOp>(op);
    if (!product)
      return std::nullopt;
    TensorBuilder b(builder, op->getLoc());
    int64_t depth = typeOf(floats).getRank() - (product.getTransposeA() ? 2 : 1);
    // The sum of clamped values is NaN only if one of them is.
    auto sums = perRow(op, b.reduce(ReduceKind::sum, floats, {depth}));
    return sums ? std::optional(b.make<AddOp>(rows, b.make<SubOp>(*sums, *sums))) : sums;
  }

  /// Sums a matmul's weights over the contracted dimension, in f32, for each output channel.
  Value channelSums(Operation *op, Value weights) {
    TensorBuilder b(builder, op->getLoc());
    int64_t rank = typeOf(weights).getRank();
    int64_t depth = rank - (cast<MatmulOp>(op).getTransposeB() ? 1 : 2);
    SmallVector<int64_t> shape(shapeOf(weights));
    shape.erase(shape.begin() + depth);
    if (rank > 2)
      shape.insert(shape.end() - 1, 1);
    return b.reshape(b.cast(b.reduce(ReduceKind::sum, weights, {depth}), builder.getF32Type()),
                     shape);
  }

  /// Rewrites a transposed convolution of dequantized operands. The layout pass turns it into one
  /// convolution (passes/SubPixels.h), and this rewrite requires a kernel for that convolution.
  void sumTransposed(ConvTransposeOp op) {
    auto phases = phasesOf(op);
    auto x = dequantized(op.getX(), builder), w = dequantized(op.getW(), builder);
    constexpr int64_t kOutputs = 1; // axis of output channels in weights [C, O, ..]
    if (!phases || !x || !w || op.getGroups() != 1 || typeOf(x->scale).getNumElements() != 1 ||
        !isOfConstants(w->integers) || !isPerIndex(op.getW(), kOutputs, w->scale))
      return;
    auto weights = evaluated(w->integers);
    if (!weights)
      return;
    auto narrow =
        ref::Tensor::empty(RankedTensorType::get(weights->getShape(), builder.getIntegerType(8)));
    for (int64_t i = 0; i < narrow.size(); ++i) {
      if (weights->getInt(i) < -128 || weights->getInt(i) > 127)
        return;
      narrow.setInt(i, weights->getInt(i));
    }
    TensorBuilder b(builder, op.getLoc());
    auto constant = [&](const ref::Tensor &tensor) { return b.make<ConstantOp>(tensor.toAttr()); };
    SubPixels phased(op, *phases, b);
    auto arranged = evaluated(phased.weights(constant(narrow)));
    if (!arranged || !hasKernelFor(phased.convolution(
                         x->integers, b.cast(constant(*arranged), builder.getI32Type()), Value())))
      return;
    Operation *sums = builder.clone(*op);
    sums->setOperands({x->integers, b.cast(constant(narrow), builder.getI32Type())});
    sums->moveAfter(sums->getOperand(1).getDefiningOp());
    sums->getResult(0).setType(typeOf(op.getY()).clone(builder.getI32Type()));
    auto each = [&](Value v) {
      return b.reshape(v,
                       typeOf(v).getNumElements() == 1 ? SmallVector<int64_t>() : channelShape(op));
    };
    Value y = b.cast(sums->getResult(0), builder.getF32Type());
    y = scaled(op, y, each(w->scale), each(x->scale), b);
    if (op.getBias())
      y = b.make<AddOp>(y, b.reshape(op.getBias(), channelShape(op)));
    op.getY().replaceAllUsesWith(y);
    op->erase();
  }

  /// Checks that there is a kernel for a contraction that was created only for this question, and
  /// erases the contraction.
  bool hasKernelFor(Value contraction) {
    Operation *op = contraction.getDefiningOp();
    bool has = hasKernel(op);
    op->erase();
    return has;
  }

  /// Shape of one element for each output channel that broadcasts to the result.
  static SmallVector<int64_t> channelShape(Operation *op) {
    auto type = typeOf(op->getResult(0));
    if (isa<MatmulOp>(op))
      return {type.getShape().back()};
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = type.getDimSize(1);
    return shape;
  }

  /// Reshapes the scales of weights to broadcast to the result. Returns nothing unless there is a
  /// single scale or one for each output channel.
  std::optional<Value> perChannel(Operation *op, Value scale) {
    TensorBuilder b(builder, op->getLoc());
    auto type = typeOf(scale);
    if (type.getNumElements() == 1)
      return type.getRank() ? b.reshape(scale, {}) : scale;
    // Axis of the output channels in weights [O, I, ..], [K, N], or [N, K] for transpose_b.
    int64_t rank = typeOf(op->getOperand(1)).getRank(), axis = 0;
    if (auto product = dyn_cast<MatmulOp>(op))
      axis = product.getTransposeB() ? rank - 2 : rank - 1;
    if (type.getRank() != rank || type.getNumElements() != type.getDimSize(axis))
      return std::nullopt;
    return b.reshape(scale, channelShape(op));
  }

  /// Subtracts a constant c from the weights of each output channel that are outside the range of
  /// i8, and adds c * Σx to the sums.
  void withoutShift(Operation *op) {
    auto conv = dyn_cast<ConvOp>(op);
    auto product = dyn_cast<MatmulOp>(op);
    auto weights = evaluated(op->getOperand(1));
    auto fits = [&](int64_t i) { return weights->getInt(i) >= -128 && weights->getInt(i) <= 127; };
    if (weights && llvm::all_of(llvm::seq<int64_t>(weights->size()), fits))
      return;
    if (!weights || (conv && (conv.getGroups() != 1 || !isSmall(conv))))
      return conv ? asFloats(op) : void();
    // Output channels are the first dimension, or the last one of an untransposed matmul operand.
    bool isLast = product && !product.getTransposeB();
    ArrayRef<int64_t> shape = weights->getShape();
    if (product && shape.size() != 2)
      return;
    int64_t channels = isLast ? shape.back() : shape.front(), each = weights->size() / channels;
    auto at = [&](int64_t channel, int64_t i) {
      return isLast ? i * channels + channel : channel * each + i;
    };
    auto narrow = ref::Tensor::empty(RankedTensorType::get(shape, builder.getIntegerType(8)));
    auto shifts = ref::Tensor::empty(RankedTensorType::get(channelShape(op), builder.getI32Type()));
    int64_t least = std::numeric_limits<int64_t>::max(), most = -least;
    for (int64_t c = 0; c < channels; ++c) {
      int64_t low = std::numeric_limits<int64_t>::max(), high = -low;
      for (int64_t i = 0; i < each; ++i) {
        low = std::min(low, weights->getInt(at(c, i)));
        high = std::max(high, weights->getInt(at(c, i)));
      }
      least = std::min(least, low), most = std::max(most, high);
      int64_t shift = low >= -128 && high <= 127 ? 0 : low + 128;
      if (high - shift > 127)
        return asFloats(op);
      shifts.setInt(c, shift);
      for (int64_t i = 0; i < each; ++i)
        narrow.setInt(at(c, i), weights->getInt(at(c, i)) - shift);
    }
    // oneDNN's matmul supports one weight zero point for all channels.
    if (product && most - least <= 255)
      return;
    TensorBuilder b(builder, op->getLoc());
    auto constant = [&](const ref::Tensor &tensor) { return b.make<ConstantOp>(tensor.toAttr()); };
    Value x = op->getOperand(0), inputs;
    if (conv) {
      inputs = windowSums(b, conv);
    } else {
      int64_t rank = typeOf(x).getRank(), depth = rank - (product.getTransposeA() ? 2 : 1);
      SmallVector<int64_t> sizes(shapeOf(x));
      sizes.erase(sizes.begin() + depth);
      sizes.push_back(1);
      inputs = b.reshape(b.reduce(ReduceKind::sum, x, {depth}), sizes);
    }
    Operation *sums = builder.clone(*op);
    sums->setOperand(1, b.cast(constant(narrow), builder.getI32Type()));
    sums->moveAfter(sums->getOperand(1).getDefiningOp());
    Value y = b.make<AddOp>(sums->getResult(0), b.make<MulOp>(inputs, constant(shifts)));
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
  }

  static constexpr double kExact = 1 << 24; ///< integers up to this one are exact in f32

  /// Checks that f32 holds the sum of a window's elements exactly.
  static bool isSmall(ConvOp conv) {
    auto most = boundOf(conv.getX());
    return most &&
           *most * double(ShapedType::getNumElements(shapeOf(conv.getW()).drop_front())) < kExact;
  }

  /// Returns Σx over each window of a convolution. A 1x1 convolution sums the channels in any
  /// layout; a convolution of one channel then sums the window. Exact in f32 if isSmall.
  Value windowSums(TensorBuilder &b, ConvOp conv) {
    auto ones = [&](ArrayRef<int64_t> shape, Type element) {
      auto all = ref::Tensor::empty(RankedTensorType::get(shape, element));
      for (int64_t i = 0; i < all.size(); ++i)
        all.setDouble(i, 1);
      return b.make<ConstantOp>(all.toAttr());
    };
    auto sumsOf = [&](Value x, Value w) {
      auto sums = cast<ConvOp>(withOperands(conv, x, w));
      sums->moveAfter(w.getDefiningOp());
      return sums;
    };
    Type i8 = builder.getIntegerType(8), i32 = builder.getI32Type(), f32 = builder.getF32Type();
    SmallVector<int64_t> image(shapeOf(conv.getX())), window(shapeOf(conv.getW())),
        sizes(shapeOf(conv.getY()));
    image[1] = window[0] = sizes[1] = 1;
    SmallVector<int64_t> point(window.size(), 1);
    point[1] = std::exchange(window[1], 1);
    ConvOp added = sumsOf(conv.getX(), b.cast(ones(point, i8), i32));
    bool isPoint = window == SmallVector<int64_t>(window.size(), 1);
    added.getResult().setType(RankedTensorType::get(isPoint ? sizes : image, i32));
    if (isPoint)
      return added;
    SmallVector<int64_t> none(window.size() - 2, 0), one(window.size() - 2, 1);
    added.setLow(none), added.setHigh(none), added.setStrides(one), added.setDilations(one);
    Value x = b.cast(added, f32);
    ConvOp sums = sumsOf(x, ones(window, f32));
    sums.getResult().setType(RankedTensorType::get(sizes, f32));
    markExact(sums);
    return b.cast(sums, i32);
  }

  /// Requires f32 arithmetic in the written order, which keeps the sums exact.
  void markExact(Operation *op) {
    op->setAttr("dlc.accuracy", builder.getStringAttr("strict"));
    op->setAttr(precision::kPrecisionAttr, builder.getStringAttr("f32"));
  }

  /// Computes an i32 contraction in f32, split along the depth so that no sum exceeds kExact.
  void asFloats(Operation *op) {
    auto x = boundOf(op->getOperand(0)), w = boundOf(op->getOperand(1));
    if (!x || !w)
      return;
    double most = kExact / std::max(*x * *w, 1.0);
    ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
    TensorBuilder b(builder, op->getLoc());
    auto part = [&](Value left, Value right) {
      Operation *sums =
          withOperands(op, b.cast(left, builder.getF32Type()), b.cast(right, builder.getF32Type()));
      sums->getResult(0).setType(typeOf(op->getResult(0)).clone(builder.getF32Type()));
      markExact(sums);
      return b.cast(sums->getResult(0), builder.getI32Type());
    };
    // Axes of the depth in both operands. One step along the depth adds `each` products.
    auto product = dyn_cast<MatmulOp>(op);
    auto conv = dyn_cast<ConvOp>(op);
    int64_t left =
                product ? typeOf(product.getA()).getRank() - (product.getTransposeA() ? 2 : 1) : 1,
            right = product ? int64_t(weights.size()) - (product.getTransposeB() ? 1 : 2) : 1;
    int64_t depth = weights[right],
            each = product ? 1 : ShapedType::getNumElements(weights.drop_front(2));
    int64_t step = int64_t(most) / each;
    if (step > 64)
      step = step / 64 * 64;
    if (step < depth && conv && conv.getGroups() != 1)
      return splitGroups(conv);
    if (step < 1)
      return;
    Value sum;
    for (int64_t from = 0; from < depth; from += step) {
      int64_t size = std::min(step, depth - from);
      Value one = size == depth ? part(op->getOperand(0), op->getOperand(1))
                                : part(slice(b, op->getOperand(0), left, from, size),
                                       slice(b, op->getOperand(1), right, from, size));
      sum = sum ? b.make<AddOp>(sum, one) : one;
    }
    if (op->getNumOperands() > 2)
      sum = b.make<AddOp>(sum, b.reshape(op->getOperand(2), channelShape(op)));
    if (!sum)
      return;
    op->getResult(0).replaceAllUsesWith(sum);
    op->erase();
  }

  /// Splits a grouped convolution into one convolution for each group and concatenates the results.
  void splitGroups(ConvOp conv) {
    constexpr int64_t kMostGroups = 16;
    const int64_t groups = conv.getGroups(), inputs = shapeOf(conv.getX())[1] / groups,
                  outputs = shapeOf(conv.getY())[1] / groups;
    auto x = matchWidened(conv.getX());
    if (!x || groups > kMostGroups)
      return;
    TensorBuilder b(builder, conv.getLoc());
    SmallVector<ConvOp> parts;
    SmallVector<Value> results;
    for (int64_t g = 0; g < groups; ++g) {
      Value images = b.cast(slice(b, x->x, 1, g * inputs, inputs), builder.getI32Type());
      if (x->zeroPoint)
        images = b.make<SubOp>(images, x->zeroPoint);
      SmallVector<Value> operands{images, slice(b, conv.getW(), 0, g * outputs, outputs)};
      if (conv.getBias())
        operands.push_back(slice(b, conv.getBias(), 0, g * outputs, outputs));
      auto part = cast<ConvOp>(builder.clone(*conv));
      part->setOperands(operands);
      part.setGroups(1);
      SmallVector<int64_t> shape(shapeOf(conv.getY()));
      shape[1] = outputs;
      part.getY().setType(typeOf(conv.getY()).clone(shape));
      parts.push_back(part);
      results.push_back(part.getY());
    }
    conv.getY().replaceAllUsesWith(b.make<ConcatOp>(results, 1));
    conv.erase();
    for (ConvOp part : parts)
      rewrite(part);
  }

  static Value slice(TensorBuilder &b, Value x, int64_t axis, int64_t from, int64_t size) {
    SmallVector<int64_t> start(typeOf(x).getRank(), 0), sizes(shapeOf(x)),
        stride(typeOf(x).getRank(), 1);
    start[axis] = from;
    sizes[axis] = size;
    return b.make<SliceOp>(x, start, sizes, stride);
  }

  OpBuilder builder;
  Costs &costs;
  const bool isHost, isGpu;
  bool isTraining = false;
};

struct IntegerSumsPass : OptionPass<IntegerSumsPass> {
  IntegerSumsPass(const ModelOptions &options, CostsMaker kernels)
      : OptionPass("dlc-integer-sums",
                   "contractions of 8-bit integers as sums of integers where there are kernels",
                   {"device", "place", "threads"}, options),
        kernels(std::move(kernels)) {}
  IntegerSumsPass(const IntegerSumsPass &other) : OptionPass(other), kernels(other.kernels) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    std::unique_ptr<Costs> costs = makeCosts(which, kernels, options, module);
    if (!costs)
      return failure();
    bool isGpu = can(options.device, DLC_DEVICE_GPU_CODE), isOnePlace = options.place.empty();
    quantize::requantize(module);
    Rewriter rewriter(module, *costs, isOnePlace && !isGpu, isOnePlace && isGpu);
    SmallVector<Operation *> contractions;
    module.walk([&](Operation *op) {
      if (isa<ConvOp, ConvTransposeOp, MatmulOp>(op))
        contractions.push_back(op);
    });
    for (Operation *op : contractions)
      rewriter.rewrite(quantize::widenContraction(op));
    return success();
  }

  Option<std::string> which{*this, "costs", llvm::cl::desc(kCostsHelp), llvm::cl::init("kernels")};
  CostsMaker kernels;
};

} // namespace

std::unique_ptr<Pass> createIntegerSumsPass(const ModelOptions &options, CostsMaker kernels) {
  return std::make_unique<IntegerSumsPass>(options, std::move(kernels));
}

} // namespace dlc
