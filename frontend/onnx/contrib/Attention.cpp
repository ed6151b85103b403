//===- Attention.cpp - attention with projections, masks and past keys and values --===//
#include "frontend/builder/Attend.h"
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Settings of the attention operators, from their attributes and their optional inputs.
struct AttentionSettings {
  int64_t heads;
  double scale, filter;
  bool causal;
  Value mask, added;
};

/// Reads the settings of an attention operator. Returns false after an error for an unsupported
/// attribute.
bool readSettings(Node &n, Build &b, AttentionSettings &s) {
  s.heads = n.integer("num_heads", 0);
  s.scale = n.real("scale", 0);
  s.filter = n.real("mask_filter_value", -10000);
  s.causal = n.integer("unidirectional", 0) != 0;
  for (StringRef name : {"do_rotary", "past_present_share_buffer"})
    if (n.integer(name, 0)) {
      n.unsupported(name, "1", "0");
      return false;
    }
  return b.require(Build::isSane(s.heads, 1),
                   "attribute 'num_heads' is required, and must be positive");
}

/// Converts the key mask to an additive mask of the scores [B, heads, T, S]: 0, or
/// `mask_filter_value` for masked keys. The mask is given as lengths [B], as ends and starts [2 *
/// B], or as integers [B, S] or [B, T, S] that are positive for keys that are not masked.
Value buildAdditiveMask(Build &b, const AttentionSettings &s, int64_t B, int64_t T, int64_t S) {
  Value mask = s.mask, seen;
  Value key = b.iota(b.i64, {1, 1, 1, S}, 3);
  int64_t rank = b.rank(mask);
  auto bound = [&](int64_t from) {
    return b.reshape(b.cast(b.sliceAxis(mask, 0, from, B), b.i64), {B, 1, 1, 1});
  };
  if (rank == 1 && (b.dim(mask, 0) == B || b.dim(mask, 0) == 2 * B)) {
    seen = b.compare(Predicate::lt, key, bound(0));
    if (b.dim(mask, 0) == 2 * B)
      seen = b.both(seen, b.compare(Predicate::ge, key, bound(B)));
  } else if ((rank == 2 && b.dim(mask, 0) == B && b.dim(mask, 1) == S) ||
             (rank == 3 && b.dim(mask, 0) == B && b.dim(mask, 1) == T && b.dim(mask, 2) == S)) {
    Value wide = rank == 2 ? b.reshape(mask, {B, 1, 1, S}) : b.reshape(mask, {B, 1, T, S});
    seen = b.compare(Predicate::gt, wide, b.like(wide, 0));
  } else {
    return b.error("the mask must be [batch], [2 * batch], [batch, " + Twine(S) + "] or [batch, " +
                   Twine(T) + ", " + Twine(S) + "]; found rank " + Twine(rank) + " with " +
                   Twine(b.count(mask)) + " elements");
  }
  return b.select(seen, b.scalar(b.f32, 0), b.scalar(b.f32, s.filter));
}

/// Computes attention for queries, keys and values [B, heads, .., size]. Keys and values include
/// those of earlier positions.
Value attention(Build &b, const AttentionSettings &s, Value q, Value k, Value v) {
  if (!b.ok())
    return {};
  int64_t B = b.dim(q, 0), T = b.dim(q, 2), S = b.dim(k, 2);
  AttentionOperands a{q, k, v, s.scale != 0 ? s.scale : 1 / std::sqrt(double(b.dim(q, 3))),
                      s.added};
  if (a.added)
    a.added = b.widen(a.added);
  if (s.mask) {
    Value more = buildAdditiveMask(b, s, B, T, S);
    a.added = a.added ? b.add(a.added, more) : more;
  }
  if (a.added &&
      !b.require(b.rank(a.added) == 4 && (b.dim(a.added, 2) == T || b.dim(a.added, 2) == 1) &&
                     b.dim(a.added, 3) == S,
                 "attention_bias must be [batch or 1, heads or 1, " + Twine(T) + ", " + Twine(S) +
                     "]"))
    return {};
  if (s.causal && S == T)
    a.causal = true;
  else if (s.causal)
    a.seen = buildCausalMask(b, T, S, S - T);
  return joinHeads(b, buildAttention(b, a));
}

/// Computes attention of queries, keys and values that are the columns of one projection [B, T, Q +
/// K + V]. `past` contains earlier keys and values [2, B, heads, P, size].
void attendProjectedColumns(Node &n, Build &b, const AttentionSettings &s, Value all, Dims sizes,
                            Value past) {
  int64_t size = b.rank(all) == 3 ? b.dim(all, 2) : 0;
  if (sizes.empty())
    sizes = {size / 3, size / 3, size / 3};
  if (!b.require(sizes.size() == 3 && sizes[0] > 0 && sizes[0] == sizes[1] && sizes[2] > 0 &&
                     sizes[0] + sizes[1] + sizes[2] == size,
                 "the projection of " + Twine(size) +
                     " columns must consist of Q, K and V with the sizes 'qkv_hidden_sizes', or "
                     "with equal sizes"))
    return;
  auto part = [&](int64_t from, int64_t count) {
    return splitHeads(b, b.sliceAxis(all, 2, from, count), s.heads);
  };
  Value q = part(0, sizes[0]), k = part(sizes[0], sizes[1]), v = part(2 * sizes[0], sizes[2]);
  if (past) {
    if (!b.require(b.rank(past) == 5 && b.dim(past, 0) == 2,
                   "the past must be [2, batch, heads, length, size]"))
      return;
    k = b.concat({b.at(past, 0, 0), k}, 2);
    v = b.concat({b.at(past, 0, 1), v}, 2);
  }
  n.set(0, attention(b, s, q, k, v));
  if (n.hasOutput(1))
    n.set(1, b.stack({k, v}, 0));
}

void attentionFromWeights(Node &n, Build &b) {
  AttentionSettings s;
  if (!readSettings(n, b, s))
    return;
  s.mask = n.in(3);
  s.added = n.in(5);
  Value x = n.in(0), w = n.in(1);
  if (!b.require(b.rank(x) == 3 && b.rank(w) == 2, "the input must have rank 3, the weights 2"))
    return;
  Value all = b.matmul(x, w);
  if (n.has(2))
    all = b.add(all, n.in(2));
  attendProjectedColumns(n, b, s, all, n.integers("qkv_hidden_sizes"), n.in(4));
}

void attentionFromQuantizedWeights(Node &n, Build &b) {
  AttentionSettings s;
  if (!readSettings(n, b, s))
    return;
  s.mask = n.in(5);
  Value x = n.in(0), w = n.in(1);
  if (!b.require(b.rank(x) == 3 && b.rank(w) == 2, "the input must have rank 3, the weights 2"))
    return;
  QuantizationParams xq = readQuantization(n, b, 3, 6, b.elem(x)),
                     wq = readQuantization(n, b, 4, 7, b.elem(w), b.dim(w, 1));
  if (b.ok())
    attendProjectedColumns(n, b, s, b.add(buildQuantizedMatmul(b, x, xq, w, wq), n.in(2)), {},
                           n.in(8));
}

/// MultiHeadAttention. Queries, keys and values are separate tensors, or all are packed in the
/// query [B, T, heads, 3, size], or keys and values are packed in the key [B, S, heads, 2, size].
/// Key and value may also be split into heads already: [B, heads, S, size].
void multiHeadAttention(Node &n, Build &b) {
  AttentionSettings s;
  if (!readSettings(n, b, s) ||
      !b.require(!n.has(8) && !n.has(9),
                 "inputs 'past_sequence_length' and 'cache_indirection', of "
                 "shared buffers, are not supported"))
    return;
  s.mask = n.in(4);
  s.added = n.in(5);
  Value query = n.in(0), key = n.in(1), value = n.in(2), bias = n.in(3), q, k, v;
  auto packed = [&](Value x, int64_t i) { return b.transpose(b.at(x, 3, i), {0, 2, 1, 3}); };
  if (b.rank(query) == 5) {
    q = packed(query, 0), k = packed(query, 1), v = packed(query, 2);
  } else if (key && b.rank(key) == 5) {
    q = splitHeads(b, query, s.heads), k = packed(key, 0), v = packed(key, 1);
  } else {
    if (!b.require(key && value, "key and value must be given, unless they are packed"))
      return;
    q = splitHeads(b, query, s.heads);
    k = b.rank(key) == 4 ? key : splitHeads(b, key, s.heads);
    v = b.rank(value) == 4 ? value : splitHeads(b, value, s.heads);
  }
  if (bias && b.ok()) {
    int64_t at = 0;
    for (Value *x : {&q, &k, &v}) {
      int64_t heads = b.dim(*x, 1), size = b.dim(*x, 3);
      if (!b.require(b.rank(bias) == 1 && at + heads * size <= b.count(bias),
                     "the bias must have an element for each column of query, key and value"))
        return;
      Value own = b.reshape(b.sliceAxis(bias, 0, at, heads * size), {1, heads, 1, size});
      *x = b.add(*x, own);
      at += heads * size;
    }
  }
  if (!b.require(n.has(6) == n.has(7), "past key and past value must be given together"))
    return;
  if (n.has(6)) {
    k = b.concat({n.in(6), k}, 2);
    v = b.concat({n.in(7), v}, 2);
  }
  n.set(0, attention(b, s, q, k, v));
  n.set(1, k);
  n.set(2, v);
}

/// RotaryEmbedding. The position ids are given for each row of x, or as one id for the first row,
/// from which the following rows count on.
void rotaryEmbedding(Node &n, Build &b) {
  Value x = n.in(0), positions = b.cast(n.in(1), b.i64);
  bool joined = b.rank(x) == 3;
  int64_t heads = n.integer("num_heads", 0), width = n.integer("rotary_embedding_dim", 0),
          half = b.rank(n.in(2)) == 2 ? b.dim(n.in(2), 1) : 0;
  if (n.integer("is_packed_batching", 0))
    return n.unsupported("is_packed_batching", "1", "0");
  if (n.real("scale", 1) != 1)
    return n.unsupported("scale", std::to_string(n.real("scale", 1)), "1");
  if (!b.require(b.rank(n.in(2)) == 2 && b.shape(n.in(2)) == b.shape(n.in(3)),
                 "the caches of cosines and sines must be matrices of one shape") ||
      !b.require(width == 0 || (width == 2 * half && heads > 0),
                 "rotary_embedding_dim must be twice the caches' width, " + Twine(2 * half) +
                     ", and needs num_heads"))
    return;
  if (joined && heads == 0 && b.ok())
    heads = b.dim(x, 2) / std::max<int64_t>(2 * half, 1);
  if (joined)
    x = splitHeads(b, x, heads);
  if (!b.ok() || !b.require(b.rank(x) == 4, "the input must have rank 3 or 4"))
    return;
  if (b.rank(positions) == 1)
    positions = b.add(b.reshape(positions, {1, 1}), b.iota(b.i64, {1, b.dim(x, 2)}, 1));
  auto rows = [&](int64_t i) { return gatherAlong(b, n.in(i), positions, 0); };
  Value y = applyRotaryEmbedding(b, x, rows(2), rows(3), n.integer("interleaved", 0) != 0);
  n.set(0, joined ? joinHeads(b, y) : y);
}

const Operator table[] = {
    {"Attention", 2, attentionFromWeights,
     "do_rotary mask_filter_value num_heads past_present_share_buffer qkv_hidden_sizes "
     "rotary_embedding_dim scale unidirectional"},
    {"QAttention", 5, attentionFromQuantizedWeights,
     "do_rotary mask_filter_value num_heads past_present_share_buffer scale unidirectional"},
    {"MultiHeadAttention", 1, multiHeadAttention,
     "mask_filter_value num_heads scale unidirectional"},
    {"RotaryEmbedding", 4, rotaryEmbedding,
     "interleaved is_packed_batching num_heads rotary_embedding_dim scale"},
};

} // namespace

ArrayRef<Operator> fusedAttentionOperators() { return table; }

} // namespace dlc::onnxfront
