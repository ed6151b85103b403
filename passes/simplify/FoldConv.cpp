//===- FoldConv.cpp - folds per-channel operations into convolution weights ---===//
#include "ir/dlc/Shape.h"
#include "passes/ConstantRewrites.h"
#include "passes/simplify/Constants.h"
#include "passes/simplify/Patterns.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace dlc {
namespace {

/// Convolution with constant weights and bias whose result has a single use.
struct ConstantConv {
  Operation *op = nullptr;
  Value weights, bias;
  int64_t channels = 0; // number of output channels

  static std::optional<ConstantConv> match(Value value) {
    ConstantConv conv;
    conv.op = value.getDefiningOp();
    if (!conv.op || !value.hasOneUse())
      return std::nullopt;
    if (auto op = dyn_cast<ConvOp>(conv.op)) {
      conv.weights = op.getW();
      conv.bias = op.getBias();
    } else if (auto op = dyn_cast<ConvTransposeOp>(conv.op)) {
      conv.weights = op.getW();
      conv.bias = op.getBias();
    } else {
      return std::nullopt;
    }
    if (!conv.weights.getDefiningOp<ConstantOp>() || !typeOf(value).hasStaticShape() ||
        (conv.bias && !conv.bias.getDefiningOp<ConstantOp>()) ||
        !isa<FloatType>(typeOf(value).getElementType()))
      return std::nullopt;
    conv.channels = shapeOf(value)[1];
    return conv;
  }

  /// Returns the output channel to which the weights [i, j, ..] belong.
  int64_t channelOf(int64_t i, int64_t j) const {
    if (isa<ConvOp>(op))
      return i;
    auto transposed = cast<ConvTransposeOp>(op);
    int64_t perGroup = shapeOf(weights)[0] / int64_t(transposed.getGroups());
    return i / perGroup * shapeOf(weights)[1] + j;
  }
};

/// Returns the weights multiplied by the scale of their output channel, in the element type of the
/// weights.
ref::Tensor scaleWeights(const ConstantConv &conv, const ref::Tensor &weights,
                         ArrayRef<double> scale) {
  ref::Tensor scaled = ref::Tensor::empty(weights.getType());
  ArrayRef<int64_t> shape = staticShape(weights);
  int64_t window = weights.size() / std::max<int64_t>(shape[0] * shape[1], 1);
  bool isF32 = weights.getElementType().isF32();
  for (int64_t i = 0, at = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j) {
      double factor = scale[conv.channelOf(i, j)];
      for (int64_t k = 0; k < window; ++k, ++at) {
        if (isF32)
          reinterpret_cast<float *>(scaled.mutableData())[at] =
              static_cast<float>(reinterpret_cast<const float *>(weights.data())[at] * factor);
        else
          scaled.setDouble(at, weights.getDouble(at) * factor);
      }
    }
  return scaled;
}

/// Scale and offset for each channel (an affine map), as of a batch normalization.
struct ChannelAffine {
  std::vector<double> scale, shift;
  /// Mean and standard deviation of each channel before the scale is applied; empty if they are not
  /// available.
  std::vector<double> mean, deviation;
  /// Whether scale and offset are from one normalization, so that the offset may be merged with the
  /// convolution's bias.
  bool isOneOperation = false;

  /// Returns the scale and offset of a batch normalization whose statistics are constants, or
  /// nullopt for others.
  static std::optional<ChannelAffine> of(BatchNormOp op) {
    int64_t channels = shapeOf(op.getX())[1];
    std::array<std::optional<ref::Tensor>, 4> values = {
        constantTensor(op.getScale()), constantTensor(op.getBias()), constantTensor(op.getMean()),
        constantTensor(op.getVariance())};
    if (llvm::any_of(values, [](auto &value) { return !value; }))
      return std::nullopt;
    ChannelAffine affine;
    affine.isOneOperation = true;
    for (int64_t c = 0; c < channels; ++c) {
      double deviation = std::sqrt(values[3]->getDouble(c) + op.getEps().convertToDouble());
      double scale = values[0]->getDouble(c) / deviation;
      affine.scale.push_back(scale);
      affine.shift.push_back(values[1]->getDouble(c) - values[2]->getDouble(c) * scale);
      affine.mean.push_back(values[2]->getDouble(c));
      affine.deviation.push_back(deviation);
    }
    return affine;
  }
};

using Kind = ConstantRewrite::Kind;

/// Returns whether the weights and the bias of each channel may be multiplied by the channel's
/// scale, and the offset be added to the bias.
bool mayFold(const ConstantConv &conv, Operation *root, const ref::Tensor &weights,
             ArrayRef<double> bias, const ChannelAffine &affine) {
  Type element = weights.getElementType();
  auto allows = [&](Kind kind, SmallVector<double, 4> constants) {
    ConstantRewrite rewrite{kind, element, std::move(constants)};
    return isRewriteAllowed(rewrite, conv.op) && isRewriteAllowed(rewrite, root);
  };
  if (affine.isOneOperation && !allows(Kind::ChangeRounding, {}))
    return false;
  bool isScaled = llvm::any_of(affine.scale, [](double s) { return s != 1; });
  std::vector<SmallVector<double, 4>> factors(isScaled ? conv.channels : 0);
  std::vector<double> largest(conv.channels, 0);
  for (size_t c = 0; c < factors.size(); ++c)
    factors[c].push_back(affine.scale[c]);
  ArrayRef<int64_t> shape = staticShape(weights);
  int64_t window = weights.size() / std::max<int64_t>(shape[0] * shape[1], 1);
  for (int64_t i = 0, at = 0; isScaled && i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j) {
      int64_t channel = conv.channelOf(i, j);
      for (int64_t k = 0; k < window; ++k, ++at) {
        double weight = weights.getDouble(at);
        factors[channel].push_back(weight);
        largest[channel] = std::max(largest[channel], std::fabs(weight));
      }
    }
  ArrayRef<double> magnitudes = affine.deviation.empty() ? largest : affine.deviation;
  for (int64_t c = 0; c < conv.channels; ++c)
    if ((isScaled &&
         (!allows(Kind::FoldFactor, std::move(factors[c])) ||
          !allows(Kind::DistributeFactor, {bias[c], affine.scale[c], magnitudes[c]}))) ||
        (!affine.isOneOperation && !allows(Kind::MergeTerms, {bias[c], affine.shift[c]})))
      return false;
  return true;
}

/// Replaces `root` by the convolution with the scale and offset folded into its weights and bias.
LogicalResult foldInto(ConstantConv conv, Operation *root, const ChannelAffine &affine,
                       PatternRewriter &rewriter) {
  std::optional<ref::Tensor> weights = constantTensor(conv.weights);
  if (!weights)
    return failure();
  RankedTensorType weightsType = typeOf(conv.weights);
  auto biasType =
      makeTensorType({conv.channels}, weightsType.getElementType(), deviceOf(weightsType));
  std::vector<double> old(conv.channels, 0);
  if (conv.bias) {
    auto read = constantTensor(conv.bias);
    if (!read)
      return failure();
    for (int64_t c = 0; c < conv.channels; ++c)
      old[c] = read->getDouble(c);
  }
  if (!mayFold(conv, root, *weights, old, affine))
    return failure();
  ref::Tensor bias =
      ref::Tensor::empty(makeTensorType({conv.channels}, weightsType.getElementType()));
  for (int64_t c = 0; c < conv.channels; ++c) {
    bias.setDouble(c, old[c] * affine.scale[c] + affine.shift[c]);
    if (!std::isfinite(bias.getDouble(c)))
      return failure();
  }
  Value newWeights = conv.weights;
  if (llvm::any_of(affine.scale, [](double s) { return s != 1; }))
    newWeights = makeConstant(rewriter, conv.weights.getLoc(),
                              scaleWeights(conv, *weights, affine.scale), weightsType);
  Value newBias = makeConstant(rewriter, root->getLoc(), bias, biasType);
  Location loc = FusedLoc::get(root->getContext(), {conv.op->getLoc(), root->getLoc()});
  Value result;
  if (auto op = dyn_cast<ConvOp>(conv.op))
    result = ConvOp::create(rewriter, loc, op.getX(), newWeights, newBias, op.getStrides(),
                            op.getDilations(), op.getLow(), op.getHigh(), op.getGroups());
  else if (auto op = dyn_cast<ConvTransposeOp>(conv.op))
    result = ConvTransposeOp::create(rewriter, loc, op.getX(), newWeights, newBias, op.getStrides(),
                                     op.getDilations(), op.getLow(), op.getHigh(), op.getExtra(),
                                     op.getGroups());
  result.getDefiningOp()->setDiscardableAttrs(conv.op->getDiscardableAttrDictionary());
  rewriter.replaceOp(root, result);
  return success();
}

/// Returns whether a batch normalization may be computed as x s + t with a scale s and an offset t
/// for each channel, which loses accuracy if its mean is large.
bool canComputeAsAffine(BatchNormOp op, const ChannelAffine &affine) {
  Type element = typeOf(op.getX()).getElementType();
  if (!isRewriteAllowed({Kind::ChangeRounding, element, {}}, op))
    return false;
  for (auto [scale, shift, mean, deviation] :
       llvm::zip(affine.scale, affine.shift, affine.mean, affine.deviation))
    if (!std::isfinite(shift) || !isRewriteAllowed({Kind::FoldFactor, element, {scale, 1}}, op) ||
        !isRewriteAllowed({Kind::DistributeFactor, element, {mean, scale, deviation}}, op))
      return false;
  return true;
}

// batch_norm(conv(x, w, b)) -> conv(x, w s, b s + t); otherwise batch_norm(x) -> x s + t, with s
// and t the scale and offset of each channel
struct FoldBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    if (!typeOf(op.getX()).hasStaticShape())
      return failure();
    std::optional<ChannelAffine> affine = ChannelAffine::of(op);
    if (!affine)
      return failure();
    if (auto conv = ConstantConv::match(op.getX()))
      return foldInto(*conv, op, *affine, rewriter);
    RankedTensorType type = typeOf(op.getX());
    if (type.getElementType().isF16() || type.getElementType().isBF16())
      return failure(); // the decomposition of batch_norm computes 16-bit types in f32
    if (!canComputeAsAffine(op, *affine))
      return failure();
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = staticDim(type, 1);
    auto constant = [&](ArrayRef<double> numbers) {
      ref::Tensor tensor = ref::Tensor::empty(makeTensorType(shape, type.getElementType()));
      for (auto [c, number] : llvm::enumerate(numbers))
        tensor.setDouble(c, number);
      auto placed = makeTensorType(shape, type.getElementType(), deviceOf(type));
      return makeConstant(rewriter, op.getLoc(), tensor, placed);
    };
    TensorBuilder b(rewriter, op.getLoc());
    Value scaled = b.make<MulOp>(op.getX(), constant(affine->scale));
    rewriter.replaceOpWithNewOp<AddOp>(op, scaled, constant(affine->shift));
    return success();
  }
};

// conv(x, w, b) * s -> conv(x, w s, b s)    conv(x, w, b) / s -> conv(x, w / s, b / s)
// conv(x, w, b) + t -> conv(x, w, b + t)    conv(x, w, b) - t -> conv(x, w, b - t)
template <typename Op> struct FoldPerChannel : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    constexpr bool commutes = std::is_same_v<Op, AddOp> || std::is_same_v<Op, MulOp>;
    for (auto [x, c] : {std::pair<Value, Value>(op.getA(), op.getB()),
                        std::pair<Value, Value>(op.getB(), op.getA())}) {
      if (!commutes && x != op.getA())
        continue;
      auto conv = ConstantConv::match(x);
      if (!conv || x.getType() != op.getY().getType())
        continue;
      auto numbers = getPerChannelConstant(c, typeOf(x).getRank(), conv->channels);
      if (!numbers)
        continue;
      ChannelAffine affine;
      affine.scale.assign(conv->channels, 1);
      affine.shift.assign(conv->channels, 0);
      for (int64_t i = 0; i < conv->channels; ++i) {
        double number = (*numbers)[i];
        if (std::is_same_v<Op, MulOp>)
          affine.scale[i] = number;
        else if (std::is_same_v<Op, DivOp>)
          affine.scale[i] = 1 / number;
        else
          affine.shift[i] = std::is_same_v<Op, AddOp> ? number : -number;
        Type element = typeOf(x).getElementType();
        if (std::is_same_v<Op, DivOp> &&
            !isRewriteAllowed({Kind::ReplaceDivision, element, {number}}, op))
          return failure();
      }
      return foldInto(*conv, op, affine, rewriter);
    }
    return failure();
  }
};

} // namespace

void addConvFolding(RewritePatternSet &patterns) {
  patterns.add<FoldBatchNorm, FoldPerChannel<AddOp>, FoldPerChannel<SubOp>, FoldPerChannel<MulOp>,
               FoldPerChannel<DivOp>>(patterns.getContext());
}

} // namespace dlc
