//===- Attention.cpp - scaled dot-product attention and rotary embedding --===//
#include "frontend/builder/Attend.h"
#include "frontend/onnx/Families.h"
#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc::onnxfront {

namespace {

/// Returns the attention mask from the attributes and the key lengths: a bool mask that broadcasts
/// to [B, H, T, S] and is true for the keys that a query attends to. Returns null if each query
/// attends to all keys.
Value buildVisibleKeysMask(Node &n, Build &b, int64_t T, int64_t S, int64_t past, int64_t batch) {
  bool causal = n.integer("is_causal", 0) != 0;
  int64_t left = n.integer("left_window_size", -1), right = n.integer("right_window_size", -1);
  Value result, lengths = n.in(6);
  auto also = [&](Value condition) { result = result ? b.both(result, condition) : condition; };
  Value key = b.iota(b.i64, {1, 1, 1, S}, 3), query = b.iota(b.i64, {1, 1, T, 1}, 2);
  if (lengths) {
    lengths = b.reshape(lengths, {batch, 1, 1, 1});
    also(b.compare(Predicate::lt, key, lengths));
    query = b.add(query, n.has(4) ? b.scalarInt(b.i64, past) : b.sub(lengths, double(T)));
  } else if (past) {
    query = b.add(query, double(past));
  }
  if (causal)
    also(b.compare(Predicate::le, key, query));
  if (left >= 0)
    also(b.compare(Predicate::ge, key, b.sub(query, double(left))));
  if (right >= 0)
    also(b.compare(Predicate::le, key, b.add(query, double(right))));
  return result;
}

/// Pads the mask along its last dimension to S keys. The added keys are masked.
Value padMaskToKeys(Build &b, Value mask, int64_t S) {
  int64_t rank = b.rank(mask), missing = rank ? S - b.dim(mask, -1) : 0;
  if (!mask || missing <= 0 || b.dim(mask, -1) == 1)
    return mask;
  Dims low(rank, 0), high(rank, 0);
  high[rank - 1] = missing;
  return b.pad(mask, b.like(mask, b.isBool(mask) ? 0 : -INFINITY), PadMode::constant, low, high);
}

bool checkHeadCounts(Node &n, Build &b, Value q, Value k) {
  for (auto [name, heads] : {std::pair("q_num_heads", q), std::pair("kv_num_heads", k)})
    if (!b.require(n.integer(name, b.dim(heads, 1)) == b.dim(heads, 1),
                   "attribute '" + Twine(name) +
                       "' contradicts the tensor; required: " + Twine(b.dim(heads, 1)) +
                       "; found: " + Twine(n.integer(name, b.dim(heads, 1))) +
                       "; correct the attribute"))
      return false;
  return true;
}

/// Operands of attention, with all heads: [batch, heads, positions, size].
struct AttentionOperands {
  Value q, k, v;
};

/// Creates a dlc.attention. `mask` is the mask of the model, `see` that of the attributes.
Value buildAttentionOp(Node &n, Build &b, const AttentionOperands &qkv, Value mask, Value see,
                       int64_t past, double scale) {
  Value hide = mask && see ? b.both(mask, see) : mask ? mask : see;
  bool causal = !mask && !n.has(6) && n.integer("is_causal", 0) && past == 0 &&
                n.integer("left_window_size", -1) < 0 && n.integer("right_window_size", -1) < 0;
  SmallVector<NamedAttribute> attributes{b.attrFloat("scale", scale)};
  SmallVector<Value> operands{qkv.q, qkv.k, qkv.v};
  if (causal)
    attributes.push_back(b.attrUnit("causal"));
  else if (hide)
    operands.push_back(hide);
  return b.op<AttentionOp>(operands, attributes);
}

/// Creates attention as matmuls and a softmax of the type `precision`, and sets the node's output
/// of scores.
Value buildAttentionArithmetic(Node &n, Build &b, const AttentionOperands &qkv, Value mask,
                               Value see, double scale, Type precision) {
  // Both operands of the matmul are multiplied by the square root of the scale, so that 16-bit
  // scores do not overflow.
  const double softcap = n.real("softcap", 0);
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  double root = std::sqrt(scale);
  Value scores = b.matmul(b.mul(qkv.q, root), b.mul(qkv.k, root), false, true);
  if (mode == 0)
    n.set(3, scores);
  if (softcap != 0)
    scores = b.mul(b.unary<TanhOp>(b.div(scores, softcap)), softcap);
  if (mode == 1)
    n.set(3, scores);
  Value hidden;
  if (mask && !b.isBool(mask)) {
    scores = b.add(scores, mask);
    hidden = b.compare(Predicate::eq, mask, b.like(mask, -INFINITY));
  } else if (mask) {
    see = see ? b.both(see, mask) : mask;
  }
  if (see) {
    scores = b.select(see, scores, b.like(scores, -INFINITY));
    hidden = hidden ? b.either(hidden, b.negate(see)) : b.negate(see);
  }
  if (mode == 2)
    n.set(3, scores);
  Value weights = b.softmax(b.cast(scores, precision), 3);
  if (hidden) {
    // A query whose keys are all masked gets attention weights of 0.
    Value nothing = b.reduce(ReduceKind::min, b.cast(hidden, b.i32), {b.rank(hidden) - 1}, true);
    if (b.dim(hidden, -1) == b.dim(qkv.k, 2))
      weights = b.select(b.cast(nothing, b.i1), b.like(weights, 0), weights);
  }
  weights = b.cast(weights, b.elem(qkv.q));
  if (mode == 3)
    n.set(3, weights);
  return b.matmul(b.cast(weights, b.elem(qkv.v)), qkv.v);
}

void attention(Node &n, Build &b) {
  Value q = n.in(0), k = n.in(1), v = n.in(2);
  bool packed = b.rank(q) == 3;
  if (packed) {
    int64_t heads = n.integer("q_num_heads", 0), kvHeads = n.integer("kv_num_heads", 0);
    q = splitHeads(b, q, heads);
    k = splitHeads(b, k, kvHeads);
    v = splitHeads(b, v, kvHeads);
  }
  if (!b.ok() || !b.require(b.rank(q) == 4 && b.rank(k) == 4 && b.rank(v) == 4,
                            "Q, K and V must all have rank 3 or 4"))
    return;
  if (!checkHeadCounts(n, b, q, k))
    return;
  int64_t past = 0;
  if (n.has(4) && n.has(5)) {
    past = b.dim(n.in(4), 2);
    k = b.concat({n.in(4), k}, 2);
    v = b.concat({n.in(5), v}, 2);
  }
  n.set(1, k);
  n.set(2, v);
  int64_t heads = b.dim(q, 1), kvHeads = b.dim(k, 1), T = b.dim(q, 2), S = b.dim(k, 2);
  if (!b.ok() || !b.require(kvHeads > 0 && heads % kvHeads == 0,
                            "the number of key heads must divide the number of query heads"))
    return;
  k = repeatHeads(b, k, heads / kvHeads);
  v = repeatHeads(b, v, heads / kvHeads);
  double scale = n.real("scale", 1 / std::sqrt(double(b.dim(q, 3)))),
         softcap = n.real("softcap", 0);
  Type element = b.elem(q), precision = element;
  if (n.hasAttr("softmax_precision"))
    precision = n.dataType("softmax_precision", 0);
  Value mask = padMaskToKeys(b, n.in(3), S),
        see = buildVisibleKeysMask(n, b, T, S, past, b.dim(q, 0));
  if (!b.ok())
    return;

  // dlc.attention is used without a softcap and without the scores as an output, if all types are
  // equal and not 16-bit. Its mask may also mask a whole row.
  bool plain = softcap == 0 && !n.hasOutput(3) && precision == element && !b.isHalf(q) &&
               b.elem(v) == element;
  bool boolean = (!mask || b.isBool(mask)) || !see;
  if (plain && boolean) {
    Value y = buildAttentionOp(n, b, {q, k, v}, mask, see, past, scale);
    return n.set(0, packed ? joinHeads(b, y) : y);
  }

  Value y = buildAttentionArithmetic(n, b, {q, k, v}, mask, see, scale, precision);
  n.set(0, packed ? joinHeads(b, y) : y);
}

/// FlexAttention: attention with subgraphs that modify the scores (`score_mod`) and the attention
/// weights (`prob_mod`).
void flexAttention(Node &n, Build &b) {
  Value q = n.in(0), k = n.in(1), v = n.in(2);
  if (!b.require(b.rank(q) == 4 && b.rank(k) == 4 && b.rank(v) == 4, "Q, K and V must have rank 4"))
    return;
  int64_t heads = b.dim(q, 1), kvHeads = b.dim(k, 1);
  if (!b.require(kvHeads > 0 && heads % kvHeads == 0,
                 "the number of key heads must divide the number of query heads"))
    return;
  k = repeatHeads(b, k, heads / kvHeads);
  v = repeatHeads(b, v, heads / kvHeads);
  Type element = b.elem(q), precision = element == b.f64 ? b.f64 : b.f32;
  if (n.hasAttr("softmax_precision"))
    precision = n.dataType("softmax_precision", 0);
  double scale = n.real("scale", 1 / std::sqrt(double(b.dim(q, 3))));
  auto modify = [&](StringRef name, Value x) {
    const onnx::GraphProto *graph = n.hasAttr(name) ? n.graph(name) : nullptr;
    std::vector<GraphValue> results;
    if (!graph || !n.importer.graph(*graph, {GraphValue(x)}, &n.scope, n.frame, b, results))
      return x;
    bool fits = results.size() == 1 && results[0].kind == GraphValue::Tensor &&
                results[0].value.getType() == x.getType();
    return b.require(fits, "attribute '" + name + "' must give one tensor of its input's type")
               ? results[0].value
               : Value();
  };
  Value scores = b.mul(b.cast(b.matmul(q, k, false, true), precision), scale);
  Value weights = modify("prob_mod", b.softmax(modify("score_mod", scores), 3));
  n.set(0, b.cast(b.matmul(b.cast(weights, b.elem(v)), v), element));
}

void rotaryEmbedding(Node &n, Build &b) {
  Value x = n.in(0), cosines = n.in(1), sines = n.in(2);
  bool packed = b.rank(x) == 3;
  int64_t heads = n.integer("num_heads", 0);
  if (packed)
    x = splitHeads(b, x, heads);
  if (!b.ok() || !b.require(b.rank(x) == 4, "x must have rank 3 or 4"))
    return;
  int64_t size = b.dim(x, 3), rotated = n.integer("rotary_embedding_dim", 0);
  if (rotated == 0)
    rotated = size;
  if (!b.require(rotated > 0 && rotated <= size && rotated % 2 == 0,
                 "rotary_embedding_dim must be even and within the head"))
    return;
  if (n.has(3)) {
    cosines = b.gather(cosines, b.cast(n.in(3), b.i64), 0);
    sines = b.gather(sines, b.cast(n.in(3), b.i64), 0);
  }
  if (!b.require(b.rank(cosines) == 3 && b.rank(sines) == 3 && b.dim(cosines, 2) == rotated / 2 &&
                     b.dim(sines, 2) == rotated / 2,
                 "the caches must be [.., rotary_embedding_dim / 2] for each position"))
    return;
  Value y = applyRotaryEmbedding(b, x, cosines, sines, n.integer("interleaved", 0) != 0);
  n.set(0, packed ? joinHeads(b, y) : y);
}

constexpr const char *previewDomain = "ai.onnx.preview";

const Operator table[] = {
    {"Attention", attention},
    {"FlexAttention", flexAttention, previewDomain},
    {"RotaryEmbedding", rotaryEmbedding},
};

} // namespace

ArrayRef<Operator> attentionOperators() { return table; }

} // namespace dlc::onnxfront
