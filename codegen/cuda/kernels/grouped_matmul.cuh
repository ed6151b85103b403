//===- grouped_matmul.cuh - grouped matmuls with one thread per result element ---===//
//
// Rows of `a` are in groups, whose ends are given. Parameters P: index, type (of sums); `a` is a
// matrix of rows x k; columns of the result, groups.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "arithmetic.cuh"

namespace dk {

/// Range of rows of a group.
struct row_range {
  long long begin = 0, end = 0;
  /// Advances to the group that ends at `next`.
  __device__ __forceinline__ void advance(long long next, long long rows) {
    begin = end;
    end = next < begin ? begin : next > rows ? rows : next;
  }
};

/// Multiplies each row of `a` by its group's matrix of k x columns, transposed if
/// P::transposed. The result of rows after the end of the last group, which have no group, is 0.
template <class P> struct grouped_matmul {
  typedef typename P::index index;
  template <class A, class B, class End, class Out>
  DK_INLINE void run(const A *a, const B *b, const End *ends, Out *out) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::rows * P::columns; i += gridDim.x * 256) {
      const index column = i % P::columns, row = i / P::columns;
      row_range range;
      index group = 0;
      for (; group < P::groups; ++group) {
        range.advance(load(ends[group]), P::rows);
        if (row < range.end)
          break;
      }
      typename P::type sum = 0;
      if (group < P::groups)
        for (index p = 0; p < P::k; ++p) {
          const index at = P::transposed ? column * P::k + p : p * P::columns + column;
          sum += (typename P::type)load(a[row * P::k + p]) *
                 (typename P::type)load(b[group * (P::k * P::columns) + at]);
        }
      out[i] = as<Out>(sum);
    }
  }
};

/// Gradient of each group's matrix: the group's rows of `a`, transposed, times its rows of `b`.
template <class P> struct grouped_weight_grad {
  typedef typename P::index index;
  template <class A, class B, class End, class Out>
  DK_INLINE void run(const A *a, const B *b, const End *ends, Out *out) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::groups * P::k * P::columns;
         i += gridDim.x * 256) {
      const index column = i % P::columns, row = i / P::columns % P::k;
      row_range range;
      for (index group = 0; group <= i / (P::k * P::columns); ++group)
        range.advance(load(ends[group]), P::rows);
      typename P::type sum = 0;
      for (index p = (index)range.begin; p < range.end; ++p)
        sum += (typename P::type)load(a[p * P::k + row]) *
               (typename P::type)load(b[p * P::columns + column]);
      out[i] = as<Out>(sum);
    }
  }
};

} // namespace dk
