//===- Attention.cpp - scaled dot-product attention -----------------------===//
#include "frontend/aten/nn/Random.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace dlc::aten {
namespace {

/// Repeats the heads of the keys or values x to the number of heads of the queries (grouped-query
/// attention).
Value repeatKvHeads(Build &b, Value x, int64_t heads) {
  int64_t axis = b.rank(x) - 3, own = axis >= 0 ? b.dim(x, axis) : heads;
  if (own == heads || own == 0 || heads % own)
    return x;
  Dims wide = b.dims(x), shape = wide;
  wide.insert(wide.begin() + axis + 1, heads / own);
  shape[size_t(axis)] = heads;
  return b.reshape(b.broadcast(b.expandDims(x, axis + 1), wide), shape);
}

/// Gradient of repeating heads (repeatKvHeads()): sums the gradients of the copies of each head.
Value repeatKvHeadsGradient(Build &b, Value dx, ArrayRef<int64_t> shape) {
  int64_t axis = int64_t(shape.size()) - 3;
  Dims apart(shape);
  if (b.ok() && b.dims(dx) != apart) {
    apart.insert(apart.begin() + axis + 1, b.dim(dx, axis) / shape[size_t(axis)]);
    dx = b.reduce(ReduceKind::sum, b.reshape(dx, apart), {axis + 1}, false);
  }
  return dx;
}

struct AttentionOperands {
  std::vector<Value> values;
  std::vector<NamedAttribute> attributes;
  Dims shape;
  double scale = 1, dropout = 0;
  bool causal = false;
};

/// Reads the operands of attention and broadcasts them to a common batch shape, with rank 3 or
/// more.
AttentionOperands readAttentionOperands(Node &n, Build &b) {
  AttentionOperands result;
  Value q = n.tensor("query"), k = n.tensor("key"), v = n.tensor("value"),
        mask = n.tensor("attn_mask");
  result.dropout = n.real("dropout_p", 0);
  if (!b.require(result.dropout == 0 || (b.training && !n.hasResult(1)),
                 "argument 'dropout_p': required: 0") ||
      !b.require(b.rank(q) >= 2 && b.rank(k) == b.rank(q) && b.rank(v) == b.rank(q) &&
                     b.dim(q, -1) > 0,
                 "required: query, key and value of the same rank, 2 or more"))
    return result;
  double scale = n.has("scale") ? n.real("scale") : 1 / std::sqrt(double(b.dim(q, -1)));
  result.scale = scale;
  result.causal = n.flag("is_causal");
  if (b.rank(q) == 2) {
    q = b.expandDims(q, 0), k = b.expandDims(k, 0), v = b.expandDims(v, 0);
  } else {
    k = repeatKvHeads(b, k, b.dim(q, -3)), v = repeatKvHeads(b, v, b.dim(q, -3));
  }
  Dims batch(b.shape(q).begin(), b.shape(q).end() - 2);
  for (Value each : {k, v})
    for (size_t i = 0; i < batch.size(); ++i)
      if (batch[i] == 1)
        batch[i] = b.dim(each, int64_t(i));
  auto widened = [&](Value x) {
    Dims shape = batch;
    shape.insert(shape.end(), b.shape(x).end() - 2, b.shape(x).end());
    return b.broadcast(x, shape);
  };
  result.values = {widened(q), widened(k), widened(v)};
  if (mask)
    result.values.push_back(b.isBool(mask) ? mask : b.cast(mask, b.elem(q)));
  result.attributes = {b.attrFloat("scale", scale)};
  if (result.causal)
    result.attributes.push_back(b.attrUnit("causal"));
  result.shape = b.rank(n.tensor("query")) == 2 ? Dims() : batch;
  result.shape.insert(result.shape.end(), {b.dim(q, -2), b.dim(v, -1)});
  return result;
}

/// Builds attention from primitive operations, because the dropout is applied to the attention
/// weights between the softmax and the second matmul.
Value buildAttentionWithDropout(Build &b, const AttentionOperands &o) {
  Value q = o.values[0], k = o.values[1], v = o.values[2];
  Value scores = b.mul(b.matmul(q, k, false, true), o.scale);
  auto keep = [&](Value mask) {
    scores = b.select(mask, scores, b.like(scores, -std::numeric_limits<double>::infinity()));
  };
  if (o.causal) {
    int64_t rows = b.dim(q, -2), columns = b.dim(k, -2);
    keep(b.compare(Predicate::ge, b.iota(b.i64, {rows, 1}, 0), b.iota(b.i64, {1, columns}, 1)));
  }
  if (o.values.size() > 3 && b.isBool(o.values[3]))
    keep(o.values[3]);
  else if (o.values.size() > 3)
    scores = b.add(scores, o.values[3]);
  return b.matmul(buildDropout(b, b.softmax(scores, b.rank(scores) - 1), o.dropout), v);
}

/// Handles the attention operators. If the second result is used, it is the log-sum-exp of each row
/// of scores.
void attention(Node &n, Build &b) {
  AttentionOperands o = readAttentionOperands(n, b);
  if (!b.ok())
    return;
  if (o.dropout > 0)
    return n.set(b.reshape(buildAttentionWithDropout(b, o), o.shape));
  if (!n.hasResult(1))
    return n.set(b.reshape(b.op<AttentionOp>(o.values, o.attributes), o.shape));
  auto made = b.ops<AttentionTrainOp>(o.values, o.attributes);
  if (made.size() != 2)
    return;
  n.set(0, b.reshape(made[0], o.shape));
  n.set(1, made[1]);
}

/// Gradients of attention, computed from the values that the forward pass saved: the result and the
/// log-sum-exp of each row of scores.
void attentionGradients(Node &n, Build &b) {
  AttentionOperands o = readAttentionOperands(n, b);
  if (!b.ok())
    return;
  constexpr StringRef names[] = {"query", "key", "value"};
  for (auto [i, name] : llvm::enumerate(names)) {
    Dims given = b.dims(n.tensor(name)), whole = b.dims(o.values[i]);
    if (int64_t heads = b.rank(o.values[i]) - 3; heads >= 0 && whole[size_t(heads)] > 0)
      whole[size_t(heads)] = given[size_t(heads)];
    if (!b.require(given == whole, "required: query, key and value with the same batch"))
      return;
  }
  std::vector<Value> operands(o.values.begin(), o.values.begin() + 3);
  for (StringRef name : {"out", "logsumexp", "grad_out"})
    operands.push_back(n.tensor(name));
  operands.insert(operands.end(), o.values.begin() + 3, o.values.end());
  auto made = b.ops<AttentionGradOp>(operands, o.attributes);
  for (size_t i = 0; i < made.size(); ++i)
    if (n.hasResult(i))
      n.set(i, repeatKvHeadsGradient(b, made[i], b.shape(n.tensor(names[i]))));
}

const Operator table[] = {
    {"scaled_dot_product_attention.default", attention},
    {"_scaled_dot_product_flash_attention_for_cpu.default", attention},
    {"_scaled_dot_product_flash_attention_for_cpu_backward.default", attentionGradients},
};

} // namespace

ArrayRef<Operator> attentionOperators() { return table; }

} // namespace dlc::aten
