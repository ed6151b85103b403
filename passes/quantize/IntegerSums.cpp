//===- IntegerSums.cpp - contractions of 8-bit integers as sums of integers ===//
//
// x·w stands for a matmul or a convolution of x and the weights w.
//
//   x·w of dequantized operands       ->  (x's integers · w's integers) * scales, where the
//                                         contraction of the integers subtracts zero points
//   x in f32, rounded and clamped     ->  cast to 8 bits; a NaN in a row goes into the row's scale
//   a zero point z for each row of x  ->  (x's integers · w's integers - z * Σw) * scales
//   conv(x, w), generated kernel      ->  a matmul over unfolded windows (Unfold.cpp)
//   x·[K, N] on GPUs                  ->  x·[N, K] transpose_b
//   x·w in i32 without a kernel       ->  contractions in f32 whose sums f32 holds exactly, one for
//                                         each part of the depth or, up to 16 groups, each group
//   x·w, w - zero point not in i8     ->  x·(w - c) + Σx * c, with one c for each output channel
//   x·w, w dequantized in blocks      ->  Blocks.cpp
//   quantize of dequantized values    ->  Requantize.cpp
//
// Kernels that sum integers: those of libraries on CPUs with VNNI, generated ones on other CPUs,
// and tensor cores on GPUs. Contractions without such a kernel (convolutions that no library
// supports, and programs placed on CPUs and GPUs) are computed in f32.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"
#include "ir/dlc/Infer.h"
#include "ir/tensor/Tensor.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/SubPixels.h"
#include "passes/TensorBuilder.h"
#include "passes/precision/Names.h"
#include "passes/quantize/Blocks.h"
#include "passes/quantize/Expand.h"
#include "passes/quantize/IntegerOperands.h"
#include "passes/quantize/Requantize.h"
#include "passes/quantize/Unfold.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;

namespace dlc {

using namespace quantize;

namespace {

/// A dequantized operand: (integers - their zero point - zeros) * scale.
struct DequantizedOperand {
  IntegerOperand integers;
  Value scale;  ///< scale in f32, broadcasts to the integers
  Value zeros;  ///< zero points in f32 that a contraction cannot subtract; null: none
  Value floats; ///< rounded floats, perhaps NaN, from which the integers are cast; null: none
};

bool isZeroOrNone(Value zeroPoint) { return !zeroPoint || isSplatWithValue(zeroPoint, 0); }

bool isSignedByte(Value x) { return typeOf(x).getElementType().isSignlessInteger(8); }

/// Matches a dequantization of 4- or 8-bit integers to f32, or view operations on one with a single
/// scale. With `byRows`, float zero points and zero points of several elements are returned in
/// `zeros`.
std::optional<DequantizedOperand> matchDequantized(Value value, OpBuilder &builder,
                                                   bool byRows = false) {
  // A view operation can be moved before a dequantization that has a single scale.
  if (Operation *op = value.getDefiningOp();
      op && op->hasTrait<ViewLike>() && op->getNumOperands() == 1) {
    auto inner = matchDequantized(op->getOperand(0), builder);
    Value zero = inner ? inner->integers.zeroPoint : Value();
    if (!inner || typeOf(inner->scale).getNumElements() != 1 ||
        (zero && typeOf(zero).getNumElements() != 1))
      return std::nullopt;
    Operation *view = builder.clone(*op);
    view->setOperand(0, inner->integers.x);
    view->getResult(0).setType(typeOf(value).clone(typeOf(inner->integers.x).getElementType()));
    return DequantizedOperand{{view->getResult(0), zero}, inner->scale, Value(), Value()};
  }
  auto op = value.getDefiningOp<DequantizeOp>();
  if (!op || !typeOf(value).getElementType().isF32() || hasBlockParameters(op) ||
      !isNarrowInteger(typeOf(op.getX()).getElementType()))
    return std::nullopt;
  // New operations are inserted before the dequantization, so that all contractions that read it
  // share the integers.
  OpBuilder at(op);
  Value x = unpacked(at, op.getX()), zero = op.getZeroPoint();
  if (isZeroOrNone(zero))
    return DequantizedOperand{{x, Value()}, op.getScale(), Value(), Value()};
  const bool isFloat = isa<FloatType>(typeOf(zero).getElementType());
  if (!isFloat)
    zero = unpacked(at, zero);
  if (!isFloat && !(byRows && typeOf(zero).getNumElements() != 1))
    return DequantizedOperand{{x, zero}, op.getScale(), Value(), Value()};
  if (!byRows)
    return std::nullopt;
  TensorBuilder b(at, op.getLoc());
  if (!isFloat)
    zero = b.cast(b.cast(zero, builder.getI32Type()), builder.getF32Type());
  return DequantizedOperand{{x, Value()}, op.getScale(), zero, Value()};
}

/// Casts floats that are rounded and clamped to the range of an 8-bit type to this type. The result
/// for NaN is undefined. Returns null for other floats.
Value castRoundedToInteger(Value floats, OpBuilder &builder) {
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
  return b.cast(floats, IntegerType::get(builder.getContext(), 8, sign));
}

/// Matches a dequantization like matchDequantized(), and also one that is composed of float
/// operations and may have a scale and zero point for each row.
std::optional<DequantizedOperand> matchDequantizedRows(Value value, OpBuilder &builder) {
  auto mul = value.getDefiningOp<MulOp>();
  auto sub = mul ? mul.getA().getDefiningOp<SubOp>() : SubOp();
  Value floats = sub ? sub.getA() : mul ? mul.getA() : Value();
  Value integers = floats ? castRoundedToInteger(floats, builder) : Value();
  if (!integers)
    return matchDequantized(value, builder, /*byRows=*/true);
  if (shapeOf(integers) != shapeOf(value))
    return std::nullopt;
  return DequantizedOperand{{integers, Value()}, mul.getB(), sub ? sub.getB() : Value(), floats};
}

class IntegerSumsRewriter {
public:
  /// `isHost` or `isGpu` is set if the whole program runs on a CPU or on a GPU.
  IntegerSumsRewriter(ModuleOp module, Costs &costs, bool isHost, bool isGpu)
      : builder(module.getContext()), costs(costs), isHost(isHost), isGpu(isGpu),
        generatesSums(isHost && costs.capabilities().generatesIntegerSums) {
    module.walk([&](GradientOp) { isTraining = true; });
  }

  void rewrite(Operation *op) {
    builder.setInsertionPoint(op);
    if (isIntegerContraction(op))
      unpackOperands(op);
    if (!typeOf(op->getResult(0)).hasStaticShape())
      return;
    const bool isFloat = typeOf(op->getResult(0)).getElementType().isF32() && !isTraining;
    if (auto transposed = dyn_cast<ConvTransposeOp>(op)) {
      if (isFloat && isHost)
        sumTransposed(transposed);
      return;
    }
    auto product = dyn_cast<MatmulOp>(op);
    if (product && keepBlockQuantizedWeights(product, isHost && !isTraining ? &costs : nullptr))
      return;
    if (isFloat && (isHost || isGpu)) {
      if (!asIntegers(op) && isHost)
        readNarrow(op);
    } else if (isIntegerContraction(op)) {
      if (auto sums = sumsOf(op))
        replace(op, finish(*sums), *sums);
      else
        asFloats(op);
    }
  }

private:
  /// An integer contraction for which there is a kernel.
  struct Sums {
    Operation *op;
    /// Correction factor c of each output channel: c * Σx is added to the result, with Σx the sum
    /// of the inputs. Nullopt if no channel needs a correction.
    std::optional<ref::Tensor> shifts;
    bool isUnfolded = false; ///< whether `op` is a matmul over unfolded windows (im2col)
  };

  /// Creates, before the contraction, an equivalent integer contraction in a form for which there
  /// is a kernel. Returns nullopt and creates nothing if there is no kernel.
  std::optional<Sums> sumsOf(Operation *op) {
    IntegerOperand x = getIntegerOperand(op, 0), w = getIntegerOperand(op, 1);
    auto left = kernelZeroPoint(x.zeroPoint);
    if (!left || (!isHost && !isGpu))
      return std::nullopt;
    TensorBuilder b(builder, op->getLoc());
    Sums sums;
    auto right = kernelZeroPoint(w.zeroPoint);
    if (!isComputedFromConstants(w.x) || (w.zeroPoint && !isComputedFromConstants(w.zeroPoint))) {
      if (!right || !(generatesSums || isGpu || (isa<MatmulOp>(op) && isSignedByte(w.x))))
        return std::nullopt;
    } else if (!right || (isHost && (*right || !isSignedByte(w.x)))) {
      auto weights = convertToInt8Weights(builder, op);
      if (!weights)
        return std::nullopt;
      w.x = b.make<ConstantOp>(weights->numbers.toAttr());
      right = Value();
      if (weights->zeroPoint != 0)
        right = b.scalar(double(weights->zeroPoint), op->getResult(0));
      sums.shifts = weights->shifts;
    }
    sums.op = builder.clone(*op);
    sums.op->setOperand(1, w.x);
    setZeroPoints(sums.op, *left, *right);
    auto conv = dyn_cast<ConvOp>(sums.op);
    if (hasKernel(costs, sums.op)) {
      if (isGpu)
        transposeWeights(sums.op);
      if (generatesSums && isa<MatmulOp>(sums.op))
        sums.op->setAttr(kGeneratedSumsAttr, builder.getUnitAttr());
      return sums;
    }
    sums.isUnfolded = conv && generatesSums && !*right && !sums.shifts &&
                      isComputedFromConstants(w.x) && canUnfold(conv, x.zeroPoint);
    if (sums.isUnfolded) {
      sums.op = convToIm2colMatmul(conv, x.zeroPoint, b).getDefiningOp();
      conv.erase();
      return sums;
    }
    sums.op->erase();
    return std::nullopt;
  }

  /// Returns the result of an integer contraction. If weights were shifted to fit i8, adds the
  /// shift of each output channel times the sum of the inputs, as a correction.
  Value finish(const Sums &sums) {
    Value y = sums.op->getResult(0);
    if (!sums.shifts)
      return y;
    TensorBuilder b(builder, sums.op->getLoc());
    return b.make<AddOp>(
        y, b.make<MulOp>(inputSums(sums.op, b), b.make<ConstantOp>(sums.shifts->toAttr())));
  }

  /// Replaces the original contraction `op` by y, which is computed from the result of the integer
  /// contraction.
  static void replace(Operation *op, Value y, const Sums &sums) {
    op->getResult(0).replaceAllUsesWith(y);
    op->erase();
    if (sums.isUnfolded)
      sinkTransposeToPlanes(sums.op->getResult(0));
  }

  /// Returns a zero point in the form that kernels of the target read: a single element, in i32 on
  /// CPUs, or null for 0. Returns nullopt for zero points that kernels do not support.
  std::optional<Value> kernelZeroPoint(Value zero) {
    if (isZeroOrNone(zero))
      return Value();
    if (typeOf(zero).getNumElements() != 1 || (generatesSums && !isInt8ZeroPoint(zero)))
      return std::nullopt;
    TensorBuilder b(builder, zero.getLoc());
    if (isHost)
      zero = foldToConstant(builder, b.cast(zero, builder.getI32Type()));
    return foldToConstant(builder, b.reshape(zero, {}));
  }

  /// Stores constant weights with the reduction dimension last, because tensor cores read 8-bit
  /// integers that are contiguous along this dimension.
  void transposeWeights(Operation *op) {
    auto product = dyn_cast<MatmulOp>(op);
    if (!product || product.getTransposeB() || typeOf(product.getB()).getRank() != 2 ||
        !isComputedFromConstants(product.getB()))
      return;
    OpBuilder at(op);
    Value transposed =
        TensorBuilder(at, op->getLoc()).make<TransposeOp>(product.getB(), ArrayRef<int64_t>{1, 0});
    product.getBMutable().assign(foldToConstant(at, transposed));
    product.setTransposeB(true);
  }

  /// Keeps the weights of a matmul with few rows in 8 bits, because it is bound by weight
  /// bandwidth. The result of the matmul is multiplied by the scales.
  void readNarrow(Operation *op) {
    auto product = dyn_cast<MatmulOp>(op);
    if (!product || typeOf(product.getB()).getRank() != 2 ||
        !isWeightBandwidthBound(
            product, std::max(kMaxWeightBoundRows, costs.capabilities().maxBlockScaledRows)))
      return;
    if (keepChannelQuantizedWeights(product, costs))
      return;
    auto w = product.getB().getDefiningOp<DequantizeOp>();
    auto factors = w && !w.getZeroPoint() ? perChannel(op, w.getScale()) : std::nullopt;
    if (!factors || hasBlockParameters(w) || !isInt8(w.getX().getType()) ||
        !isComputedFromConstants(w.getX()) || !isWeightBandwidthBound(product, kMaxWeightBoundRows))
      return;
    TensorBuilder b(builder, op->getLoc());
    Value bits = b.cast(w.getX(), builder.getF32Type());
    Operation *sums = builder.clone(*op);
    sums->setOperand(1, bits);
    op->getResult(0).replaceAllUsesWith(b.make<MulOp>(sums->getResult(0), *factors));
    op->erase();
  }

  /// Checks that the scale or zero point `each` has one element, or one for each index of the given
  /// axis of the weights.
  static bool isPerIndex(Value weights, int64_t axis, Value each) {
    auto type = typeOf(each);
    return type.getNumElements() == 1 || (type.getRank() == typeOf(weights).getRank() &&
                                          type.getNumElements() == type.getDimSize(axis));
  }

  /// Clones a contraction with the operands `left` and `right`, without its bias and zero points.
  Operation *withOperands(Operation *op, Value left, Value right) {
    Operation *other = builder.clone(*op);
    if (auto conv = dyn_cast<ConvOp>(other))
      conv.getBiasMutable().clear();
    if (!isa<ConvTransposeOp>(other))
      setZeroPoints(other, Value(), Value());
    other->setOperand(0, left);
    other->setOperand(1, right);
    return other;
  }

  /// Rewrites a contraction of dequantized operands as an integer contraction. Returns whether
  /// there is a kernel for the integer contraction.
  bool asIntegers(Operation *op) {
    auto x = matchDequantizedRows(op->getOperand(0), builder);
    auto w = x ? matchDequantized(op->getOperand(1), builder) : std::nullopt;
    auto factors = w ? perChannel(op, w->scale) : std::nullopt,
         rows = w ? perRow(op, x->scale) : std::nullopt,
         zeros = w && x->zeros ? perRow(op, x->zeros) : std::nullopt,
         right = w ? zeroPointOfWeights(op, w->integers.zeroPoint) : std::nullopt;
    Value left = w ? x->integers.zeroPoint : Value();
    if (rows && x->floats)
      rows = withNaN(op, *rows, x->floats);
    if (!factors || !rows || !right || (left && typeOf(left).getNumElements() != 1) ||
        (x->zeros && (!zeros || !isa<MatmulOp>(op) || !isComputedFromConstants(w->integers.x))))
      return false;
    TensorBuilder b(builder, op->getLoc());
    Operation *integers = withOperands(op, x->integers.x, w->integers.x);
    integers->getResult(0).setType(typeOf(op->getResult(0)).clone(builder.getI32Type()));
    setZeroPoints(integers, left ? b.reshape(left, {}) : left, *right);
    auto sums = sumsOf(integers);
    if (sums) {
      Value y = b.cast(finish(*sums), builder.getF32Type());
      if (zeros)
        y = b.make<SubOp>(y, b.make<MulOp>(*zeros, channelSums(integers)));
      y = scaled(op, y, *factors, *rows, b);
      if (Value bias = biasOf(op))
        y = b.make<AddOp>(y, b.reshape(bias, channelShape(op)));
      replace(op, y, *sums);
    }
    integers->erase();
    return sums.has_value();
  }

  /// Reshapes the zero point of dequantized weights to a shape that a contraction supports: rank 0,
  /// one element for each column of a matmul, or [output channels]. Returns nullopt for other zero
  /// points.
  std::optional<Value> zeroPointOfWeights(Operation *op, Value zero) {
    if (!zero)
      return zero;
    TensorBuilder b(builder, op->getLoc());
    if (typeOf(zero).getNumElements() == 1)
      return b.reshape(zero, {});
    if (!isPerIndex(op->getOperand(1), channelAxis(op), zero))
      return std::nullopt;
    return isa<MatmulOp>(op) ? zero : b.reshape(zero, {typeOf(zero).getNumElements()});
  }

  /// Multiplies the result of an integer contraction by the scales of the weights and of x, or by
  /// the product of both if x has a single scale. `op` is the operation that is replaced.
  static Value scaled(Operation *op, Value sums, Value ofWeights, Value ofX, TensorBuilder &b) {
    if (typeOf(ofX).getNumElements() == 1 && mayMergeScales(op, ofWeights, ofX))
      return b.make<MulOp>(sums, b.make<MulOp>(ofWeights, ofX));
    return b.make<MulOp>(b.make<MulOp>(sums, ofWeights), ofX);
  }

  /// Returns whether scaled() may merge the scales to one factor. This is always permitted for
  /// scales that are not constant. Constant scales require an accuracy other than strict, and
  /// products that are normal numbers (neither subnormal nor infinite).
  static bool mayMergeScales(Operation *op, Value ofWeights, Value ofX) {
    if (!isComputedFromConstants(ofWeights) || !isComputedFromConstants(ofX))
      return true;
    auto all = evaluateConstant(ofWeights), one = evaluateConstant(ofX);
    if (!all || !one)
      return false;
    Type element = typeOf(ofX).getElementType();
    for (int64_t i = 0; i < all->size(); ++i)
      if (!isRewriteAllowed(
              {ConstantRewrite::Kind::MergeScales, element, {all->getDouble(i), one->getDouble(0)}},
              op))
        return false;
    return true;
  }

  /// Reshapes x's scales so that they broadcast to the result. Returns nullopt unless there is a
  /// single scale or one for each row of a matmul.
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

  /// Sets the scale of each row that contains NaN to NaN, so that the results of this row are NaN.
  /// Returns nullopt for convolutions.
  std::optional<Value> withNaN(Operation *op, Value rows, Value floats) {
    auto product = dyn_cast<MatmulOp>(op);
    if (!product)
      return std::nullopt;
    TensorBuilder b(builder, op->getLoc());
    int64_t depth = typeOf(floats).getRank() - (product.getTransposeA() ? 2 : 1);
    // The sum of a row of clamped values is NaN only if one of the values is NaN, and finite
    // otherwise, so that sum - sum is NaN or 0.
    auto sums = perRow(op, b.reduce(ReduceKind::sum, floats, {depth}));
    return sums ? std::optional(b.make<AddOp>(rows, b.make<SubOp>(*sums, *sums))) : sums;
  }

  /// Returns the sum of an integer matmul's weights over the reduction dimension, in f32, for each
  /// output channel.
  Value channelSums(Operation *op) {
    TensorBuilder b(builder, op->getLoc());
    Value weights = subtractZeroPoint(builder, op, 1);
    int64_t rank = typeOf(weights).getRank();
    int64_t depth = rank - (cast<MatmulOp>(op).getTransposeB() ? 1 : 2);
    SmallVector<int64_t> shape(shapeOf(weights));
    shape.erase(shape.begin() + depth);
    if (rank > 2)
      shape.insert(shape.end() - 1, 1);
    return b.reshape(b.cast(b.reduce(ReduceKind::sum, weights, {depth}), builder.getF32Type()),
                     shape);
  }

  /// Rewrites a transposed convolution of dequantized operands as one integer convolution that
  /// computes all phases (passes/SubPixels.h), if there is a kernel for that convolution.
  void sumTransposed(ConvTransposeOp op) {
    auto phases = computeSubPixelPhases(op);
    auto x = matchDequantized(op.getX(), builder), w = matchDequantized(op.getW(), builder);
    constexpr int64_t kOutputs = 1; // axis of output channels in weights [C, O, ..]
    auto isSingle = [](Value each) { return !each || typeOf(each).getNumElements() == 1; };
    if (!phases || !x || !w || op.getGroups() != 1 || !isSingle(x->scale) ||
        !isSingle(x->integers.zeroPoint) || !isComputedFromConstants(w->integers.x) ||
        !isPerIndex(op.getW(), kOutputs, w->scale))
      return;
    auto weights = evaluateConstant(
        subtractZeroPoint(builder, op.getLoc(), w->integers.x, w->integers.zeroPoint));
    auto narrow = weights ? narrowToInt8(*weights) : std::nullopt;
    if (!narrow)
      return;
    TensorBuilder b(builder, op.getLoc());
    SubPixels phased(op, *phases, b);
    Value arranged = foldToConstant(builder, phased.weights(b.make<ConstantOp>(narrow->toAttr())));
    Operation *conv = phased.convolution(x->integers.x, arranged, Value()).getDefiningOp();
    if (Value zero = x->integers.zeroPoint)
      setZeroPoints(conv, b.reshape(zero, {}), Value());
    if (auto sums = sumsOf(conv)) {
      auto each = [&](Value v) {
        const int64_t count = typeOf(v).getNumElements();
        return count == 1 ? b.reshape(v, {})
                          : b.reshape(phased.repeated(b.reshape(v, {count})), channelShape(conv));
      };
      Value y = b.cast(finish(*sums), builder.getF32Type());
      y = scaled(op, y, each(w->scale), each(x->scale), b);
      if (op.getBias())
        y = b.make<AddOp>(y, each(op.getBias()));
      replace(op, phased.interleaved(y), *sums);
    }
    conv->erase();
  }

  /// Reshapes the scales of weights so that they broadcast to the result. Returns nullopt unless
  /// there is a single scale or one for each output channel.
  std::optional<Value> perChannel(Operation *op, Value scale) {
    TensorBuilder b(builder, op->getLoc());
    auto type = typeOf(scale);
    if (type.getNumElements() == 1)
      return type.getRank() ? b.reshape(scale, {}) : scale;
    if (!isPerIndex(op->getOperand(1), channelAxis(op), scale))
      return std::nullopt;
    return b.reshape(scale, channelShape(op));
  }

  /// Returns Σx, the sum of the inputs, for each row of an integer matmul or each window of an
  /// integer convolution, in i32.
  Value inputSums(Operation *op, TensorBuilder &b) {
    if (auto conv = dyn_cast<ConvOp>(op))
      return windowSums(b, conv);
    Value x = subtractZeroPoint(builder, op, 0);
    int64_t rank = typeOf(x).getRank(), depth = rank - (cast<MatmulOp>(op).getTransposeA() ? 2 : 1);
    SmallVector<int64_t> sizes(shapeOf(x));
    sizes.erase(sizes.begin() + depth);
    sizes.push_back(1);
    return b.reshape(b.reduce(ReduceKind::sum, x, {depth}), sizes);
  }

  /// Returns Σx, the sum of the inputs, over each window of a convolution. A 1x1 convolution sums
  /// the channels in any layout; a convolution of one channel in f32 then sums the window. The f32
  /// sums are exact if hasExactF32Sums() holds.
  Value windowSums(TensorBuilder &b, ConvOp conv) {
    auto ones = [&](ArrayRef<int64_t> shape, Type element) {
      auto all = ref::Tensor::empty(RankedTensorType::get(shape, element));
      for (int64_t i = 0; i < all.size(); ++i)
        all.setDouble(i, 1);
      return b.make<ConstantOp>(all.toAttr());
    };
    Type i8 = builder.getIntegerType(8), i32 = builder.getI32Type(), f32 = builder.getF32Type();
    SmallVector<int64_t> image(shapeOf(conv.getX())), window(shapeOf(conv.getW())),
        sizes(shapeOf(conv.getY()));
    image[1] = window[0] = sizes[1] = 1;
    SmallVector<int64_t> point(window.size(), 1);
    point[1] = std::exchange(window[1], 1);
    auto added = cast<ConvOp>(withOperands(conv, conv.getX(), ones(point, i8)));
    setZeroPoints(added, conv.getXZeroPoint(), Value());
    bool isPoint = window == SmallVector<int64_t>(window.size(), 1);
    added.getResult().setType(RankedTensorType::get(isPoint ? sizes : image, i32));
    if (isPoint)
      return added;
    SmallVector<int64_t> none(window.size() - 2, 0), one(window.size() - 2, 1);
    added.setLow(none), added.setHigh(none), added.setStrides(one), added.setDilations(one);
    auto sums = cast<ConvOp>(withOperands(conv, b.cast(added, f32), ones(window, f32)));
    sums.getResult().setType(RankedTensorType::get(sizes, f32));
    markExact(sums);
    return b.cast(sums, i32);
  }

  /// Marks the contraction so that kernels compute it in f32 in the written order, which keeps sums
  /// of integers exact.
  void markExact(Operation *op) {
    op->setAttr(kAccuracyAttr, builder.getStringAttr("strict"));
    op->setAttr(kPrecisionAttr, builder.getStringAttr("f32"));
  }

  /// Computes an integer contraction in f32, split along the reduction dimension so that no partial
  /// sum exceeds kExact (2^24). If the range of an operand is not known at compile time, only casts
  /// the operands to i32.
  void asFloats(Operation *op) {
    auto x = getMagnitudeBound(getIntegerOperand(op, 0)),
         w = getMagnitudeBound(getIntegerOperand(op, 1));
    Value wideX = subtractZeroPoint(builder, op, 0), wideW = subtractZeroPoint(builder, op, 1);
    if (!x || !w) {
      op->setOperand(0, wideX);
      op->setOperand(1, wideW);
      return setZeroPoints(op, Value(), Value());
    }
    double most = kExact / std::max(*x * *w, 1.0);
    ArrayRef<int64_t> weights = shapeOf(wideW);
    TensorBuilder b(builder, op->getLoc());
    auto part = [&](Value left, Value right) {
      Operation *sums =
          withOperands(op, b.cast(left, builder.getF32Type()), b.cast(right, builder.getF32Type()));
      sums->getResult(0).setType(typeOf(op->getResult(0)).clone(builder.getF32Type()));
      markExact(sums);
      return b.cast(sums->getResult(0), builder.getI32Type());
    };
    // Reduction axes of both operands. Each index of the reduction axis adds `each` products to a
    // sum.
    auto product = dyn_cast<MatmulOp>(op);
    auto conv = dyn_cast<ConvOp>(op);
    int64_t left = product ? typeOf(wideX).getRank() - (product.getTransposeA() ? 2 : 1) : 1,
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
      Value one = size == depth
                      ? part(wideX, wideW)
                      : part(slice(b, wideX, left, from, size), slice(b, wideW, right, from, size));
      sum = sum ? b.make<AddOp>(sum, one) : one;
    }
    if (!sum)
      return;
    if (Value bias = biasOf(op))
      sum = b.make<AddOp>(sum, b.reshape(bias, channelShape(op)));
    op->getResult(0).replaceAllUsesWith(sum);
    op->erase();
  }

  /// Splits a grouped convolution into one convolution for each group and concatenates the results.
  void splitGroups(ConvOp conv) {
    constexpr int64_t kMaxGroups = 16;
    const int64_t groups = conv.getGroups(), inputs = shapeOf(conv.getX())[1] / groups,
                  outputs = shapeOf(conv.getY())[1] / groups;
    if (groups > kMaxGroups)
      return;
    TensorBuilder b(builder, conv.getLoc());
    SmallVector<ConvOp> parts;
    SmallVector<Value> results;
    for (int64_t g = 0; g < groups; ++g) {
      auto part = cast<ConvOp>(builder.clone(*conv));
      part.getXMutable().assign(slice(b, conv.getX(), 1, g * inputs, inputs));
      part.getWMutable().assign(slice(b, conv.getW(), 0, g * outputs, outputs));
      if (Value bias = conv.getBias())
        part.getBiasMutable().assign(slice(b, bias, 0, g * outputs, outputs));
      if (Value zero = conv.getWZeroPoint(); zero && typeOf(zero).getRank() == 1)
        part.getWZeroPointMutable().assign(slice(b, zero, 0, g * outputs, outputs));
      part->moveBefore(conv);
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
  const bool generatesSums; ///< TargetCapabilities::generatesIntegerSums
  bool isTraining = false;
};

struct IntegerSumsPass : OptionPass<IntegerSumsPass> {
  IntegerSumsPass(const ModelOptions &options, CostsFactory kernels)
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
    simplifyRequantization(module);
    IntegerSumsRewriter rewriter(module, *costs, isOnePlace && !isGpu, isOnePlace && isGpu);
    SmallVector<Operation *> contractions;
    module.walk([&](Operation *op) {
      if (isa<ConvOp, ConvTransposeOp, MatmulOp>(op))
        contractions.push_back(op);
    });
    for (Operation *op : contractions)
      rewriter.rewrite(op);
    return success();
  }

  Option<std::string> which{*this, "costs", llvm::cl::desc(kCostsHelp), llvm::cl::init("kernels")};
  CostsFactory kernels;
};

} // namespace

std::unique_ptr<Pass> createIntegerSumsPass(const ModelOptions &options, CostsFactory kernels) {
  return std::make_unique<IntegerSumsPass>(options, std::move(kernels));
}

} // namespace dlc
