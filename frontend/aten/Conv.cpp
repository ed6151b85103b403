//===- Conv.cpp - convolutions --------------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// x may be without its batch.
void convolution(Node &n, Build &b) {
  Value x = n.tensor("input"), w = n.tensor("weight"), bias = n.tensor("bias");
  bool single = b.rank(x) + 1 == b.rank(w);
  if (single)
    x = b.expandDims(x, 0);
  int64_t spatial = b.rank(w) - 2;
  if (!b.require(spatial >= 1 && b.rank(x) == b.rank(w),
                 "x and the weights must have one rank of 3 or more"))
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

const Operator table[] = {
    {"convolution.default", convolution},
    {"conv1d.default", convolution},
    {"conv2d.default", convolution},
    {"conv3d.default", convolution},
};

} // namespace

ArrayRef<Operator> convOperators() { return table; }

} // namespace dlc::aten
