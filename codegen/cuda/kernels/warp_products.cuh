//===- warp_products.cuh - matrix products in the registers of a warp ------===//
#pragma once
#include "reductions.cuh"
#include "tiles.cuh"

namespace dk {

// A warp has 16 rows. Of each 8 columns a thread has two, 2 (lane % 4) and the next one, in rows
// lane / 4 and lane / 4 + 8; they are stored in [0], [1] and [2], [3] of the four values of these
// columns. This is the fragment layout of tensor cores, which is also used without them.
DK_INLINE unsigned pack_pair(bf16, float a, float b) {
  return (unsigned)narrow_bf16(a).bits | (unsigned)narrow_bf16(b).bits << 16;
}

DK_INLINE unsigned pack_pair(f16, float a, float b) {
  return (unsigned)narrow_f16(a).bits | (unsigned)narrow_f16(b).bits << 16;
}

DK_INLINE void mma(bf16, float *c, const unsigned *a, const unsigned *b) { mma_bf16(c, a, b); }
DK_INLINE void mma(f16, float *c, const unsigned *a, const unsigned *b) { mma_f16(c, a, b); }

// Tiles are stored in shared memory with a stride of `Pitch` elements between lines. `times` adds
// to s the products of a's 16 lines and b's lines, of `Depth` elements each; `add` adds to o the
// product of p, in the fragment layout, and v's lines.
template <class T, bool Round> struct warp_products {
  template <int Columns, int Depth, int Pitch>
  DK_INLINE void times(float *s, const T *a, const T *b, int lane) {
#pragma unroll 2
    for (int k = 0; k < Depth; k += 16) {
      unsigned f[4];
      load_rows_16bit<true, Pitch>(f, a, 0, k, lane);
#pragma unroll
      for (int c = 0; c < Columns; c += 16) {
        unsigned g[4];
        load_columns_16bit<true, Pitch>(g, b, c, k, lane);
        mma(T(), s + c / 2, f, g);
        mma(T(), s + c / 2 + 4, f, g + 2);
      }
    }
  }
  template <int Columns, int Width, int Pitch>
  DK_INLINE void add(float *o, const float *p, const T *v, int lane) {
#pragma unroll
    for (int k = 0; k < Columns; k += 16) {
      const float *own = p + k / 2;
      unsigned f[4] = {pack_pair(T(), own[0], own[1]), pack_pair(T(), own[2], own[3]),
                       pack_pair(T(), own[4], own[5]), pack_pair(T(), own[6], own[7])};
#pragma unroll
      for (int e = 0; e < Width; e += 16) {
        unsigned g[4];
        load_columns_16bit<false, Pitch>(g, v, e, k, lane);
        mma(T(), o + e / 2, f, g);
        mma(T(), o + e / 2 + 4, f, g + 2);
      }
    }
  }
};

template <> struct warp_products<float, true> {
  template <int Columns, int Depth, int Pitch>
  DK_INLINE void times(float *s, const float *a, const float *b, int lane) {
#pragma unroll 2
    for (int k = 0; k < Depth; k += 8) {
      unsigned f[4];
      load_rows_tf32<true, Pitch>(f, a, 0, k, lane);
#pragma unroll
      for (int c = 0; c < Columns; c += 8) {
        unsigned g[2];
        load_columns_tf32<true, Pitch>(g, b, c, k, lane);
        mma_tf32(s + c / 2, f, g);
      }
    }
  }
  // The order of the summed terms is arbitrary, so that a thread's two columns are those that it
  // provides as operands.
  template <int Columns, int Width, int Pitch>
  DK_INLINE void add(float *o, const float *p, const float *v, int lane) {
#pragma unroll
    for (int k = 0; k < Columns; k += 8) {
      const float *own = p + k / 2, *line = v + (k + lane % 4 * 2) * Pitch + lane / 4;
      unsigned f[4] = {round_tf32(own[0]), round_tf32(own[2]), round_tf32(own[1]),
                       round_tf32(own[3])};
#pragma unroll
      for (int e = 0; e < Width; e += 8) {
        unsigned g[2] = {round_tf32(line[e]), round_tf32(line[e + Pitch])};
        mma_tf32(o + e / 2, f, g);
      }
    }
  }
};

template <> struct warp_products<float, false> {
  template <int Columns, int Depth, int Pitch>
  DK_INLINE void times(float *s, const float *a, const float *b, int lane) {
    const float *x = a + lane / 4 * Pitch, *y = b + lane % 4 * 2 * Pitch;
#pragma unroll 1
    for (int k = 0; k < Depth; k += 4) {
      vec<float, 4> x0 = load<4>(x + k), x1 = load<4>(x + 8 * Pitch + k);
#pragma unroll
      for (int c = 0; c < Columns; c += 8) {
        vec<float, 4> y0 = load<4>(y + c * Pitch + k), y1 = load<4>(y + (c + 1) * Pitch + k);
        float *to = s + c / 2;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          to[0] += x0.e[i] * y0.e[i];
          to[1] += x0.e[i] * y1.e[i];
          to[2] += x1.e[i] * y0.e[i];
          to[3] += x1.e[i] * y1.e[i];
        }
      }
    }
  }
  template <int Columns, int Width, int Pitch>
  DK_INLINE void add(float *o, const float *p, const float *v, int lane) {
#pragma unroll
    for (int k = 0; k < Columns; ++k) {
      const int from = (lane & ~3) | k % 8 / 2, own = k / 8 * 4 + k % 2;
      const float p0 = __shfl_sync(0xffffffffu, p[own], from),
                  p1 = __shfl_sync(0xffffffffu, p[own + 2], from);
      const float *line = v + k * Pitch + lane % 4 * 2;
#pragma unroll
      for (int e = 0; e < Width; e += 8) {
        vec<float, 2> x = load<2>(line + e);
        float *to = o + e / 2;
        to[0] += p0 * x.e[0];
        to[1] += p0 * x.e[1];
        to[2] += p1 * x.e[0];
        to[3] += p1 * x.e[1];
      }
    }
  }
};

// Loads `Lines` lines of `size` elements, of which the first `there` exist; the remainder up to
// `Depth` and the other lines are zeros.
template <int Lines, int Depth, int Pitch, int Threads, bool Vectors, class T, class I>
DK_INLINE void load_lines(T *to, const T *from, I stride, I there, int size) {
  constexpr int width = Vectors ? 16 / (int)sizeof(T) : 1, each = Depth / width;
#pragma unroll 4
  for (int i = threadIdx.x; i < Lines * each; i += Threads) {
    const int line = i / each, at = i % each * width;
    const bool is = line < there && at < size;
    T *here = to + line * Pitch + at;
    if (Vectors)
      copy_async(here, is ? from + line * stride + at : from, is);
    else
      *here = is ? from[line * stride + at] : T();
  }
}

// Stores a warp's 16 rows of `size` elements, multiplied by the row's `factor`, two adjacent
// elements at a time.
template <int Width, bool Pairs, class T, class I>
DK_INLINE void store_rows(T *to, I stride, I first, I rows, int size, const float *o,
                          const float *factor, int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const I row = first + lane / 4 + half * 8;
    if (row >= rows)
      continue;
#pragma unroll
    for (int e = 0; e < Width; e += 8) {
      const int at = e + lane % 4 * 2;
      const float x = o[e / 2 + half * 2] * factor[half],
                  y = o[e / 2 + half * 2 + 1] * factor[half];
      T *here = to + row * stride + at;
      if (Pairs) {
        vec<T, 2> both = {{as<T>(x), as<T>(y)}};
        if (at < size)
          store<2>(here, both);
      } else {
        if (at < size)
          here[0] = as<T>(x);
        if (at + 1 < size)
          here[1] = as<T>(y);
      }
    }
  }
}

} // namespace dk
