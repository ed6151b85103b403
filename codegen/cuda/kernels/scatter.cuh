//===- scatter.cuh - deterministic scatters --------------------------------===//
//
// Updates with the same target are combined in the order of their indices, without atomics: updates
// are sorted by target. An update's target is the index of its first element in the result, divided
// by the update's length, or -1 if it is out of bounds. Updates that may have the same target are a
// line of `rivals` updates, whose indices are `apart`. Parameters P: index; count (number of
// updates), rivals, apart.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "sort.cuh"

namespace dk {

/// Index of the first update of a line.
template <class P> DK_INLINE typename P::index scatter_line(typename P::index line) {
  return line / P::apart * (P::apart * P::rivals) + line % P::apart;
}

/// Copies the operand to the result, `width` elements at a time, unless they share a buffer.
template <class P> struct scatter_copy {
  typedef typename P::index index;
  template <class T> DK_INLINE void run(const T *from, T *to) {
    if ((const void *)from == (const void *)to)
      return;
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::vector_count; i += gridDim.x * 256)
      store<P::width>(to + i * P::width, load<P::width>(from + i * P::width));
  }
};

/// Counts, for each update of a line, the updates that precede it in sorting order among the
/// `range` updates of part blockIdx.y of the line.
template <class P> struct scatter_count {
  typedef typename P::index index;
  struct memory {
    __align__(16) index targets[P::tile];
  };
  DK_INLINE void run(const index *targets, int *counts, memory &m) {
    const index line = blockIdx.x / P::blocks, r = blockIdx.x % P::blocks * 256 + threadIdx.x;
    const index from = scatter_line<P>(line);
    const index target = r < P::rivals ? targets[from + r * P::apart] : -1;
    const index begin = blockIdx.y * P::range;
    const index end = begin + P::range < P::rivals ? begin + P::range : P::rivals;
    int before = 0;
    for (index start = begin; start < end; start += P::tile) {
      __syncthreads();
      for (int k = threadIdx.x; k < P::tile; k += 256)
        m.targets[k] = start + k < end ? targets[from + (start + k) * P::apart] : highest<index>();
      __syncthreads();
      const index own = r - start;
#pragma unroll 8
      for (int k = 0; k < P::tile; ++k)
        before += m.targets[k] < target || (m.targets[k] == target && k < own);
    }
    if (r < P::rivals)
      counts[blockIdx.y * P::count + line * P::rivals + r] = before;
  }
};

/// Stores each update at its rank, the sum of its counts in `parts` parts of its line: the index of
/// the update in `order`, its target in `sorted`.
template <class P> struct scatter_order {
  typedef typename P::index index;
  DK_INLINE void run(const index *targets, const int *counts, index *order, index *sorted) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::count; i += gridDim.x * 256) {
      const index line = i / P::rivals, r = i % P::rivals;
      const index own = scatter_line<P>(line) + r * P::apart;
      index rank = line * P::rivals;
      for (int k = 0; k < P::parts; ++k)
        rank += counts[k * P::count + i];
      order[rank] = own;
      sorted[rank] = targets[own];
    }
  }
};

/// Stores each update at its rank, like scatter_order, for lines of few updates: each update is
/// compared with all updates of its line.
template <class P> struct scatter_order_few {
  typedef typename P::index index;
  DK_INLINE void run(const index *targets, index *order, index *sorted) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::count; i += gridDim.x * 256) {
      const index line = i / P::rivals, r = i % P::rivals;
      const index from = scatter_line<P>(line), own = from + r * P::apart, target = targets[own];
      index rank = line * P::rivals;
      for (int k = 0; k < P::rivals; ++k) {
        const index other = targets[from + k * P::apart];
        rank += other < target || (other == target && k < r);
      }
      order[rank] = own;
      sorted[rank] = target;
    }
  }
};

/// Sorts parts of `part` updates of a line: targets in `keys`, indices within the line in
/// `updates`.
template <class P> struct scatter_sort_parts {
  typedef typename P::index index;
  struct memory {
    index keys[P::part], updates[P::part];
  };
  DK_INLINE void run(const index *targets, index *keys, index *updates, memory &m) {
    const index line = blockIdx.x / P::parts, start = blockIdx.x % P::parts * P::part;
    const index from = scatter_line<P>(line);
    for (int i = threadIdx.x; i < P::part; i += 256) {
      const bool inside = start + i < P::rivals;
      m.keys[i] = inside ? targets[from + (start + i) * P::apart] : 0;
      m.updates[i] = inside ? start + i : highest<index>();
    }
    sort_block<false, P::part>(m.keys, m.updates);
    for (int i = threadIdx.x; i < P::part; i += 256)
      if (start + i < P::rivals) {
        keys[line * P::rivals + start + i] = m.keys[i];
        updates[line * P::rivals + start + i] = m.updates[i];
      }
  }
};

/// Merges the sorted parts of lines: each update finds its rank in all other parts by binary
/// search. Updates with equal targets are ordered by their part.
template <class P> struct scatter_merge_parts {
  typedef typename P::index index;
  DK_INLINE void run(const index *keys, const index *updates, index *order, index *sorted) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::count; i += gridDim.x * 256) {
      const index line = i / P::rivals, r = i % P::rivals, first = line * P::rivals;
      const index target = keys[i];
      const int own = r / P::part;
      index rank = first + r % P::part;
      for (int other = 0; other < P::parts; ++other) {
        if (other == own)
          continue;
        index low = other * P::part;
        index high = low + P::part < P::rivals ? low + P::part : P::rivals;
        const index start = low;
        while (low < high) {
          const index middle = (low + high) / 2, key = keys[first + middle];
          if (key < target || (key == target && other < own))
            low = middle + 1;
          else
            high = middle;
        }
        rank += low - start;
      }
      order[rank] = scatter_line<P>(line) + updates[i] * P::apart;
      sorted[rank] = target;
    }
  }
};

/// Stores the updates in the result, which already has the operand's values. An update has `length`
/// contiguous elements, of which a thread stores `width`. `targets` are in the order of `order` if
/// several updates may have the same target.
template <class P> struct scatter_store {
  typedef typename P::index index;
  template <class T>
  DK_INLINE void run(const T *news, const index *targets, const index *order, T *out) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::count * P::vector_count;
         i += gridDim.x * 256) {
      const index at = i / P::vector_count, e = i % P::vector_count * P::width;
      const index target = targets[at];
      // Only the last update of a target is stored.
      if (target < 0 || (P::rivals > 1 && at + 1 < P::count && targets[at + 1] == target))
        continue;
      store<P::width>(out + target * P::length + e,
                      load<P::width>(news + (P::rivals > 1 ? order[at] : at) * P::length + e));
    }
  }
};

/// Combines the updates with the elements of the result. The thread of the first update of a target
/// combines all of them. Further parameters: type (of sums), combine.
template <class P> struct scatter_combine {
  typedef typename P::index index;
  template <class T>
  DK_INLINE void run(const T *news, const index *targets, const index *order, T *out) {
    for (index i = blockIdx.x * 256 + threadIdx.x; i < P::count * P::vector_count;
         i += gridDim.x * 256) {
      const index at = i / P::vector_count, e = i % P::vector_count * P::width;
      const index target = targets[at];
      if (target < 0 || (P::rivals > 1 && at > 0 && targets[at - 1] == target))
        continue;
      auto update = [&](index which) {
        return load<P::width>(news + (P::rivals > 1 ? order[which] : which) * P::length + e);
      };
      T *const result = out + target * P::length + e;
      vec<T, P::width> old = load<P::width>(result);
      typename P::type value[P::width];
#pragma unroll
      for (int l = 0; l < P::width; ++l)
        value[l] = load(old.e[l]);
      index next = at;
      if (P::rivals > 1) {
        // If many updates have the same target, several loads are in flight at a time.
        constexpr int together = 8;
        for (; next + together <= P::count && targets[next + together - 1] == target;
             next += together) {
          vec<T, P::width> loaded[together];
#pragma unroll
          for (int k = 0; k < together; ++k)
            loaded[k] = update(next + k);
#pragma unroll
          for (int k = 0; k < together; ++k)
            add(value, loaded[k]);
        }
        for (; next < P::count && targets[next] == target; ++next)
          add(value, update(next));
      } else {
        add(value, update(next));
      }
#pragma unroll
      for (int l = 0; l < P::width; ++l)
        old.e[l] = as<T>(value[l]);
      store<P::width>(result, old);
    }
  }

private:
  template <class T>
  DK_INLINE void add(typename P::type (&value)[P::width], const vec<T, P::width> &update) {
#pragma unroll
    for (int l = 0; l < P::width; ++l)
      value[l] = P::combine::of(value[l], (typename P::type)load(update.e[l]));
  }
};

} // namespace dk
