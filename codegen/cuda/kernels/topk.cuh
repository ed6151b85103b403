//===- topk.cuh - top-k along an axis --------------------------------------===//
//
// Parameters P: index, type (of elements in registers), largest; the tensor's shape around the axis
// is [outer, size, inner]; k.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "sort.cuh"

namespace dk {

/// Offset of line `line`, a sequence of elements along the axis, in the operand and in the results.
template <class P> struct topk_line {
  typename P::index from, to;
  DK_INLINE topk_line at(typename P::index line) {
    const typename P::index outer = line / P::inner, inner = line % P::inner;
    return {outer * (P::size * P::inner) + inner, outer * (P::k * P::inner) + inner};
  }
};

/// A pass of top-k: each block sorts one of `parts` parts of a line of `length` elements, of which
/// a part has at most `capacity`. The first k elements of all parts are the line of the next pass;
/// the last pass, with one part, stores the results. In the first pass the lines are the operand's,
/// and the position of an element is its index.
template <class P> struct topk_pass {
  typedef typename P::index index;
  struct memory {
    typename P::type values[P::capacity];
    index positions[P::capacity];
  };
  template <class In, class Out, class OutIndex>
  DK_INLINE void run(const In *values, const index *positions, Out *to_values,
                     OutIndex *to_positions, memory &m) {
    const index line = blockIdx.x / P::parts, start = blockIdx.x % P::parts * P::capacity;
    const topk_line<P> offset = topk_line<P>::at(line);
    for (int i = threadIdx.x; i < P::capacity; i += 256) {
      const index at = start + i;
      const bool inside = at < P::length;
      const index from = P::first ? offset.from + at * P::inner : line * P::length + at;
      m.values[i] = inside ? load(values[from]) : (typename P::type)0;
      m.positions[i] = !inside ? highest<index>() : P::first ? at : positions[from];
    }
    sort_block<P::largest, P::capacity>(m.values, m.positions);
    for (int i = threadIdx.x; i < P::k; i += 256) {
      const index to = P::parts == 1 ? offset.to + i * P::inner : blockIdx.x * P::k + i;
      to_values[to] = as<Out>(m.values[i]);
      to_positions[to] = m.positions[i];
    }
  }
};

/// Top-k for a large k: the rank of an element is the number of elements that precede it.
template <class P> struct topk_by_rank {
  typedef typename P::index index;
  template <class In, class Out, class OutIndex>
  DK_INLINE void run(const In *values, Out *to_values, OutIndex *to_positions) {
    for (index line = blockIdx.x; line < P::lines; line += gridDim.x) {
      const topk_line<P> offset = topk_line<P>::at(line);
      for (index i = threadIdx.x; i < P::size; i += 256) {
        const typename P::type own = load(values[offset.from + i * P::inner]);
        index rank = 0;
        for (index j = 0; j < P::size; ++j)
          rank += ranks_before<P::largest>(load(values[offset.from + j * P::inner]), j, own, i);
        if (rank < P::k) {
          to_values[offset.to + rank * P::inner] = as<Out>(own);
          to_positions[offset.to + rank * P::inner] = i;
        }
      }
    }
  }
};

} // namespace dk
