//===- TopK.cpp - top-k, arg-max and arg-min along an axis ----------------===//
//
// Kind topk of schema/Builtin.def:
//   buffers: src, values [outer, k, inner], indices (i64). Of equal values, the one with the lower
//   index precedes; NaN is the largest value. The result is always sorted, even with
//   "sorted": false.
//
// Kind arg_reduce of schema/Builtin.def:
//   buffers: src, indices [outer, inner] (i64). The first (or last) extreme; NaN is preferred over
//   all numbers.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Numeric.h"

#include <bit>
#include <limits>

namespace dlc::runtime::builtin {

namespace {

template <typename C> struct Entry {
  C value;
  int64_t index;
};

/// Minimum number of elements for each thread.
constexpr int64_t kElementsPerGrain = 8192;

int64_t computeGrain(int64_t perItem) {
  return std::max<int64_t>(1, kElementsPerGrain / std::max<int64_t>(1, perItem));
}

/// Element types whose sort order can be represented by 32-bit integer sort keys (ranks).
template <typename C>
constexpr bool hasRank = std::is_same_v<C, float> || (std::is_integral_v<C> && sizeof(C) <= 4);

/// Returns the rank of a value: values with smaller ranks precede in the result. Ranks are compared
/// in vectors without branches.
template <bool Largest, typename C> int32_t computeSortRank(C value) {
  int32_t rank;
  if constexpr (std::is_same_v<C, float>) {
    int32_t bits = std::bit_cast<int32_t>(value + 0.0f); // maps -0 to 0
    rank = bits ^ ((bits >> 31) & std::numeric_limits<int32_t>::max());
    rank = value != value ? std::numeric_limits<int32_t>::max() : rank;
  } else if constexpr (std::is_unsigned_v<C>) {
    rank = static_cast<int32_t>(static_cast<uint32_t>(value) ^ 0x80000000u);
  } else {
    rank = value + 0; // promotes narrower types
  }
  return Largest ? ~rank : rank;
}

/// Maximum k for which the best elements are kept sorted, and each element is compared with the
/// last of them.
constexpr int64_t kFew = 16;
/// Maximum length of lines in which each element is compared with all others.
constexpr int64_t kAllPairs = 128;
/// Maximum length of lines in which a bound excludes blocks of elements that are worse than the top
/// k.
constexpr int64_t kBounded = 4096;

template <bool Largest, typename T>
void computeTopKByInsertion(const T *src, T *values, int64_t *indices, const AxisSplit &lines,
                            int64_t k) {
  constexpr int64_t step = 16;
  int32_t best[kFew] = {}, ranks[step] = {};
  int64_t where[kFew] = {}, count = 0;
  for (int64_t first = 0; first < lines.len; first += step) {
    int64_t size = std::min(step, lines.len - first);
    int32_t last = count == k ? best[k - 1] : std::numeric_limits<int32_t>::max(), better = 0;
    for (int64_t j = 0; j < size; ++j)
      ranks[j] = computeSortRank<Largest>(load(src[(first + j) * lines.inner]));
#pragma omp simd reduction(+ : better)
    for (int64_t j = 0; j < size; ++j)
      better += ranks[j] < last;
    if (better == 0 && count == k)
      continue;
    for (int64_t j = 0; j < size; ++j) {
      if (count == k && ranks[j] >= best[k - 1])
        continue;
      count = std::min(count + 1, k);
      int64_t at = count - 1;
      for (; at > 0 && ranks[j] < best[at - 1]; --at)
        best[at] = best[at - 1], where[at] = where[at - 1];
      best[at] = ranks[j], where[at] = first + j;
    }
  }
  for (int64_t j = 0; j < k; ++j) {
    values[j * lines.inner] = src[where[j] * lines.inner];
    indices[j * lines.inner] = where[j];
  }
}

template <bool Largest, typename T>
void computeSortRanks(const T *src, const AxisSplit &lines, int32_t *ranks) {
  for (int64_t l = 0; l < lines.len; ++l)
    ranks[l] = computeSortRank<Largest>(load(src[l * lines.inner]));
}

/// Returns the number of elements that precede element l in the sorted order, among at most
/// kAllPairs elements.
inline int64_t countPreceding(const int32_t *ranks, int64_t size, int64_t l) {
  int32_t place = 0, rank = ranks[l];
#pragma omp simd reduction(+ : place)
  for (int64_t j = 0; j < l; ++j)
    place += ranks[j] <= rank;
#pragma omp simd reduction(+ : place)
  for (int64_t j = l + 1; j < size; ++j)
    place += ranks[j] < rank;
  return place;
}

template <bool Largest, typename T>
void computeTopKByAllPairs(const T *src, T *values, int64_t *indices, const AxisSplit &lines,
                           int64_t k) {
  int32_t ranks[kAllPairs];
  computeSortRanks<Largest>(src, lines, ranks);
  for (int64_t l = 0; l < lines.len; ++l)
    if (int64_t place = countPreceding(ranks, lines.len, l); place < k) {
      values[place * lines.inner] = src[l * lines.inner];
      indices[place * lines.inner] = l;
    }
}

/// Computes the top k of a line: finds the best element k times, and replaces its rank with the
/// last rank each time. Returns false if the best remaining rank is the last rank, because replaced
/// elements cannot be told from elements with that rank. Needs four bytes of scratch memory for
/// each element.
template <bool Largest, typename T>
bool computeTopKBySelection(const T *src, T *values, int64_t *indices, const AxisSplit &lines,
                            int64_t k, int32_t *ranks) {
  constexpr int32_t last = std::numeric_limits<int32_t>::max();
  const int32_t size = static_cast<int32_t>(lines.len);
  computeSortRanks<Largest>(src, lines, ranks);
  for (int64_t j = 0; j < k; ++j) {
    int32_t best = last, at = last;
#pragma omp simd reduction(min : best)
    for (int32_t l = 0; l < size; ++l)
      best = std::min(best, ranks[l]);
    if (best == last)
      return false;
#pragma omp simd reduction(min : at)
    for (int32_t l = 0; l < size; ++l)
      at = std::min(at, ranks[l] == best ? l : last);
    ranks[at] = last;
    values[j * lines.inner] = src[at * lines.inner];
    indices[j * lines.inner] = at;
  }
  return true;
}

/// Returns true if computeTopKBySelection is faster than comparing all pairs or computing a bound.
bool isSelectionFaster(int64_t size, int64_t k) {
  return k <= kFew / 2 && k * size <= std::max(kBounded / k / 2, kFew / 2 * kAllPairs / 2);
}

/// Calls `keep` with each index whose rank is at most `bound`. Most blocks have no such index and
/// are skipped.
template <typename Keep>
void forEachWithinBound(const int32_t *ranks, int64_t size, int32_t bound, const Keep &keep) {
  constexpr int64_t step = 32;
  for (int64_t first = 0; first < size; first += step) {
    const int64_t end = std::min(first + step, size);
    int32_t within = 0;
#pragma omp simd reduction(+ : within)
    for (int64_t l = first; l < end; ++l)
      within += ranks[l] <= bound;
    if (within != 0)
      for (int64_t l = first; l < end; ++l)
        if (ranks[l] <= bound)
          keep(l);
  }
}

/// Computes the top k of a line in two steps. The best elements of the lanes give a bound, which at
/// least k elements satisfy. Then all pairs of the elements that satisfy the bound are compared.
/// Returns false if there are more than kAllPairs of them. Needs eight bytes of scratch memory for
/// each element.
template <bool Largest, typename T>
bool computeTopKByBound(const T *src, T *values, int64_t *indices, const AxisSplit &lines,
                        int64_t k, int32_t *scratch) {
  constexpr int64_t lanes = 2 * kFew;
  int32_t *ranks = scratch, *kept = scratch + lines.len, best[lanes], few[kAllPairs], bound = 0;
  computeSortRanks<Largest>(src, lines, ranks);
  std::copy(ranks, ranks + lanes, best);
  for (int64_t l = lanes; l + lanes <= lines.len; l += lanes)
#pragma omp simd
    for (int64_t j = 0; j < lanes; ++j)
      best[j] = ranks[l + j] < best[j] ? ranks[l + j] : best[j];
  for (int64_t j = 0; j < lanes; ++j)
    bound = countPreceding(best, lanes, j) == k - 1 ? best[j] : bound;
  int64_t count = 0;
  forEachWithinBound(ranks, lines.len, bound,
                     [&](int64_t l) { kept[count++] = static_cast<int32_t>(l); });
  if (count > kAllPairs)
    return false;
  for (int64_t j = 0; j < count; ++j)
    few[j] = ranks[kept[j]];
  for (int64_t j = 0; j < count; ++j)
    if (int64_t place = countPreceding(few, count, j); place < k) {
      values[place * lines.inner] = src[kept[j] * lines.inner];
      indices[place * lines.inner] = kept[j];
    }
  return true;
}

/// Combines rank and index into one key: elements with smaller keys precede, and no two keys are
/// equal.
inline uint64_t makeSortKey(int32_t rank, int64_t index) {
  return uint64_t(static_cast<uint32_t>(rank) ^ 0x80000000u) << 32 | static_cast<uint32_t>(index);
}

/// Computes the top k of a line for a large k. If k is a small part of the line, the elements are
/// distributed over 4 k lanes. The k-th best of the lanes' best elements is a bound that at least k
/// elements satisfy, and only few more if the elements are random. Needs sixteen bytes of scratch
/// memory for each element.
template <bool Largest, typename T>
void computeTopKBySorting(const T *src, T *values, int64_t *indices, const AxisSplit &lines,
                          int64_t k, uint64_t *scratch) {
  uint64_t *keys = scratch;
  int32_t *ranks = reinterpret_cast<int32_t *>(scratch + lines.len), *best = ranks + lines.len;
  computeSortRanks<Largest>(src, lines, ranks);
  const int64_t lanes = 4 * k;
  int64_t count = lines.len;
  if (lanes <= lines.len / 2) {
    std::copy(ranks, ranks + lanes, best);
    for (int64_t first = lanes; first < lines.len; first += lanes) {
      const int32_t *next = ranks + first;
      const int64_t size = std::min(lanes, lines.len - first);
#pragma omp simd
      for (int64_t j = 0; j < size; ++j)
        best[j] = std::min(best[j], next[j]);
    }
    std::nth_element(best, best + (k - 1), best + lanes);
    const int32_t bound = best[k - 1];
    count = 0;
    forEachWithinBound(ranks, lines.len, bound,
                       [&](int64_t l) { keys[count++] = makeSortKey(ranks[l], l); });
  } else {
    for (int64_t l = 0; l < lines.len; ++l)
      keys[l] = makeSortKey(ranks[l], l);
  }
  if (k < count)
    std::nth_element(keys, keys + k, keys + count);
  std::sort(keys, keys + k);
  for (int64_t j = 0; j < k; ++j) {
    const int64_t from = static_cast<uint32_t>(keys[j]);
    values[j * lines.inner] = src[from * lines.inner];
    indices[j * lines.inner] = from;
  }
}

template <typename T, bool Largest>
void topKLine(const T *src, T *values, int64_t *indices, const AxisSplit &lines, int64_t k,
              Entry<Compute<T>> *entries) {
  using C = Compute<T>;
  if constexpr (hasRank<C>) {
    if (isSelectionFaster(lines.len, k) &&
        computeTopKBySelection<Largest>(src, values, indices, lines, k,
                                        reinterpret_cast<int32_t *>(entries)))
      return;
    if (lines.len <= (k <= kFew ? kAllPairs / 2 : kAllPairs))
      return computeTopKByAllPairs<Largest>(src, values, indices, lines, k);
    if (k <= kFew && lines.len <= kBounded &&
        computeTopKByBound<Largest>(src, values, indices, lines, k,
                                    reinterpret_cast<int32_t *>(entries)))
      return;
    if (k <= kFew)
      return computeTopKByInsertion<Largest>(src, values, indices, lines, k);
    if (lines.len <= std::numeric_limits<int32_t>::max())
      return computeTopKBySorting<Largest>(src, values, indices, lines, k,
                                           reinterpret_cast<uint64_t *>(entries));
  }
  auto before = [](const Entry<C> &a, const Entry<C> &b) {
    if (Largest ? lessThan(b.value, a.value) : lessThan(a.value, b.value))
      return true;
    if (Largest ? lessThan(a.value, b.value) : lessThan(b.value, a.value))
      return false;
    return a.index < b.index;
  };
  auto entryAt = [&](int64_t l) { return Entry<C>{load(src[l * lines.inner]), l}; };
  // Returns true if a later element is not among the best ones. Also correct if either is NaN.
  auto isWorse = [&](const Entry<C> &next, const Entry<C> &worst) {
    return (Largest ? next.value <= worst.value : next.value >= worst.value) ||
           !before(next, worst);
  };
  // The best elements so far: most elements are compared with the worst of these and discarded. If
  // k is at most kFew, the best elements are kept sorted; if k is at most an eighth of the line,
  // they are kept in a heap. For a larger k, the elements are selected by nth_element and sorted.
  if (k <= kFew) {
    int64_t count = 0;
    for (int64_t l = 0; l < lines.len; ++l) {
      Entry<C> next = entryAt(l);
      if (count == k && isWorse(next, entries[k - 1]))
        continue;
      count = std::min(count + 1, k);
      int64_t at = count - 1;
      for (; at > 0 && before(next, entries[at - 1]); --at)
        entries[at] = entries[at - 1];
      entries[at] = next;
    }
  } else if (k <= lines.len / 8) {
    for (int64_t l = 0; l < k; ++l)
      entries[l] = entryAt(l);
    std::make_heap(entries, entries + k, before);
    for (int64_t l = k; l < lines.len; ++l) {
      Entry<C> next = entryAt(l);
      if (isWorse(next, entries[0]))
        continue;
      std::pop_heap(entries, entries + k, before);
      entries[k - 1] = next;
      std::push_heap(entries, entries + k, before);
    }
    std::sort_heap(entries, entries + k, before);
  } else {
    for (int64_t l = 0; l < lines.len; ++l)
      entries[l] = {load(src[l * lines.inner]), l};
    if (k < lines.len)
      std::nth_element(entries, entries + k, entries + lines.len, before);
    std::sort(entries, entries + k, before);
  }
  for (int64_t j = 0; j < k; ++j) {
    values[j * lines.inner] = src[entries[j].index * lines.inner];
    indices[j * lines.inner] = entries[j].index;
  }
}

template <typename T>
void topK(void *const *buffers, const CallContext &context, const AxisSplit &lines, int64_t k,
          bool largest, int threads) {
  using C = Compute<T>;
  const T *src = static_cast<const T *>(buffers[0]);
  T *values = static_cast<T *>(buffers[1]);
  int64_t *indices = static_cast<int64_t *>(buffers[2]);
  Entry<C> *scratch = static_cast<Entry<C> *>(context.scratch);
  parallelFor(std::min(threads, context.threads), lines.count(), computeGrain(lines.len),
              [&](int64_t begin, int64_t end, int thread) {
                Entry<C> *entries = scratch + thread * lines.len;
                for (int64_t item = begin; item < end; ++item) {
                  int64_t o = item / lines.inner, i = item % lines.inner;
                  const T *line = src + o * lines.len * lines.inner + i;
                  int64_t to = o * k * lines.inner + i;
                  if (largest)
                    topKLine<T, true>(line, values + to, indices + to, lines, k, entries);
                  else
                    topKLine<T, false>(line, values + to, indices + to, lines, k, entries);
                }
              });
}

template <typename T>
void argReduce(void *const *buffers, const CallContext &context, const AxisSplit &lines, bool isMax,
               bool selectLast) {
  using C = Compute<T>;
  const T *src = static_cast<const T *>(buffers[0]);
  int64_t *indices = static_cast<int64_t *>(buffers[1]);
  auto better = [&](C candidate, C best) {
    if (isNan(best))
      return selectLast && isNan(candidate);
    if (isNan(candidate))
      return true;
    if (candidate == best)
      return selectLast;
    return isMax ? candidate > best : candidate < best;
  };
  parallelFor(context.threads, lines.count(), computeGrain(lines.len),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t item = begin; item < end; ++item) {
                  int64_t o = item / lines.inner, i = item % lines.inner;
                  const T *line = src + o * lines.len * lines.inner + i;
                  int64_t at = 0;
                  C best = load(line[0]);
                  for (int64_t l = 1; l < lines.len; ++l)
                    if (C candidate = load(line[l * lines.inner]); better(candidate, best))
                      best = candidate, at = l;
                  indices[item] = at;
                }
              });
}

} // namespace

std::unique_ptr<LibraryCall> makeTopK(KernelRequest &request) {
  const auto fields = request.read<schema::TopK>();
  AxisSplit lines(fields);
  const int64_t k = fields.k;
  const bool largest = fields.largest;
  const DType dtype = fields.dtype;
  if (k > lines.len)
    fields.complain("required: k of at most ", lines.len, ", the length of the axis; found: ", k);
  request.need("src", lines.elements(), dtype, false);
  request.need("values", lines.count() * k, dtype, true);
  request.need("indices", lines.count() * k, DType::I64, true);
  request.end();
  int threads = request.threads;
  uint64_t scratch = 16ull * static_cast<uint64_t>(lines.len) * static_cast<uint64_t>(threads);
  return makeCall(
      "topk",
      [=](void *const *buffers, const CallContext &context) {
        if (k > 0)
          dispatch(dtype, [&](auto type) {
            topK<typename decltype(type)::type>(buffers, context, lines, k, largest, threads);
          });
      },
      scratch);
}

std::unique_ptr<LibraryCall> makeArgReduce(KernelRequest &request) {
  const auto fields = request.read<schema::ArgReduce>();
  AxisSplit lines(fields);
  const bool isMax = fields.op == schema::Extreme::Max, selectLast = fields.selectLast;
  const DType dtype = fields.dtype;
  if (lines.len == 0 && lines.count() > 0)
    fields.complain("reduction over an empty axis");
  request.need("src", lines.elements(), dtype, false);
  request.need("indices", lines.count(), DType::I64, true);
  request.end();
  return makeCall(std::string("arg_") + nameOf(fields.op), [=](void *const *buffers,
                                                               const CallContext &context) {
    dispatch(dtype, [&](auto type) {
      argReduce<typename decltype(type)::type>(buffers, context, lines, isMax, selectLast);
    });
  });
}

} // namespace dlc::runtime::builtin
