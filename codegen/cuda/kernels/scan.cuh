//===- scan.cuh - cumulative sums, products, maxima and minima -------------===//
//
// Parameters P: index, type (of running results), combine (a struct of reductions.cuh), neutral();
// the tensor's shape around the axis is [lines / inner, size, inner]; exclusive, reverse.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "reductions.cuh"

namespace dk {

/// Offset of the first element of a line, a sequence of elements along the axis, and of element k
/// of the scan.
template <class P> DK_INLINE typename P::index scan_line(typename P::index line) {
  return line / P::inner * (P::size * P::inner) + line % P::inner;
}

template <class P>
DK_INLINE typename P::index scan_offset(typename P::index from, typename P::index k) {
  return from + (P::reverse ? P::size - 1 - k : k) * P::inner;
}

/// A thread scans a line.
template <class P> struct scan_by_thread {
  typedef typename P::index index;
  typedef typename P::type type;
  template <class T> DK_INLINE void run(const T *in, T *out) {
    for (index line = blockIdx.x * 128 + threadIdx.x; line < P::lines; line += gridDim.x * 128) {
      const index from = scan_line<P>(line);
      type running = P::neutral();
      for (index k = 0; k < P::size; ++k) {
        const index at = scan_offset<P>(from, k);
        const type next = P::combine::of(running, (type)load(in[at]));
        out[at] = as<T>(P::exclusive ? running : next);
        running = next;
      }
    }
  }
};

/// A block scans a line, `each` elements per thread at a time, and adds the total of all previous
/// elements.
template <class P> struct scan_by_block {
  typedef typename P::index index;
  typedef typename P::type type;
  struct memory {
    type totals[256];
  };
  template <class T> DK_INLINE void run(const T *in, T *out, memory &m) {
    for (index line = blockIdx.x; line < P::lines; line += gridDim.x) {
      const index from = scan_line<P>(line);
      type before = P::neutral();
      for (index start = 0; start < P::size; start += 256 * P::each) {
        const index first = start + threadIdx.x * P::each;
        type own[P::each], total = P::neutral();
#pragma unroll
        for (int i = 0; i < P::each; ++i) {
          const index k = first + i;
          own[i] = k < P::size ? (type)load(in[scan_offset<P>(from, k)]) : P::neutral();
          total = P::combine::of(total, own[i]);
        }
        type running = P::combine::of(before, scan_threads(total, m));
#pragma unroll
        for (int i = 0; i < P::each; ++i) {
          const index k = first + i;
          const type next = P::combine::of(running, own[i]);
          if (k < P::size)
            out[scan_offset<P>(from, k)] = as<T>(P::exclusive ? running : next);
          running = next;
        }
        before = P::combine::of(before, m.totals[255]);
      }
    }
  }

private:
  /// Returns the total of all threads before this one. m.totals[255] becomes the block's total.
  DK_INLINE type scan_threads(type total, memory &m) {
    __syncthreads();
    m.totals[threadIdx.x] = total;
    for (int step = 1; step < 256; step *= 2) {
      __syncthreads();
      const type left = threadIdx.x >= step ? m.totals[threadIdx.x - step] : P::neutral();
      __syncthreads();
      m.totals[threadIdx.x] = P::combine::of(left, m.totals[threadIdx.x]);
    }
    __syncthreads();
    return threadIdx.x > 0 ? m.totals[threadIdx.x - 1] : P::neutral();
  }
};

} // namespace dk
