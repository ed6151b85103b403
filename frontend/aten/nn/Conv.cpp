//===- Conv.cpp - convolutions --------------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Convolution, forward or transposed. x may lack the batch dimension.
void convolution(Node &n, Build &b) {
  Value x = n.tensor("input"), w = n.tensor("weight"), bias = n.tensor("bias");
  bool single = b.rank(x) + 1 == b.rank(w);
  if (single)
    x = b.expandDims(x, 0);
  int64_t spatial = b.rank(w) - 2;
  if (!b.require(spatial >= 1 && b.rank(x) == b.rank(w),
                 "x and the weights must have the same rank, 3 or more"))
    return;
  Dims padding = n.ints("padding", spatial, 0);
  std::vector<NamedAttribute> attributes{b.attr("strides", n.ints("stride", spatial, 1)),
                                         b.attr("dilations", n.ints("dilation", spatial, 1)),
                                         b.attr("low", padding), b.attr("high", padding),
                                         b.attr("groups", n.integer("groups", 1))};
  SmallVector<Value> operands{x, w};
  if (bias)
    operands.push_back(bias);
  Value y;
  if (n.flag("transposed")) {
    attributes.push_back(b.attr("extra", n.ints("output_padding", spatial, 0)));
    y = b.op<ConvTransposeOp>(operands, attributes);
  } else {
    y = b.op<ConvOp>(operands, attributes);
  }
  n.set(single && y ? b.reshape(y, Dims(b.shape(y).begin() + 1, b.shape(y).end())) : y);
}

/// Returns the `output_padding` with which a transposed convolution (the adjoint of a convolution)
/// produces `wanted` elements from `from` elements.
int64_t computeOutputPadding(int64_t wanted, int64_t from, int64_t stride, int64_t padding,
                             int64_t span) {
  return wanted - ((from - 1) * stride - 2 * padding + span);
}

/// Sets the gradients of x (by a transposed convolution), of the weights and of the bias, each only
/// if it is used.
void convolutionGradients(Node &n, Build &b) {
  Value dy = n.tensor("grad_output"), x = n.tensor("input"), w = n.tensor("weight");
  int64_t spatial = b.rank(w) - 2;
  if (!b.require(spatial >= 1 && b.rank(x) == b.rank(w) && b.rank(dy) == b.rank(w),
                 "x and the weights must have the same rank, 3 or more"))
    return;
  bool transposed = n.flag("transposed");
  // The image and the result of the corresponding forward convolution. A transposed convolution is
  // the adjoint of a forward convolution, so its operand and its result are exchanged.
  Value image = transposed ? dy : x, made = transposed ? x : dy;
  Dims strides = n.ints("stride", spatial, 1), dilations = n.ints("dilation", spatial, 1),
       low = n.ints("padding", spatial, 0), high = low, window, extra, axes{0};
  for (int64_t i = 0; b.ok() && i < spatial; ++i) {
    size_t d = size_t(i);
    window.push_back(b.dim(w, 2 + i));
    extra.push_back(computeOutputPadding(b.dim(image, 2 + i), b.dim(made, 2 + i), strides[d],
                                         low[d], (window[d] - 1) * dilations[d] + 1));
    // If `output_padding` is at least the stride, the elements that it adds would contain another
    // window. They are cut off by negative padding.
    if (transposed && extra[d] >= strides[d])
      high[d] -= extra[d];
    axes.push_back(2 + i);
  }
  std::vector<NamedAttribute> attributes{b.attr("strides", strides), b.attr("dilations", dilations),
                                         b.attr("low", low), b.attr("high", high),
                                         b.attr("groups", n.integer("groups", 1))};
  auto with = [&](StringRef name, const Dims &values) {
    auto all = attributes;
    all.push_back(b.attr(name, values));
    return all;
  };
  if (n.hasResult(0))
    n.set(0, transposed ? b.op<ConvOp>({dy, w}, attributes)
                        : b.op<ConvTransposeOp>({dy, w}, with("extra", extra)));
  if (n.hasResult(1))
    n.set(1, b.op<ConvWeightGradOp>({image, made}, with("window", window)));
  if (n.hasResult(2))
    n.set(2, b.reduce(ReduceKind::sum, dy, axes, false));
}

const Operator table[] = {
    {"convolution.default", convolution},
    {"conv1d.default", convolution},
    {"conv2d.default", convolution},
    {"conv3d.default", convolution},
    {"convolution_backward.default", convolutionGradients},
};

} // namespace

ArrayRef<Operator> convOperators() { return table; }

} // namespace dlc::aten
