//===- Transformer.cpp - fused attention and encoder layers of torch.nn ---===//
// Operators that torch.nn's attention and encoder layers use if no gradients are required (the fast
// path).
#include "frontend/aten/nn/Norm.h"
#include "frontend/builder/Layers.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace dlc::aten {
namespace {

Value linear(Build &b, Value x, Value weight, Value bias) {
  return b.add(b.matmul(x, weight, false, /*transposeB=*/true), bias);
}

/// Returns a mask that is true for the scores that are not masked, [N, H, T, S] or broadcastable to
/// it. PyTorch's mask is true for the masked scores. Returns null without a mask.
Value readAttentionMask(Node &n, Build &b) {
  Value mask = n.tensor("mask");
  if (!mask)
    return {};
  enum Type : int64_t { OfPlaces, OfKeys, OfScores };
  int64_t type = n.integer("mask_type", OfScores);
  Value shown = b.negate(
      b.isBool(mask) ? mask : b.compare(Predicate::ne, mask, b.scalarInt(b.elem(mask), 0)));
  if (type == OfKeys && b.rank(shown) == 2)
    return b.reshape(shown, {b.dim(shown, 0), 1, 1, b.dim(shown, 1)});
  return shown;
}

struct AttentionResults {
  Value y, weights;
};

/// Multi-head attention: the projections of query, key and value, the attention, and the output
/// projection.
AttentionResults attend(Node &n, Build &b, Value query, Value key, Value value, int64_t heads,
                        bool wantsWeights) {
  Value weight = n.tensor("qkv_weight"), bias = n.tensor("qkv_bias"), projected[3];
  int64_t size = b.dim(weight, 0) / 3;
  if (query == key && key == value) {
    Value all = linear(b, query, weight, bias);
    for (int64_t i = 0; i < 3; ++i)
      projected[i] = b.sliceAxis(all, b.rank(all) - 1, i * size, size);
  } else {
    Value given[] = {query, key, value};
    for (int64_t i = 0; i < 3; ++i)
      projected[i] = linear(b, given[i], b.sliceAxis(weight, 0, i * size, size),
                            b.sliceAxis(bias, 0, i * size, size));
  }
  Value q = frontend::splitHeads(b, projected[0], heads),
        k = frontend::splitHeads(b, projected[1], heads),
        v = frontend::splitHeads(b, projected[2], heads), shown = readAttentionMask(n, b), y,
        weights;
  if (!b.ok())
    return {};
  double scale = 1 / std::sqrt(double(b.dim(q, 3)));
  if (wantsWeights) {
    Value scores = b.mul(b.matmul(q, k, false, true), scale);
    if (shown)
      scores = b.select(shown, scores, b.like(scores, -std::numeric_limits<double>::infinity()));
    weights = b.softmax(scores, 3);
    y = b.matmul(weights, v);
  } else {
    std::vector<Value> operands{q, k, v};
    if (shown)
      operands.push_back(shown);
    y = b.op<AttentionOp>(operands, {b.attrFloat("scale", scale)});
  }
  return {linear(b, frontend::joinHeads(b, y), n.tensor("proj_weight"), n.tensor("proj_bias")),
          weights};
}

void attention(Node &n, Build &b) {
  bool wants = n.hasResult(1) && n.flag("need_weights", true);
  auto [y, weights] = attend(n, b, n.tensor("query"), n.tensor("key"), n.tensor("value"),
                             n.integer("num_head"), wants);
  n.set(0, y);
  if (!n.hasResult(1))
    return;
  if (!wants)
    return n.set(1, b.splat(n.resultElement(1), n.result(1).getShape(), 0));
  n.set(1, n.flag("average_attn_weights", true) ? b.reduce(ReduceKind::mean, weights, {1}, false)
                                                : weights);
}

void transformerEncoderLayer(Node &n, Build &b) {
  Value x = n.tensor("src");
  bool isFirst = n.flag("norm_first");
  auto normalised = [&](Value v, StringRef number) {
    return buildLayerNorm(b, v, n.tensor(("norm_weight_" + number).str()),
                          n.tensor(("norm_bias_" + number).str()), b.rank(v) - 1, n.real("eps"));
  };
  Value inner = isFirst ? normalised(x, "1") : x;
  x = b.add(x, attend(n, b, inner, inner, inner, n.integer("num_heads"), false).y);
  if (!isFirst)
    x = normalised(x, "1");
  inner = isFirst ? normalised(x, "2") : x;
  inner = linear(b, inner, n.tensor("ffn_weight_1"), n.tensor("ffn_bias_1"));
  inner = n.flag("use_gelu") ? b.op<GeluOp>({inner}) : b.unary<ReluOp>(inner);
  x = b.add(x, linear(b, inner, n.tensor("ffn_weight_2"), n.tensor("ffn_bias_2")));
  n.set(isFirst ? x : normalised(x, "2"));
}

const Operator table[] = {
    {"_native_multi_head_attention.default", attention},
    {"_transformer_encoder_layer_fwd.default", transformerEncoderLayer},
};

} // namespace

ArrayRef<Operator> transformerOperators() { return table; }

} // namespace dlc::aten
