//===- tile_products.cuh - products of tiles in shared memory
//--------------===//
#pragma once
#include "tiles.cuh"

namespace dk {

/// Tiles for tensor cores. Parameters P:
///   fragment_rows, fragment_columns number of fragments of a warp's sums
///   row_step                        rows from fragment to fragment
///   depth, mma_depth                contracted elements of a tile, of an mma
///   mma()                           one of the functions of mma.cuh
///   lines_a, lines_b                elements of a line of a tile
///   depth_first_a, depth_first_b    whether lines are along the contracted dimension
///   ahead                           whether fragments are loaded one product ahead
///   signed_a, signed_b              signedness of 8-bit elements
///   sums_rows, sums_columns         whether the 8-bit elements of a, of b are also summed
template <class P> struct tensor_tiles {
  typedef unsigned row_fragments[P::fragment_rows][4];
  typedef unsigned column_fragment_pairs[P::fragment_columns / 2][4];

  /// Adds the product of the warp's rows of `a` and columns of `b` to `total`.
  template <class T, class A, class B>
  DK_INLINE void multiply(T (&total)[P::fragment_rows][P::fragment_columns][4], const A *a_tile,
                          const B *b_tile, int row, int column, int lane, int *row_sums = nullptr,
                          int *column_sums = nullptr) {
    row_fragments a[2];
    column_fragment_pairs b[2];
    if (P::ahead)
      load(a[0], b[0], a_tile, b_tile, row, column, 0, lane);
#pragma unroll
    for (int k = 0; k < P::depth; k += P::mma_depth) {
      const int now = P::ahead ? k / P::mma_depth % 2 : 0;
      if (!P::ahead)
        load(a[0], b[0], a_tile, b_tile, row, column, k, lane);
      else if (k + P::mma_depth < P::depth)
        load(a[now ^ 1], b[now ^ 1], a_tile, b_tile, row, column, k + P::mma_depth, lane);
      if (P::sums_rows)
        add_row_sums<P::signed_a>(row_sums, a[now]);
      if (P::sums_columns)
        add_column_sums<P::signed_b>(column_sums, b[now]);
#pragma unroll
      for (int i = 0; i < P::fragment_rows; ++i)
#pragma unroll
        for (int j = 0; j < P::fragment_columns; ++j)
          P::mma(total[i][j], a[now][i], b[now][j / 2] + j % 2 * 2);
    }
  }

  /// Begins the same product by wgmma instructions. `group`: index of the warpgroup in the block.
  template <class T>
  DK_INLINE void multiply_by_warpgroup(float (&total)[P::fragment_rows][P::fragment_columns][4],
                                       const T *a_tile, const T *b_tile, int group, int row,
                                       int lane) {
#ifdef DLC_EMULATED
    multiply(total, a_tile, b_tile, row, 0, lane);
#else
    // Addresses in descriptors are in units of 16 bytes.
    constexpr int step_a = P::depth_first_a ? 2 : 128, step_b = P::depth_first_b ? 2 : 128;
    const unsigned long long a = make_tile_descriptor<P::depth_first_a, P::depth>(a_tile);
    const unsigned long long b = make_tile_descriptor<P::depth_first_b, P::depth>(b_tile);
    products_begin();
#pragma unroll
    for (int k = 0; k < P::depth / 16; ++k)
#pragma unroll
      for (int i = 0; i < P::fragment_rows; ++i)
        warpgroup_product<T, P::fragment_columns * 8, !P::depth_first_a, !P::depth_first_b>::add(
            &total[i][0][0], a + k * step_a + (group * P::fragment_rows + i) * (64 * P::depth / 8),
            b + k * step_b);
    products_commit();
#endif
  }

private:
  template <class A, class B>
  DK_INLINE void load(row_fragments &a, column_fragment_pairs &b, const A *a_tile, const B *b_tile,
                      int row, int column, int k, int lane) {
#pragma unroll
    for (int i = 0; i < P::fragment_rows; ++i)
      row_fragment<P::depth_first_a, P::lines_a, P::depth>(a[i], a_tile, row + i * P::row_step, k,
                                                           lane);
#pragma unroll
    for (int i = 0; i < P::fragment_columns / 2; ++i)
      column_fragments<P::depth_first_b, P::lines_b, P::depth>(b[i], b_tile, column + i * 16, k,
                                                               lane);
  }
};

template <class T> DK_INLINE T multiply_add(T sum, T a, T b) { return add(sum, mul(a, b)); }
DK_INLINE float multiply_add(float sum, float a, float b) { return sum + a * b; }
DK_INLINE double multiply_add(double sum, double a, double b) { return sum + a * b; }

/// Adds to a thread's sums of Rows x Columns elements the product of two tiles whose lines of
/// `PitchA` and `PitchB` elements are along the rows and columns. A thread has `Micro` adjacent
/// rows (columns) of each `16 * Micro`.
template <int Depth, int Micro, int PitchA, int PitchB, int Rows, int Columns, class T, class S>
DK_INLINE void multiply_plain_tiles(T (&total)[Rows][Columns], const S *a_tile, const S *b_tile,
                                    int row, int column) {
  constexpr int unrolled = Depth > 8 ? 4 : Depth;
#pragma unroll unrolled
  for (int k = 0; k < Depth; ++k) {
    T a[Rows], b[Columns];
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      a[i] = load(a_tile[k * PitchA + row + i / Micro * (16 * Micro) + i % Micro]);
#pragma unroll
    for (int i = 0; i < Columns; ++i)
      b[i] = load(b_tile[k * PitchB + column + i / Micro * (16 * Micro) + i % Micro]);
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int j = 0; j < Columns; ++j)
        total[i][j] = multiply_add(total[i][j], a[i], b[j]);
  }
}

} // namespace dk
