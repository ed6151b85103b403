//===- LinearAttention.cpp - attention as a recurrence over a state matrix ===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// LinearAttention, unrolled over the time steps. The state [B, heads, D, E] is kept in f32.
void linearAttention(Node &n, Build &b) {
  int64_t heads = n.integer("q_num_heads", 0), kvHeads = n.integer("kv_num_heads", 0);
  std::string rule = n.string("update_rule", "gated_delta");
  bool gated = rule == "gated" || rule == "gated_delta",
       delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear")
    return n.unsupported("update_rule", rule, "linear, gated, delta, gated_delta");
  if (!b.require(heads > 0 && kvHeads > 0 && heads % kvHeads == 0,
                 "kv_num_heads must divide q_num_heads") ||
      !b.require(!gated || n.has(4), "update_rule '" + Twine(rule) + "' needs the input 'decay'") ||
      !b.require(!delta || n.has(5), "update_rule '" + Twine(rule) + "' needs the input 'beta'"))
    return;
  Type element = b.elem(n.in(0)), stateElement = n.has(3) ? b.elem(n.in(3)) : element;
  Value q = b.cast(splitHeads(b, n.in(0), heads), b.f32),
        k = b.cast(splitHeads(b, n.in(1), kvHeads), b.f32);
  Value v = b.cast(splitHeads(b, n.in(2), kvHeads), b.f32);
  if (!b.ok())
    return;
  int64_t B = b.dim(q, 0), T = b.dim(q, 2), D = b.dim(k, 3), E = b.dim(v, 3);
  double scale = n.real("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(double(D));
  Value decay, beta;
  if (gated)
    decay = b.unary<ExpOp>(b.cast(splitHeads(b, n.in(4), kvHeads), b.f32));
  if (delta)
    beta = b.cast(splitHeads(b, n.in(5), b.rank(n.in(5)) == 3 ? b.dim(n.in(5), 2) : 1), b.f32);
  Value state = n.has(3) ? b.cast(n.in(3), b.f32) : b.splat(b.f32, {B, kvHeads, D, E}, 0);
  std::vector<Value> steps;
  for (int64_t t = 0; t < T && b.ok(); ++t) {
    auto column = [&](Value x) { return b.expandDims(b.at(x, 2, t), 3); };
    auto row = [&](Value x) { return b.sliceAxis(x, 2, t, 1); };
    Value key = column(k), value = row(v);
    if (gated)
      state = b.mul(state, column(decay));
    if (delta)
      value = b.mul(row(beta), b.sub(value, b.matmul(key, state, true)));
    state = b.add(state, b.mul(key, value));
    steps.push_back(b.mul(b.matmul(row(q), repeatHeads(b, state, heads / kvHeads)), scale));
  }
  if (!b.require(!steps.empty(), "required at least one time step"))
    return;
  n.set(0, b.cast(joinHeads(b, b.concat(steps, 2)), element));
  n.set(1, b.cast(state, stateElement));
}

const Operator table[] = {{"LinearAttention", linearAttention}};

} // namespace

ArrayRef<Operator> linearAttentionOperators() { return table; }

} // namespace dlc::onnxfront
