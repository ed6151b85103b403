//===- Backward.cpp - gradients of attention by blocks of queries and keys -===//
//
// The probabilities of a pair of blocks are recomputed from `lse`, the logarithms of the rows'
// sums. A thread that computes a complete head computes each pair of blocks once, for all three
// gradients. If there are fewer heads than threads, dq is computed by blocks of queries, and dk and
// dv are computed by blocks of keys.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/Heads.h"

#include <cstring>
#include <limits>

namespace dlc::attention {

AttentionBackward::AttentionBackward(const Attention &request, MatmulBackend units,
                                     const AttentionBuffers *buffers, ScratchAllocator pieces)
    : AttentionPass{request, units, buffers} {
  place(pieces);
}

int64_t AttentionBackward::scratchBytes(const Attention &request, MatmulBackend units) {
  AttentionBackward counted(request, units, nullptr, ScratchAllocator(nullptr));
  return counted.place(ScratchAllocator(nullptr));
}

int64_t AttentionBackward::place(ScratchAllocator pieces) {
  const Attention &r = request;
  int64_t block = std::min(r.keys, kKeys);
  scorePitch = pitch(block), depthPitch = pitch(r.depth), widthPitch = pitch(r.width);
  int64_t tiles = units.parts ? 1 : 0;
  leftQBytes = pieces.bytes(tiles * units.bytes(r.queries, r.depth));
  leftDyBytes = pieces.bytes(tiles * units.bytes(r.queries, r.width));
  rightQBytes = pieces.bytes(units.bytes(r.depth, r.queries));
  rightDyBytes = pieces.bytes(units.bytes(r.width, r.queries));
  rightKBytes = pieces.bytes(units.bytes(r.keys, r.depth));
  rightVBytes = pieces.bytes(units.bytes(r.keys, r.width));
  deepKBytes = pieces.bytes(units.bytes(r.depth, r.keys));
  transposedBytes = pieces.bytes(tiles * units.bytes(block, kQueries));
  straightBytes = pieces.bytes(tiles * units.bytes(kQueries, block));
  wideQ = pieces.floats(wideElements(r.queries, r.depth));
  wideDy = pieces.floats(wideElements(r.queries, r.width));
  wide = pieces.floats(std::max(wideElements(r.keys, r.depth), wideElements(r.keys, r.width)) +
                       pitch(r.width));
  p = pieces.floats(kQueries * scorePitch);
  ds = pieces.floats(kQueries * scorePitch);
  dq = pieces.floats(padded(r.queries) * depthPitch);
  dk = pieces.floats(padded(block) * depthPitch);
  dv = pieces.floats(padded(block) * widthPitch);
  mask = pieces.floats(scorePitch);
  share = pieces.floats(r.queries);
  return pieces.size();
}

void AttentionBackward::enter(int64_t head) {
  if (head == current)
    return;
  current = head;
  const Attention &r = request;
  StridedMatrix q = plain(buffers->q, r.q, head, 0, r.queries, r.depth, wideQ);
  StridedMatrix dy = plain(buffers->dy, r.dy, head, 0, r.queries, r.width, wideDy);
  for (int64_t i = 0; i < r.queries; ++i) {
    StridedMatrix y = plain(buffers->y, r.y, head, i, 1, r.width, wide);
    share[i] = units.kernels->dot(dy.at + i * dy.lane, y.at, r.width);
  }
  leftQ = units.left(q, r.queries, r.depth, leftQBytes);
  leftDy = units.left(dy, r.queries, r.width, leftDyBytes);
  rightQ = units.packRight({q.at, 1, q.lane}, r.depth, r.queries, rightQBytes);
  rightDy = units.packRight({dy.at, 1, dy.lane}, r.width, r.queries, rightDyBytes);
  StridedMatrix k = plain(buffers->k, r.k, head, 0, r.keys, r.depth, wide);
  rightK = units.packRight(k, r.keys, r.depth, rightKBytes);
  deepK = units.packRight({k.at, 1, k.lane}, r.depth, r.keys, deepKBytes);
  StridedMatrix v = plain(buffers->v, r.v, head, 0, r.keys, r.width, wide);
  rightV = units.packRight(v, r.keys, r.width, rightVBytes);
}

bool AttentionBackward::scoresOf(int64_t head, int64_t query, int64_t key) {
  const Attention &r = request;
  int64_t rows = std::min(kQueries, r.queries - query), count = std::min(kKeys, r.keys - key);
  if (r.seen(query + rows - 1) <= key)
    return false;
  int64_t all = padded(count);
  units.multiply(units.part(leftQ, query), units.part(rightK, key, 0), {rows, count, r.depth}, p,
                 scorePitch, false);
  units.multiply(units.part(leftDy, query), units.part(rightV, key, 0), {rows, count, r.width}, ds,
                 scorePitch, false);
  const float *shared = sharesBias() ? bias(head, 0, key, count, mask) : nullptr;
  for (int64_t i = 0; i < rows; ++i) {
    float *row = p + i * scorePitch, *products = ds + i * scorePitch;
    int64_t seen = std::min(count, r.seen(query + i) - key);
    if (seen <= 0) {
      std::memset(row, 0, static_cast<size_t>(all) * 4);
      std::memset(products, 0, static_cast<size_t>(all) * 4);
      continue;
    }
    const float *added = shared ? shared : bias(head, query + i, key, count, mask);
    units.kernels->finishScores(row, added, r.scale, seen, all, 0);
    units.kernels->gradients(row, products, all, buffers->lse[head * r.queries + query + i],
                             share[query + i], r.scale);
  }
  return true;
}

void AttentionBackward::addKeys(int64_t query, int64_t key, bool adds) {
  const Attention &r = request;
  int64_t rows = std::min(kQueries, r.queries - query), count = std::min(kKeys, r.keys - key);
  LeftOperand transposed = units.left({p, 1, scorePitch}, count, rows, transposedBytes);
  units.multiply(transposed, units.part(rightDy, 0, query), {count, r.width, rows}, dv, widthPitch,
                 adds);
  transposed = units.left({ds, 1, scorePitch}, count, rows, transposedBytes);
  units.multiply(transposed, units.part(rightQ, 0, query), {count, r.depth, rows}, dk, depthPitch,
                 adds);
}

void AttentionBackward::addQueries(int64_t query, int64_t key, float *to, bool adds) {
  const Attention &r = request;
  int64_t rows = std::min(kQueries, r.queries - query), count = std::min(kKeys, r.keys - key);
  LeftOperand straight = units.left({ds, scorePitch, 1}, rows, count, straightBytes);
  units.multiply(straight, units.part(deepK, 0, key), {rows, r.depth, count}, to, depthPitch, adds);
}

void AttentionBackward::storeKeys(int64_t head, int64_t key, bool any) {
  const Attention &r = request;
  int64_t count = std::min(kKeys, r.keys - key);
  // Keys to which no query attends have a gradient of 0.
  if (!any) {
    std::memset(dk, 0, static_cast<size_t>(count * depthPitch) * 4);
    std::memset(dv, 0, static_cast<size_t>(count * widthPitch) * 4);
  }
  store(dk, depthPitch, count, r.depth, nullptr, at(buffers->dk, r.dk, head, key), r.dk);
  store(dv, widthPitch, count, r.width, nullptr, at(buffers->dv, r.dv, head, key), r.dv);
}

void AttentionBackward::storeQueries(int64_t head, int64_t query, const float *from) {
  const Attention &r = request;
  int64_t rows = std::min(kQueries, r.queries - query);
  store(from, depthPitch, rows, r.depth, nullptr, at(buffers->dq, r.dq, head, query), r.dq);
}

void AttentionBackward::run(int64_t head) {
  enter(head);
  const Attention &r = request;
  for (int64_t key = 0; key < r.keys; key += kKeys) {
    bool any = false;
    for (int64_t query = 0; query < r.queries; query += kQueries) {
      if (!scoresOf(head, query, key))
        continue;
      addKeys(query, key, any);
      // All queries attend to the first block of keys, so the matmul with this block initializes
      // dq.
      addQueries(query, key, dq + query * depthPitch, key > 0);
      any = true;
    }
    storeKeys(head, key, any);
  }
  for (int64_t query = 0; query < r.queries; query += kQueries)
    storeQueries(head, query, dq + query * depthPitch);
}

void AttentionBackward::runQueries(int64_t head, int64_t block) {
  enter(head);
  int64_t query = block * kQueries;
  for (int64_t key = 0; key < request.keys && scoresOf(head, query, key); key += kKeys)
    addQueries(query, key, dq, key > 0);
  storeQueries(head, query, dq);
}

void AttentionBackward::runKeys(int64_t head, int64_t block) {
  enter(head);
  int64_t key = block * kKeys;
  bool any = false;
  for (int64_t query = 0; query < request.queries; query += kQueries)
    if (scoresOf(head, query, key)) {
      addKeys(query, key, any);
      any = true;
    }
  storeKeys(head, key, any);
}

} // namespace dlc::attention
