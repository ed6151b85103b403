//===- Conv.cpp - convolutions with fused operations ----------------------===//
#include "frontend/onnx/Families.h"
#include "frontend/onnx/contrib/Activation.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// FusedConv: activation(conv(X, W) + B + Z), where Z is an optional addend.
void fusedConv(Node &n, Build &b) { n.set(0, buildFusedConv(n, b, n.in(0), n.in(1))); }

/// NhwcConv: channels are the last dimension of X [N, spatial.., C], W [M, spatial.., C / group]
/// and the result.
void nhwcConv(Node &n, Build &b) {
  Value y = convolve(n, b, moveChannelsFirst(b, n.in(0)), moveChannelsFirst(b, n.in(1)), n.in(2));
  n.set(0, moveChannelsLast(b, y));
}

const Operator table[] = {
    {"FusedConv", 2, fusedConv,
     "activation activation_params auto_pad dilations group kernel_shape pads strides"},
    {"NhwcConv", 2, nhwcConv, "auto_pad dilations group kernel_shape pads strides"},
};

} // namespace

Value buildFusedConv(Node &n, Build &b, Value x, Value w) {
  Value y = convolve(n, b, x, w, n.in(2));
  if (n.has(3)) {
    if (!b.require(b.shape(n.in(3)) == b.shape(y), "Z must have the result's shape"))
      return {};
    y = b.add(y, n.in(3));
  }
  return buildFusedActivation(b, y, n.string("activation", ""), n.reals("activation_params"));
}

ArrayRef<Operator> fusedConvOperators() { return table; }

} // namespace dlc::onnxfront
