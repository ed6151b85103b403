//===- GroupQueryAttention.cpp - grouped-query attention of decoders, with a KV cache --===//
#include "frontend/builder/Attend.h"
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Sizes of a GroupQueryAttention node, from its attributes and the shapes of its inputs.
struct GroupQuerySizes {
  /// T is the number of new positions, `total` the length of the longest sequence including new
  /// positions, and `cached` the size of the past cache.
  int64_t B, T, total, cached, heads, kvHeads, size;
  bool prompt() const { return T == total; }
};

/// Returns the number of earlier positions of each sequence as i64 [B, 1]. Null means that it is
/// `total - T` for all sequences.
Value computePastLengths(Build &b, const GroupQuerySizes &s, Value seqlens) {
  if (s.prompt() || s.B == 1)
    return {};
  return b.add(b.reshape(b.cast(seqlens, b.i64), {s.B, 1}), double(1 - s.T));
}

/// Appends the new rows [B, heads, T, size] to the cached rows of each sequence and returns the
/// cache.
Value appendToCache(Build &b, const GroupQuerySizes &s, Value cache, Value rows, Value past) {
  if (!cache)
    return rows;
  int64_t before = s.total - s.T, length = std::max(s.cached, s.total);
  if (!past) {
    Value start = b.sliceAxis(cache, 2, 0, before), all = b.concat({start, rows}, 2);
    return length > s.total ? b.concat({all, b.sliceAxis(cache, 2, s.total, length - s.total)}, 2)
                            : all;
  }
  Dims low(4, 0), high(4, 0);
  high[2] = length - s.cached;
  Value place = b.add(b.iota(b.i64, b.shape(rows), 2), b.reshape(past, {s.B, 1, 1, 1}));
  return b.scatter(b.padZero(cache, low, high), place, rows, 2);
}

/// Returns the attention mask of GroupQueryAttention: a query attends to the keys up to its own
/// position and within the sliding window (`local_window_size`) or, without `causal`, to all keys
/// of its sequence.
Value buildVisibleKeysMask(Node &n, Build &b, const GroupQuerySizes &s, Value seqlens, Value past) {
  int64_t window = n.integer("local_window_size", -1);
  Value key = b.iota(b.i64, {1, 1, 1, s.total}, 3);
  Value query = b.iota(b.i64, {1, 1, s.T, 1}, 2);
  query =
      past ? b.add(query, b.reshape(past, {s.B, 1, 1, 1})) : b.add(query, double(s.total - s.T));
  if (n.integer("causal", 1) == 0) {
    Value length = b.add(b.reshape(b.cast(seqlens, b.i64), {s.B, 1, 1, 1}), 1.0);
    return b.compare(Predicate::lt, key, length);
  }
  Value seen = b.compare(Predicate::le, key, query);
  if (window > 0)
    seen = b.both(seen, b.compare(Predicate::gt, key, b.sub(query, double(window))));
  return seen;
}

bool hasUnsupportedAttribute(Node &n, Build &b) {
  struct {
    const char *name;
    int64_t usual;
  } integers[] = {{"kv_cache_bit_width", 0}, {"sliding_window_cache", 0}, {"qk_output", 0}};
  for (auto &[name, usual] : integers)
    if (n.integer(name, usual) != usual) {
      n.unsupported(name, Twine(n.integer(name, usual)), Twine(usual).str());
      return true;
    }
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (n.string(name, "NONE") != "NONE") {
      n.unsupported(name, n.string(name, "NONE"), "NONE");
      return true;
    }
  return !b.require(!n.has(12) && !n.has(13), "quantized caches are not supported");
}

void groupQueryAttention(Node &n, Build &b) {
  GroupQuerySizes s;
  s.heads = n.integer("num_heads", 0);
  s.kvHeads = n.integer("kv_num_heads", 0);
  Value query = n.in(0), key = n.in(1), value = n.in(2), seqlens = n.in(5);
  if (hasUnsupportedAttribute(n, b) ||
      !b.require(
          Build::isSane(s.heads, 1) && Build::isSane(s.kvHeads, 1) && s.heads % s.kvHeads == 0,
          "num_heads and kv_num_heads are required, and the latter must divide the former") ||
      !b.require(b.rank(query) == 3 && bool(key) == bool(value),
                 "the query must have rank 3, and key and value must be given together") ||
      !b.require(n.has(3) == n.has(4), "past key and past value must be given together"))
    return;
  s.B = b.dim(query, 0);
  s.T = b.dim(query, 1);
  s.total = b.needInt(n.in(6), "the total sequence length");
  s.cached = n.has(3) && b.require(b.rank(n.in(3)) == 4, "the past must have rank 4")
                 ? b.dim(n.in(3), 2)
                 : 0;
  if (!b.ok() ||
      !b.require(seqlens && b.count(seqlens) == s.B, "seqlens_k must have one element per batch") ||
      !b.require(Build::isSane(s.total, s.T) && s.total - s.T <= s.cached,
                 "the total sequence length, " + Twine(s.total) + ", must be from " + Twine(s.T) +
                     " to the sum of past and new positions, " + Twine(s.cached + s.T)))
    return;
  Value q, k, v;
  if (key) {
    q = splitHeads(b, query, s.heads);
    k = splitHeads(b, key, s.kvHeads);
    v = splitHeads(b, value, s.kvHeads);
  } else {
    Value all = splitHeads(b, query, s.heads + 2 * s.kvHeads);
    q = b.sliceAxis(all, 1, 0, s.heads);
    k = b.sliceAxis(all, 1, s.heads, s.kvHeads);
    v = b.sliceAxis(all, 1, s.heads + s.kvHeads, s.kvHeads);
  }
  if (!b.ok())
    return;
  s.size = b.dim(q, 3);
  if (n.has(14) || n.has(15)) {
    double eps = n.real("qk_norm_epsilon", 1e-6f);
    q = rmsNorm(b, q, n.in(14), 3, eps);
    k = rmsNorm(b, k, n.in(15), 3, eps);
  }
  Value past = computePastLengths(b, s, seqlens);
  if (n.integer("do_rotary", 0)) {
    Value positions = b.iota(b.i64, {1, s.T}, 1);
    if (n.has(9))
      positions = b.cast(n.in(9), b.i64);
    else
      positions = past ? b.add(positions, past) : b.add(positions, double(s.total - s.T));
    if (!b.require(n.has(7) && n.has(8), "do_rotary needs the caches of cosines and sines"))
      return;
    Value cosines = gatherAlong(b, n.in(7), positions, 0),
          sines = gatherAlong(b, n.in(8), positions, 0);
    bool interleaved = n.integer("rotary_interleaved", 0) != 0;
    q = applyRotaryEmbedding(b, q, cosines, sines, interleaved);
    k = applyRotaryEmbedding(b, k, cosines, sines, interleaved);
  }
  k = appendToCache(b, s, n.in(3), k, past);
  v = appendToCache(b, s, n.in(4), v, past);
  n.set(1, k);
  n.set(2, v);
  if (!b.ok())
    return;
  AttentionOperands a{q, repeatHeads(b, b.sliceAxis(k, 2, 0, s.total), s.heads / s.kvHeads),
                      repeatHeads(b, b.sliceAxis(v, 2, 0, s.total), s.heads / s.kvHeads),
                      n.real("scale", 0), n.in(10)};
  if (a.scale == 0)
    a.scale = 1 / std::sqrt(double(s.size));
  a.seen = buildVisibleKeysMask(n, b, s, seqlens, past);
  a.softcap = n.real("softcap", 0);
  if (n.has(11))
    a.sink = b.reshape(n.in(11), {1, s.heads, 1, 1});
  else if (n.integer("smooth_softmax", 0) > 0)
    a.sink = b.splat(b.f32, {1, s.heads, 1, 1}, 0);
  n.set(0, joinHeads(b, buildAttention(b, a)));
}

const Operator table[] = {
    {"GroupQueryAttention", 1, groupQueryAttention,
     "causal do_rotary k_quant_type kv_cache_bit_width kv_num_heads local_window_size num_heads "
     "qk_norm_epsilon qk_output rotary_interleaved scale sliding_window_cache smooth_softmax "
     "softcap "
     "v_quant_type"},
};

} // namespace

ArrayRef<Operator> groupQueryAttentionOperators() { return table; }

} // namespace dlc::onnxfront
