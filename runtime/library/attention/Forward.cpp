//===- Forward.cpp - attention by blocks of queries and keys with an online softmax -===//
//
// Only the scores of one block of keys exist at a time. The maximum score and the sum of
// exponentials of each query are updated with each block. If a block has a larger score, the
// previous sums are rescaled.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/attention/Heads.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace dlc::attention {

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
}

StridedMatrix AttentionPass::plain(const char *buffer, const View &view, int64_t head,
                                   int64_t first, int64_t count, int64_t size, float *wide) const {
  const char *from = at(buffer, view, head, first);
  if (!request.narrow)
    return {reinterpret_cast<const float *>(from), view.row(), 1};
  const auto *bits = reinterpret_cast<const uint16_t *>(from);
  for (int64_t i = 0; i < count; ++i)
    units.kernels->widen(bits + i * view.row(), size, wide + i * pitch(size));
  return {wide, pitch(size), 1};
}

const float *AttentionPass::bias(int64_t head, int64_t query, int64_t first, int64_t count,
                                 float *to) const {
  if (request.maskKind == MaskKind::None)
    return nullptr;
  const View &view = request.mask;
  int64_t step = view.strides.back();
  int64_t start = view.start(request.batch, head) + query * view.row() + first * step;
  switch (request.maskKind) {
  case MaskKind::Bool: {
    const auto *from = reinterpret_cast<const uint8_t *>(buffers->mask) + start;
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i * step] ? 0.0f : -kInfinity;
    break;
  }
  case MaskKind::BF16: {
    const auto *from = reinterpret_cast<const uint16_t *>(buffers->mask) + start;
    for (int64_t i = 0; i < count; ++i)
      to[i] = __builtin_bit_cast(float, uint32_t(from[i * step]) << 16);
    break;
  }
  default: {
    const auto *from = reinterpret_cast<const float *>(buffers->mask) + start;
    if (step == 1)
      std::memcpy(to, from, static_cast<size_t>(count) * 4);
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[i * step];
  }
  }
  return to;
}

void AttentionPass::store(const float *from, int64_t row, int64_t count, int64_t size,
                          const float *factors, char *to, const View &view) const {
  for (int64_t i = 0; i < count; ++i)
    units.kernels->scaled(from + i * row, size, factors ? factors[i] : 1.0f, request.narrow,
                          to + i * view.row() * request.bytes());
}

AttentionForward::AttentionForward(const Attention &request, MatmulBackend units,
                                   const AttentionBuffers *buffers, ScratchAllocator pieces)
    : AttentionPass{request, units, buffers} {
  place(pieces);
}

int64_t AttentionForward::scratchBytes(const Attention &request, MatmulBackend units) {
  AttentionForward counted(request, units, nullptr, ScratchAllocator(nullptr));
  return counted.place(ScratchAllocator(nullptr));
}

int64_t AttentionForward::place(ScratchAllocator pieces) {
  const Attention &r = request;
  int64_t block = std::min(r.keys, kKeys);
  scorePitch = pitch(block);
  sumPitch = pitch(r.width);
  keyBytes = pieces.bytes(units.bytes(r.keys, r.depth));
  valueBytes = pieces.bytes(units.bytes(r.width, r.keys));
  wide = pieces.floats(std::max({wideElements(r.keys, r.depth), wideElements(r.keys, r.width),
                                 wideElements(kQueries, r.depth)}));
  queryBytes = pieces.bytes(units.parts ? units.bytes(kQueries, r.depth) : 0);
  weightBytes = pieces.bytes(units.parts ? units.bytes(kQueries, block) : 0);
  scores = pieces.floats(kQueries * scorePitch);
  sums = pieces.floats(kQueries * sumPitch);
  mask = pieces.floats(scorePitch);
  largest = pieces.floats(kQueries);
  total = pieces.floats(kQueries);
  return pieces.size();
}

void AttentionForward::enter(int64_t head) {
  if (head == current)
    return;
  current = head;
  const Attention &r = request;
  StridedMatrix k = plain(buffers->k, r.k, head, 0, r.keys, r.depth, wide);
  keys = units.packRight(k, r.keys, r.depth, keyBytes);
  StridedMatrix v = plain(buffers->v, r.v, head, 0, r.keys, r.width, wide);
  values = units.packRight({v.at, 1, v.lane}, r.width, r.keys, valueBytes);
}

void AttentionForward::attend(int64_t head, int64_t first, int64_t rows, const LeftOperand &q,
                              int64_t key) {
  const Attention &r = request;
  // Number of keys of this block to which the last query attends, which is the maximum of all
  // queries.
  int64_t count = std::min({r.keys - key, kKeys, r.seen(first + rows - 1) - key});
  int64_t all = padded(count);
  units.multiply(q, units.part(keys, key, 0), {rows, count, r.depth}, scores, scorePitch, false);
  const float *shared = sharesBias() ? bias(head, 0, key, count, mask) : nullptr;
  for (int64_t i = 0; i < rows; ++i) {
    float *row = scores + i * scorePitch, before = largest[i];
    int64_t seen = std::min(count, r.seen(first + i) - key);
    if (seen <= 0) {
      std::memset(row, 0, static_cast<size_t>(all) * 4);
      continue;
    }
    const float *added = shared ? shared : bias(head, first + i, key, count, mask);
    largest[i] = units.kernels->finishScores(row, added, r.scale, seen, all, before);
    float sum = units.kernels->exponentials(row, all, largest[i]);
    float less = before == largest[i] ? 1.0f : std::exp(before - largest[i]);
    total[i] = total[i] * less + sum;
    if (key > 0 && less != 1)
      units.kernels->scaled(sums + i * sumPitch, r.width, less, false, sums + i * sumPitch);
  }
  LeftOperand weights = units.left({scores, scorePitch, 1}, rows, count, weightBytes);
  units.multiply(weights, units.part(values, 0, key), {rows, r.width, count}, sums, sumPitch,
                 key > 0);
}

void AttentionForward::run(int64_t head, int64_t block) {
  enter(head);
  const Attention &r = request;
  int64_t first = block * kQueries, rows = std::min(kQueries, r.queries - first);
  StridedMatrix plainQ = plain(buffers->q, r.q, head, first, rows, r.depth, wide);
  LeftOperand q = units.left(plainQ, rows, r.depth, queryBytes);
  std::fill_n(largest, rows, -kInfinity);
  std::fill_n(total, rows, 0.0f);
  for (int64_t key = 0; key < r.seen(first + rows - 1); key += kKeys)
    attend(head, first, rows, q, key);
  if (r.hasSums)
    for (int64_t i = 0; i < rows; ++i)
      buffers->lse[head * r.queries + first + i] =
          total[i] == 0 ? -kInfinity : largest[i] + std::log(total[i]);
  // A query whose keys are all masked has a result of 0.
  for (int64_t i = 0; i < rows; ++i)
    total[i] = total[i] == 0 ? 0.0f : 1.0f / total[i];
  store(sums, sumPitch, rows, r.width, total, at(buffers->y, r.y, head, first), r.y);
}

} // namespace dlc::attention
