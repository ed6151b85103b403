//===- Norm.cpp - gradients of softmax and normalization ------------------===//
//
// If the forward and the backward pass both need the statistics of a normalization, the forward
// operation is decomposed, so that the statistics are computed once.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "passes/Compositions.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

static Expr reshapeToChannels(Expr vector, int64_t rank) {
  return {vector.builder(), dlc::reshapeToChannels(vector.builder(), vector, rank)};
}

/// Decomposition of an operation that normalizes rows (layer_norm or rms_norm): h = c * r, y = h *
/// scale + bias.
struct NormalizedRows {
  Value c, r, y;
};

/// Decomposes layer_norm (if `centred` is set) or rms_norm, and inserts the operations before `op`.
template <typename Op> static NormalizedRows decomposeNorm(Op op, Value bias, bool centred) {
  OpBuilder here(op);
  TensorBuilder b(here, op.getLoc());
  Expr x(b, op.getX());
  Type narrow = x.element(), wide = statisticsType(x);
  x = x.cast(wide);
  SmallVector<int64_t> axes = range(op.getAxis(), x.rank());
  Expr c = centred ? x - x.mean(axes) : x;
  Expr r = ((c * c).mean(axes) + op.getEps().convertToDouble()).template as<RsqrtOp>();
  Expr y = c * r;
  if (op.getScale())
    y = y * Expr(b, op.getScale()).cast(wide);
  if (bias)
    y = y + Expr(b, bias).cast(wide);
  return {c, r, y.cast(narrow)};
}

// Gradient of layer_norm and rms_norm. With h = c r and dh = dy scale: dx = r (dh - mean(dh) - h
// mean(dh h)), without the first mean for rms_norm; dscale = sum of dy h, dbias = sum of dy
template <typename Op>
static void differentiateRowNorm(Op op, BackwardPass &g, Value bias, bool centred) {
  NormalizedRows rows = decomposeNorm(op, bias, centred);
  Expr r = g(rows.r), h = g(rows.c) * r;
  Expr dy = g.of(op.getY()).cast(h.element());
  SmallVector<int64_t> axes = range(op.getAxis(), h.rank());
  g.add(op.getX(), [&] {
    Expr dh = op.getScale() ? dy * g(op.getScale()).cast(h.element()) : dy;
    Expr rest = h * (dh * h).mean(axes);
    return r * (centred ? dh - dh.mean(axes) - rest : dh - rest);
  });
  if (op.getScale())
    g.add(op.getScale(), [&] { return dy * h; });
  if (bias)
    g.add(bias, [&] { return dy; });
  g.replace(op, rows.y);
}

// Gradient of group_norm. With h = (x - mean) r and dh = dy scale: dx = r (dh - mean(dh) - h
// mean(dh h)), dscale = sum of dy h, dbias = sum of dy. The means over groups, dscale and dbias are
// derived from the means over the channels of each image.
static void differentiate(GroupNormOp op, BackwardPass &g) {
  OpBuilder here(op);
  TensorBuilder b(here, op.getLoc());
  int64_t groups = op.getGroups(), rank = typeOf(op.getX()).getRank();
  Type wide = statisticsType(op.getX()), narrow = typeOf(op.getX()).getElementType();
  Expr x = Expr(b, op.getX()).cast(wide);
  GroupStatistics found = buildGroupStatistics(b, x, groups);
  Expr mean(b, found.mean), variance(b, found.variance);
  Expr centred = x - mean, r = (variance + op.getEps().convertToDouble()).as<RsqrtOp>();
  Expr y = centred * r;
  if (op.getScale())
    y = y * reshapeToChannels(Expr(b, op.getScale()).cast(wide), rank);
  if (op.getBias())
    y = y + reshapeToChannels(Expr(b, op.getBias()).cast(wide), rank);
  y = y.cast(narrow);

  Expr dy = g.of(op.getY()).cast(wide), h = g(centred) * g(r);
  auto scaled = [&](Expr of) {
    return op.getScale() ? of * reshapeToChannels(g(op.getScale()).cast(wide), rank) : of;
  };
  auto means = [&](Expr of) { return Expr(g.build(), buildChannelMeans(g.build(), of)); };
  auto inGroups = [&](Expr of) {
    return Expr(g.build(), buildGroupMeans(g.build(), scaled(of), groups));
  };
  double places = double(product(x.shape().drop_front(2)));
  g.add(op.getX(),
        [&] { return g(r) * (scaled(dy) - inGroups(means(dy)) - h * inGroups(means(dy * h))); });
  if (op.getScale())
    g.add(op.getScale(), [&] { return places * channelSums(means(dy * h)); });
  if (op.getBias())
    g.add(op.getBias(), [&] { return places * channelSums(means(dy)); });
  g.replace(op, Value(y));
}

// Gradient of batch_norm with given statistics. With r = 1 / sqrt(variance + eps) and h = (x -
// mean) r for each channel: dx = dy scale r, dscale = sum(dy h), dbias = sum(dy), dmean = -scale r
// sum(dy), dvariance = -scale r^2 sum(dy h) / 2
static void differentiate(BatchNormOp op, BackwardPass &g) {
  Expr x = g(op.getX());
  Type wide = statisticsType(x);
  auto inWide = [&](Value v) { return g(v).cast(wide); };
  Expr r = (inWide(op.getVariance()) + op.getEps().convertToDouble()).as<RsqrtOp>();
  Expr dy = g.of(op.getY()).cast(wide), scaled = inWide(op.getScale()) * r;
  auto sumOfH = [&] {
    Expr centred = x.cast(wide) - reshapeToChannels(inWide(op.getMean()), x.rank());
    return channelSums(dy * centred) * r;
  };
  g.add(op.getX(), [&] { return dy * reshapeToChannels(scaled, x.rank()); });
  g.add(op.getScale(), [&] { return sumOfH(); });
  g.add(op.getBias(), [&] { return channelSums(dy); });
  g.add(op.getMean(), [&] { return -(scaled * channelSums(dy)); });
  g.add(op.getVariance(), [&] { return -0.5 * (scaled * r * sumOfH()); });
}

// Gradient of batch_norm_train: batch_norm_grad, plus the gradients of the loss with respect to the
// mean and variance results: dx += dmean / M + 2 dvariance (x - mean) / M
static LogicalResult differentiate(BatchNormTrainOp op, BackwardPass &g) {
  Attribute overRanks = op->getAttr(kOverRanksAttr);
  if (overRanks && (g.of(op.getMean()) || g.of(op.getVariance())))
    return op.emitError("dlc.batch_norm_train over all ranks has no gradient of its statistics; "
                        "leave them out of the loss, or use the statistics of each rank");
  Expr x = g(op.getX());
  if (Expr dy = g.of(op.getY())) {
    auto grad = BatchNormGradOp::create(g.place(), g.location(), op.getX(), Value(dy),
                                        op.getScale(), op.getMean(), op.getVariance(), op.getEps());
    if (overRanks)
      grad->setAttr(kOverRanksAttr, overRanks);
    g.add(op.getX(), [&] { return grad.getDx(); });
    g.add(op.getScale(), [&] { return grad.getDscale(); });
    g.add(op.getBias(), [&] { return grad.getDbias(); });
  }
  Type wide = statisticsType(x);
  double share = double(x.dim(1)) / double(product(x.shape()));
  auto inWide = [&](Value v) { return reshapeToChannels(g(v).cast(wide), x.rank()); };
  if (Expr dmean = g.of(op.getMean()))
    g.add(op.getX(), [&] { return share * inWide(dmean); });
  if (Expr dvariance = g.of(op.getVariance()))
    g.add(op.getX(),
          [&] { return 2 * share * inWide(dvariance) * (x.cast(wide) - inWide(op.getMean())); });
  return success();
}

// Gradient of local response normalization, y = x B^-beta with B = k + alpha / size S(x^2), where S
// is a sum over a window of channels with the adjoint S*: dx = dy B^-beta - 2 alpha beta / size x
// S*(dy y / B)
static void differentiate(LrnOp op, BackwardPass &g) {
  OpBuilder here(op);
  TensorBuilder forward(here, op.getLoc());
  Type wide = statisticsType(op.getX()), narrow = typeOf(op.getX()).getElementType();
  Expr x = Expr(forward, op.getX()).cast(wide), base(forward, buildLrnDenominator(forward, op, x));
  double beta = op.getBeta().convertToDouble();
  Expr power = base.with<PowOp>(base.scalar(-beta));
  Expr y = x * power;
  g.add(op.getX(), [&] {
    Expr dy = g.of(op.getY()).cast(wide);
    int64_t size = op.getSize();
    Expr inner = dy * g(y) / g(base);
    Expr sums(g.build(), buildChannelWindowSum(g.build(), inner, size, size - 1 - (size - 1) / 2));
    double factor = 2 * op.getAlpha().convertToDouble() * beta / double(size);
    return dy * g(power) - factor * (g(x) * sums);
  });
  g.replace(op, Value(y.cast(narrow)));
}

void addNormGradients(GradientRules &rules) {
  // softmax: dx = y (dy - sum of dy y)
  rules.add<SoftmaxOp>([](SoftmaxOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      Type wide = statisticsType(op.getX());
      Expr dy = g.of(op.getY()).cast(wide), y = g(op.getY()).cast(wide);
      return y * (dy - (dy * y).sum(int64_t(op.getAxis())));
    });
  });
  // log_softmax: dx = dy - e^y sum of dy
  rules.add<LogSoftmaxOp>([](LogSoftmaxOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      Type wide = statisticsType(op.getX());
      Expr dy = g.of(op.getY()).cast(wide), y = g(op.getY()).cast(wide);
      return dy - y.as<ExpOp>() * dy.sum(int64_t(op.getAxis()));
    });
  });
  rules.add<LayerNormOp>(
      [](LayerNormOp op, BackwardPass &g) { differentiateRowNorm(op, g, op.getBias(), true); });
  rules.add<GroupNormOp>([](GroupNormOp op, BackwardPass &g) { differentiate(op, g); });
  rules.add<RmsNormOp>(
      [](RmsNormOp op, BackwardPass &g) { differentiateRowNorm(op, g, Value(), false); });
  rules.add<BatchNormOp>([](BatchNormOp op, BackwardPass &g) { differentiate(op, g); });
  rules.add<BatchNormTrainOp>(
      [](BatchNormTrainOp op, BackwardPass &g) { return differentiate(op, g); });
  rules.add<LrnOp>([](LrnOp op, BackwardPass &g) { differentiate(op, g); });
  rules.add<BatchNormGradOp>([](BatchNormGradOp op, BackwardPass &) -> LogicalResult {
    return op.emitError("dlc.batch_norm_grad over all ranks has no gradient; leave the gradient of "
                        "a gradient out of the loss, or use the statistics of each rank");
  });
  // Decomposition of batch_norm_grad, which is used if a gradient of this operation is needed
  // (second derivative).
  rules.open<BatchNormGradOp>([](BatchNormGradOp op, TensorBuilder &b) -> SmallVector<Value> {
    if (op->hasAttr(kOverRanksAttr))
      return {};
    Type narrow = typeOf(op.getX()).getElementType(), wide = statisticsType(op.getX());
    Type statistics = typeOf(op.getScale()).getElementType();
    Expr x = Expr(b, op.getX()).cast(wide), dy = Expr(b, op.getDy()).cast(wide);
    auto inWide = [&](Value v) { return reshapeToChannels(Expr(b, v).cast(wide), x.rank()); };
    Expr variance = Expr(b, op.getVariance()).cast(wide);
    Expr r = reshapeToChannels((variance + op.getEps().convertToDouble()).as<RsqrtOp>(), x.rank());
    Expr h = (x - inWide(op.getMean())) * r;
    Expr dbias = channelSums(dy), dscale = channelSums(dy * h);
    double share = double(x.dim(1)) / double(product(x.shape()));
    Expr dx =
        inWide(op.getScale()) * r * (dy - share * inWide(dbias) - share * (h * inWide(dscale)));
    return {dx.cast(narrow), dscale.cast(statistics), dbias.cast(statistics)};
  });
}

} // namespace dlc::grad
