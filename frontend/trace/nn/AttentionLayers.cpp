//===- AttentionLayers.cpp - multi-head attention -------------------------===//
#include "frontend/trace/State.h"

#include <cmath>

namespace dlc::nn {

using trace::ApiCall;

MultiheadAttention::MultiheadAttention(int64_t width, int64_t heads, bool withBias)
    : outProj(width, width, withBias), width(width), heads(heads) {
  markLayer();
  if (heads < 1 || width % heads != 0)
    throw Error("MultiheadAttention: the number of heads must divide the width; found: " +
                std::to_string(heads) + " heads for " + std::to_string(width));
  // Glorot (Xavier) uniform bound for the shape [3 * width, width].
  inProjWeight = parameter("in_proj_weight", {3 * width, width},
                           Init::uniform(std::sqrt(6.0 / double(4 * width))));
  if (withBias)
    inProjBias = parameter("in_proj_bias", {3 * width}, Init::constant(0));
  add("out_proj", outProj);
}

namespace {
/// Splits the heads: transposes x [N, T, W] to [N, heads, T, W / heads].
Tensor splitHeads(const Tensor &x, int64_t heads) {
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}
} // namespace

Tensor MultiheadAttention::attend(const Operand &query, const Operand &key, const Operand &value,
                                  const Tensor &mask, bool causal) {
  Scope scope(*this, query);
  ApiCall call("MultiheadAttention", {&query, &key, &value});
  for (const Operand *x : {&query, &key, &value}) {
    mlir::RankedTensorType type = call.type(*x);
    if (type.getRank() != 3 || type.getDimSize(2) != width)
      call.fail("query, key and value must be [N, T, ", width, "]; found ", type);
    call.requireStatic(type, "to divide a tensor into heads");
  }
  Tensor q, k, v;
  if (call.value(query) == call.value(key) && call.value(key) == call.value(value)) {
    // Self-attention: one matmul computes the projections of query, key and value together.
    Tensor x = call.tensor(call.value(query));
    Tensor all = trace::linear(x, inProjWeight, inProjBias);
    all = permute(reshape(all, {x.dim(0), x.dim(1), 3, heads, width / heads}), {2, 0, 3, 1, 4});
    q = trace::select(all, 0, 0);
    k = trace::select(all, 0, 1);
    v = trace::select(all, 0, 2);
  } else {
    const Operand *from[] = {&query, &key, &value};
    Tensor *to[] = {&q, &k, &v};
    for (int64_t i = 0; i < 3; ++i) {
      Tensor bias = inProjBias ? trace::narrow(inProjBias, 0, i * width, width) : Tensor();
      *to[i] = splitHeads(
          trace::linear(*from[i], trace::narrow(inProjWeight, 0, i * width, width), bias), heads);
    }
  }
  Tensor y = permute(trace::attention(q, k, v, mask, causal), {0, 2, 1, 3});
  return outProj(reshape(y, {y.dim(0), y.dim(1), width}));
}

Tensor MultiheadAttention::forward(Tensor x) { return attend(x, x, x); }

} // namespace dlc::nn
