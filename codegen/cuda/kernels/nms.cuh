//===- nms.cuh - non-maximum suppression -----------------------------------===//
//
// Parameters P: index, type (of scores); rows and boxes (per row) of scores, classes (rows with the
// same boxes), k (maximum number of selected boxes).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "sort.cuh"

namespace dk {

/// A block selects boxes of a row of scores: all threads find the next candidate in sorting order
/// and check whether it overlaps a selected box.
template <class P> struct nms_rows {
  typedef typename P::index index;
  typedef typename P::type type;
  struct memory {
    type best[256];
    index at[256];
    int is_left;
  };
  template <class Box, class Score, class Candidate, class Overlap, class Position, class Count>
  DK_INLINE void run(const Box *boxes, const Score *scores, const Candidate *candidates,
                     const Overlap *overlap, Position *positions, Count *counts, memory &m) {
    const double limit = (double)load(overlap[0]);
    const int thread = threadIdx.x;
    for (index row = blockIdx.x; row < P::rows; row += gridDim.x) {
      const Box *own = boxes + row / P::classes * P::boxes * 4;
      index taken = 0, last = -1;
      type last_score = 0;
      while (taken < P::k) {
        find_next(scores + row * P::boxes, candidates + row * P::boxes, last, last_score, m);
        last = m.at[0];
        last_score = m.best[0];
        if (last < 0)
          break;
        for (index j = thread; j < taken; j += 256)
          if (overlap_of(own + last * 4, own + (index)positions[row * P::k + j] * 4) > limit)
            m.is_left = 0;
        __syncthreads();
        const int left = m.is_left;
        if (left && thread == 0)
          positions[row * P::k + taken] = last;
        taken += left;
        __syncthreads();
      }
      for (index j = taken + thread; j < P::k; j += 256)
        positions[row * P::k + j] = 0;
      if (thread == 0)
        counts[row] = taken;
      __syncthreads();
    }
  }

private:
  /// Finds the first candidate after `last` in sorting order: m.at[0], or -1, and m.best[0].
  template <class Score, class Candidate>
  DK_INLINE void find_next(const Score *scores, const Candidate *candidates, index last,
                           type last_score, memory &m) {
    const int thread = threadIdx.x;
    index own = -1;
    type best = 0;
    for (index i = thread; i < P::boxes; i += 256) {
      if (!load(candidates[i]))
        continue;
      const type score = load(scores[i]);
      if (last >= 0 && !ranks_before<true>(last_score, last, score, i))
        continue;
      if (own < 0 || ranks_before<true>(score, i, best, own))
        own = i, best = score;
    }
    m.best[thread] = best;
    m.at[thread] = own;
    m.is_left = 1;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
      const index other = thread < step ? m.at[thread + step] : (index)-1;
      if (other >= 0 && (m.at[thread] < 0 || ranks_before<true>(m.best[thread + step], other,
                                                                m.best[thread], m.at[thread])))
        m.at[thread] = other, m.best[thread] = m.best[thread + step];
      __syncthreads();
    }
  }

  /// Intersection over union of two boxes, given by any two opposite corners.
  template <class Box> DK_INLINE double overlap_of(const Box *first, const Box *second) {
    const Box *const box[2] = {first, second};
    double area[2] = {1, 1}, common = 1;
    for (int d = 0; d < 2; ++d) {
      double low[2], high[2];
      for (int side = 0; side < 2; ++side) {
        const double a = (double)load(box[side][d]), b = (double)load(box[side][d + 2]);
        low[side] = a < b ? a : b;
        high[side] = a < b ? b : a;
        area[side] *= high[side] - low[side];
      }
      const double joint =
          (high[0] < high[1] ? high[0] : high[1]) - (low[0] < low[1] ? low[1] : low[0]);
      common *= joint > 0 ? joint : 0;
    }
    const double all = area[0] + area[1] - common;
    return all > 0 ? common / all : 0;
  }
};

} // namespace dk
