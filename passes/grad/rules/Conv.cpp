//===- Conv.cpp - gradients of convolution --------------------------------===//
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

/// Returns the attribute `extra` (output padding) of a conv_transpose whose result has the spatial
/// sizes `wanted`.
static SmallVector<int64_t> extraFor(ArrayRef<int64_t> wanted, ArrayRef<int64_t> from,
                                     ArrayRef<int64_t> window, ArrayRef<int64_t> strides,
                                     ArrayRef<int64_t> dilations, ArrayRef<int64_t> low,
                                     ArrayRef<int64_t> high) {
  SmallVector<int64_t> extra;
  for (size_t d = 0; d < wanted.size(); ++d)
    extra.push_back(wanted[d] + low[d] + high[d] - dilations[d] * (window[d] - 1) - 1 -
                    (from[d] - 1) * strides[d]);
  return extra;
}

/// Returns the padding at the end of each dimension for the convolution that is the adjoint of the
/// conv_transpose.
static SmallVector<int64_t> computeHighPadding(ConvTransposeOp op) {
  SmallVector<int64_t> high;
  for (auto [before, extra, stride] : llvm::zip(op.getHigh(), op.getExtra(), op.getStrides()))
    high.push_back(extra < stride ? before : before - extra);
  return high;
}

/// Builds the gradient of a convolution's input: conv_transpose(dy, w), with the spatial sizes of
/// x.
template <typename Op>
static Value buildInputGradient(BackwardPass &g, Op op, Value dy, Value w, Value x) {
  SmallVector<int64_t> extra =
      extraFor(shapeOf(x).drop_front(2), shapeOf(dy).drop_front(2), shapeOf(w).drop_front(2),
               op.getStrides(), op.getDilations(), op.getLow(), op.getHigh());
  return g.build().make<ConvTransposeOp>(dy, w, /*bias=*/Value(), op.getStrides(),
                                         op.getDilations(), op.getLow(), op.getHigh(), extra,
                                         op.getGroups());
}

void addConvGradients(GradientRules &rules) {
  // Gradient of conv: dx = conv_transpose(dy, w), dw = conv_weight_grad(x, dy), dbias = sum of dy
  rules.add<ConvOp>([](ConvOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    g.add(op.getX(), [&] { return buildInputGradient(g, op, dy, op.getW(), op.getX()); });
    g.add(op.getW(), [&] {
      return g.build().make<ConvWeightGradOp>(
          op.getX(), Value(dy), shapeOf(op.getW()).drop_front(2), op.getStrides(),
          op.getDilations(), op.getLow(), op.getHigh(), op.getGroups());
    });
    if (op.getBias())
      g.add(op.getBias(), [&] { return channelSums(dy); });
  });
  // Gradient of conv_transpose: dx = conv(dy, w), dw = conv_weight_grad(dy, x), dbias = sum of dy
  rules.add<ConvTransposeOp>([](ConvTransposeOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    SmallVector<int64_t> high = computeHighPadding(op);
    g.add(op.getX(), [&] {
      return g.build().make<ConvOp>(Value(dy), op.getW(), /*bias=*/Value(), op.getStrides(),
                                    op.getDilations(), op.getLow(), high, op.getGroups());
    });
    g.add(op.getW(), [&] {
      return g.build().make<ConvWeightGradOp>(Value(dy), op.getX(),
                                              shapeOf(op.getW()).drop_front(2), op.getStrides(),
                                              op.getDilations(), op.getLow(), high, op.getGroups());
    });
    if (op.getBias())
      g.add(op.getBias(), [&] { return channelSums(dy); });
  });
  // Second derivative: for dw = conv_weight_grad(x, dy) with v the gradient of dw: dx =
  // conv_transpose(dy, v), ddy = conv(x, v)
  rules.add<ConvWeightGradOp>([](ConvWeightGradOp op, BackwardPass &g) {
    Expr v = g.of(op.getDw());
    g.add(op.getX(), [&] { return buildInputGradient(g, op, op.getDy(), v, op.getX()); });
    g.add(op.getDy(), [&] {
      return g.build().make<ConvOp>(op.getX(), Value(v), /*bias=*/Value(), op.getStrides(),
                                    op.getDilations(), op.getLow(), op.getHigh(), op.getGroups());
    });
  });
}

} // namespace dlc::grad
