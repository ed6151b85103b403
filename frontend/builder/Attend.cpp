//===- Attend.cpp - attention with masks, and rotary embedding ------------===//
#include "frontend/builder/Attend.h"

using namespace mlir;

namespace dlc::frontend {

Value buildCausalMask(Build &b, int64_t T, int64_t S, int64_t past) {
  Value key = b.iota(b.i64, {1, 1, 1, S}, 3), query = b.iota(b.i64, {1, 1, T, 1}, 2);
  return b.compare(Predicate::le, key, past ? b.add(query, double(past)) : query);
}

/// Builds attention as one dlc.attention.
static Value buildAttentionOp(Build &b, const AttentionOperands &a) {
  SmallVector<NamedAttribute> attributes{b.attrFloat("scale", a.scale)};
  SmallVector<Value> operands{b.widen(a.q), b.widen(a.k), b.widen(a.v)};
  Value mask = a.added && b.isHalf(a.added) ? b.widen(a.added) : a.added;
  if (a.causal && !mask && !a.seen)
    attributes.push_back(b.attrUnit("causal"));
  Value seen = a.seen;
  if (a.causal && (mask || seen)) {
    Value own = buildCausalMask(b, b.dim(a.q, 2), b.dim(a.k, 2), 0);
    seen = seen ? b.both(seen, own) : own;
  }
  if (mask && seen)
    operands.push_back(b.select(seen, mask, b.like(mask, -INFINITY)));
  else if (mask || seen)
    operands.push_back(mask ? mask : seen);
  return b.cast(b.op<AttentionOp>(operands, attributes), b.elem(a.v));
}

Value buildAttention(Build &b, const AttentionOperands &a) {
  if (!b.require(b.rank(a.q) == 4 && b.rank(a.k) == 4 && b.rank(a.v) == 4,
                 "required: queries, keys and values of rank 4; found another rank"))
    return {};
  if (a.softcap == 0 && !a.sink)
    return buildAttentionOp(b, a);
  Value scores = b.mul(b.matmul(b.widen(a.q), b.widen(a.k), false, true), a.scale);
  if (a.softcap != 0)
    scores = b.mul(b.unary<TanhOp>(b.div(scores, a.softcap)), a.softcap);
  if (a.added)
    scores = b.add(scores, b.widen(a.added));
  Value seen = a.seen;
  if (a.causal) {
    Value own = buildCausalMask(b, b.dim(a.q, 2), b.dim(a.k, 2), 0);
    seen = seen ? b.both(seen, own) : own;
  }
  if (seen)
    scores = b.select(seen, scores, b.like(scores, -INFINITY));
  int64_t keys = b.dim(a.k, 2);
  if (a.sink) {
    Dims one = b.dims(scores);
    if (!b.ok())
      return {};
    one[3] = 1;
    scores = b.concat({scores, b.broadcast(b.cast(a.sink, b.elem(scores)), one)}, 3);
  }
  Value weights = b.softmax(scores, 3);
  if (a.sink)
    weights = b.sliceAxis(weights, 3, 0, keys);
  return b.cast(b.matmul(weights, b.widen(a.v)), b.elem(a.v));
}

Value applyRotaryEmbedding(Build &b, Value x, Value cosines, Value sines, bool interleaved) {
  int64_t size = b.dim(x, 3), half = b.dim(cosines, 2), step = interleaved ? 2 : 1;
  if (!b.require(2 * half <= size, "the caches of cosines and sines are wider than the heads"))
    return {};
  // Adds a dimension for the heads, so that [B, 1, T, half] broadcasts to [B, heads, T, ..].
  cosines = b.expandDims(cosines, 1);
  sines = b.expandDims(sines, 1);
  Value rotary = b.sliceAxis(x, 3, 0, 2 * half),
        rest = b.sliceAxis(x, 3, 2 * half, size - 2 * half);
  Value p = b.sliceAxis(rotary, 3, 0, half, step),
        q = b.sliceAxis(rotary, 3, interleaved ? 1 : half, half, step);
  Value real = b.sub(b.mul(cosines, p), b.mul(sines, q)),
        imaginary = b.add(b.mul(sines, p), b.mul(cosines, q));
  Value y = interleaved ? b.reshape(b.stack({real, imaginary}, 4), b.shape(rotary))
                        : b.concat({real, imaginary}, 3);
  return 2 * half < size ? b.concat({y, rest}, 3) : y;
}

} // namespace dlc::frontend
