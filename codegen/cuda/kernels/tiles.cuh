//===- tiles.cuh - tiles in shared memory and their fragments in registers ---===//
#pragma once
#include "wgmma.cuh"

namespace dk {

// Loads operands of an mma from a tile in shared memory, whose lines of `Pitch` elements are along
// the contracted dimension, or along the rows (columns).
template <bool DepthFirst, int Pitch, class T>
DK_INLINE void load_rows_16bit(unsigned *f, const T *tile, int row, int k, int lane) {
  int r = row + lane / 8 % 2 * 8, d = k + lane / 16 * 8, line = lane % 8;
  if (DepthFirst)
    load_matrices<false>(f, tile + (r + line) * Pitch + d);
  else
    load_matrices<true>(f, tile + (d + line) * Pitch + r);
}

// Loads the fragments of two adjacent mma operands.
template <bool DepthFirst, int Pitch, class T>
DK_INLINE void load_columns_16bit(unsigned *f, const T *tile, int column, int k, int lane) {
  int c = column + lane / 16 * 8, d = k + lane / 8 % 2 * 8, line = lane % 8;
  if (DepthFirst)
    load_matrices<false>(f, tile + (c + line) * Pitch + d);
  else
    load_matrices<true>(f, tile + (d + line) * Pitch + c);
}

template <bool DepthFirst, int Pitch>
DK_INLINE unsigned load_tf32(const float *tile, int at, int k) {
  return round_tf32(tile[DepthFirst ? at * Pitch + k : k * Pitch + at]);
}

template <bool DepthFirst, int Pitch>
DK_INLINE void load_rows_tf32(unsigned *f, const float *tile, int row, int k, int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    f[i] = load_tf32<DepthFirst, Pitch>(tile, row + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4);
}

template <bool DepthFirst, int Pitch>
DK_INLINE void load_columns_tf32(unsigned *f, const float *tile, int column, int k, int lane) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
    f[i] = load_tf32<DepthFirst, Pitch>(tile, column + lane / 4, k + lane % 4 + i * 4);
}

// Tiles of pipelines are stored in lines of `Line` elements, in which vectors of 16 bytes (`Wide`
// elements) are swizzled by the line's index, so that those of eight adjacent lines are in
// different banks. Lines are along the contracted dimension; or along the rows (columns), and then
// the lines of the whole contracted dimension are adjacent, followed by those of the next `Line`
// rows. `Scalars`: vectors of eight elements of four adjacent lines are in different banks.
template <int Line, int Wide, bool Scalars = false> DK_INLINE int swizzled(int line, int vector) {
  constexpr int count = Line / Wide, together = 8 / count;
  return line * Line + (vector ^ (Scalars ? line % 4 * 2 : line / together % count)) * Wide;
}

template <bool DepthFirst, int Line, int Depth, int Wide>
DK_INLINE int swizzled_lane_offset(int at, int k, int lane) {
  const int own = lane % 8;
  return DepthFirst ? swizzled<Line, Wide>(at + own, k / Wide)
                    : at / Line * (Depth * Line) + swizzled<Line, Wide>(k + own, at % Line / Wide);
}

// Elements of 16 bits, or of 8 bits if lines are along the contracted dimension.
template <bool DepthFirst, int Line, int Depth, class T>
DK_INLINE void row_fragment(unsigned *f, const T *tile, int row, int k, int lane) {
  constexpr int Wide = 16 / sizeof(T);
  load_matrices<!DepthFirst>(f, tile + swizzled_lane_offset<DepthFirst, Line, Depth, Wide>(
                                           row + lane / 8 % 2 * 8, k + lane / 16 * Wide, lane));
}

// Loads the fragments of two adjacent mma operands.
template <bool DepthFirst, int Line, int Depth, class T>
DK_INLINE void column_fragments(unsigned *f, const T *tile, int column, int k, int lane) {
  constexpr int Wide = 16 / sizeof(T);
  load_matrices<!DepthFirst>(f, tile + swizzled_lane_offset<DepthFirst, Line, Depth, Wide>(
                                           column + lane / 16 * 8, k + lane / 8 % 2 * Wide, lane));
}

template <bool DepthFirst, int Line, int Depth, bool Rows>
DK_INLINE void load_fragment_tf32(unsigned *f, const float *tile, int at, int k, int lane) {
  if (DepthFirst) {
    const int far = lane / 16, near = lane / 8 % 2;
    load_matrices<false>(f, tile + swizzled<Line, 4>(at + lane % 8 + (Rows ? near : far) * 8,
                                                     k / 4 + (Rows ? far : near)));
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int far = i / 2, near = i % 2, d = k + lane % 4 + (Rows ? far : near) * 4;
    const int l = at + lane / 4 + (Rows ? near : far) * 8;
    f[i] = round_tf32(
        DepthFirst
            ? float_of(f[i])
            : tile[l / Line * (Depth * Line) + swizzled<Line, 4, true>(d, l % Line / 4) + l % 4]);
  }
}

template <bool DepthFirst, int Line, int Depth>
DK_INLINE void row_fragment(unsigned *f, const float *tile, int row, int k, int lane) {
  load_fragment_tf32<DepthFirst, Line, Depth, true>(f, tile, row, k, lane);
}

template <bool DepthFirst, int Line, int Depth>
DK_INLINE void column_fragments(unsigned *f, const float *tile, int column, int k, int lane) {
  load_fragment_tf32<DepthFirst, Line, Depth, false>(f, tile, column, k, lane);
}

// Stores the sums of a warp, whose fragments of 16 rows are `Step` rows apart, in row-major order.
template <int Rows, int Columns, int Step, int Pitch, class T>
DK_INLINE void put_sums(T *to, const T (&total)[Rows][Columns][4], int row, int column, int lane) {
  to += (row + lane / 4) * Pitch + column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int j = 0; j < Columns; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        vec<T, 2> both = {{total[i][j][half * 2], total[i][j][half * 2 + 1]}};
        store<2>(to + (i * Step + half * 8) * Pitch + j * 8, both);
      }
}

// Sums of an operand's bytes, for zero points: over a warp's rows and columns, of which each thread
// has those of its fragments.
template <bool Signed> DK_INLINE int add_elements(int sum, unsigned word) {
  return Signed ? __dp4a((int)word, 0x01010101, sum)
                : (int)__dp4a(word, 0x01010101u, (unsigned)sum);
}

template <bool Signed, int N> DK_INLINE void add_row_sums(int *sums, const unsigned (&a)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) {
    int &sum = sums[i / 4 * 2 + i % 2];
    sum = add_elements<Signed>(sum, a[i / 4][i % 4]);
  }
}

template <bool Signed, int N> DK_INLINE void add_column_sums(int *sums, const unsigned (&b)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) {
    int &sum = sums[i / 4 * 2 + i / 2 % 2];
    sum = add_elements<Signed>(sum, b[i / 4][i % 4]);
  }
}

template <int N> DK_INLINE void store_operand_sums(int *to, const int (&sums)[N], int lane) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    int sum = sums[i];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (lane % 4 == 0)
      to[i * 8 + lane / 4] = sum;
  }
}

template <class T, int N> DK_INLINE vec<T, N> filled(int x) {
  vec<T, N> all;
#pragma unroll
  for (int i = 0; i < N; ++i)
    all.e[i] = (T)x;
  return all;
}

} // namespace dk
