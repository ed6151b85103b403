//===- Matrices.h - products of constant matrices with vectors, unrolled --===//
//
// For inclusion by WinogradKernels.h, in the files that are compiled for one instruction set.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_MATRICES_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_MATRICES_H

#include "runtime/library/simd/Lanes.h"
#include "runtime/library/winograd/CookToom.h"

namespace dlc::winograd {
namespace {

using namespace simd;

/// Adds entry (row, j) times x[j] to `sum` for all j that `pick` selects. `any` is set if `sum` has
/// terms already.
template <typename Matrix, int row, int (*pick)(int), int j = 0, int V>
DLC_INLINE void addTerms(const Vec<V> *x, Vec<V> &sum, bool any) {
  if constexpr (j < Matrix::cols) {
    constexpr double factor = Matrix::table.at[row][j];
    if constexpr (factor != 0 && pick(j) != 0) {
      if (factor == 1)
        sum = any ? sum + x[j] : x[j];
      else if (factor == -1)
        sum = any ? sum - x[j] : -x[j];
      else
        sum = any ? sum + splat<V>(float(factor)) * x[j] : splat<V>(float(factor)) * x[j];
      addTerms<Matrix, row, pick, j + 1, V>(x, sum, true);
    } else {
      addTerms<Matrix, row, pick, j + 1, V>(x, sum, any);
    }
  }
}

/// Returns true if rows r and r + 1 are equal except for signs, as the rows of a point and its
/// negative are. The sum over the equal entries and the sum over the negated entries then serve
/// both rows.
template <typename Matrix> constexpr bool areRowsEqualUpToSigns(int r) {
  bool agree = false, differ = false;
  for (int j = 0; j < Matrix::cols; ++j) {
    double a = Matrix::table.at[r][j], b = Matrix::table.at[r + 1][j];
    if (a == 0 && b == 0)
      continue;
    if (a != b && a != -b)
      return false;
    (a == b ? agree : differ) = true;
  }
  return agree && differ;
}

template <typename Matrix> constexpr bool areColumnsEqualUpToSigns(int c) {
  bool agree = false, differ = false;
  for (int i = 0; i < Matrix::rows; ++i) {
    double a = Matrix::table.at[i][c], b = Matrix::table.at[i][c + 1];
    if (a == 0 && b == 0)
      continue;
    if (a != b && a != -b)
      return false;
    (a == b ? agree : differ) = true;
  }
  return agree && differ;
}

constexpr int pickAll(int) { return 1; }
template <typename Matrix, int row> constexpr int isEqualEntry(int j) {
  return Matrix::table.at[row][j] == Matrix::table.at[row + 1][j];
}
template <typename Matrix, int row> constexpr int isOppositeEntry(int j) {
  return Matrix::table.at[row][j] != Matrix::table.at[row + 1][j];
}

template <typename Matrix, int V, int row = 0>
DLC_INLINE void multiplyByRows(const Vec<V> *x, Vec<V> *y) {
  if constexpr (row + 1 < Matrix::rows && areRowsEqualUpToSigns<Matrix>(row)) {
    Vec<V> even{}, odd{};
    addTerms<Matrix, row, isEqualEntry<Matrix, row>, 0, V>(x, even, false);
    addTerms<Matrix, row, isOppositeEntry<Matrix, row>, 0, V>(x, odd, false);
    y[row] = even + odd;
    y[row + 1] = even - odd;
    multiplyByRows<Matrix, V, row + 2>(x, y);
  } else if constexpr (row < Matrix::rows) {
    Vec<V> sum{};
    addTerms<Matrix, row, pickAll, 0, V>(x, sum, false);
    y[row] = sum;
    multiplyByRows<Matrix, V, row + 1>(x, y);
  }
}

/// Matrix to be multiplied by a vector that fold() has changed: where the columns c and c + 1 are
/// equal up to signs, fold() replaces x[c] and x[c + 1] by their sum and difference. Column c has
/// the entries of equal sign, column c + 1 those of opposite sign, and 0 elsewhere.
template <typename Matrix> struct Folded {
  static constexpr int rows = Matrix::rows, cols = Matrix::cols;
  static constexpr Table<rows, cols> make() {
    Table<rows, cols> table = Matrix::table;
    for (int c = 0; c + 1 < cols; ++c)
      if (areColumnsEqualUpToSigns<Matrix>(c)) {
        for (int i = 0; i < rows; ++i) {
          bool agrees = Matrix::table.at[i][c] == Matrix::table.at[i][c + 1];
          table.at[i][c] = agrees ? Matrix::table.at[i][c] : 0;
          table.at[i][c + 1] = agrees ? 0 : Matrix::table.at[i][c];
        }
        ++c;
      }
    return table;
  }
  static constexpr Table<rows, cols> table = make();
};

template <typename Matrix, int V, int c = 0> DLC_INLINE void fold(Vec<V> *x) {
  if constexpr (c + 1 < Matrix::cols && areColumnsEqualUpToSigns<Matrix>(c)) {
    Vec<V> a = x[c], b = x[c + 1];
    x[c] = a + b;
    x[c + 1] = a - b;
    fold<Matrix, V, c + 2>(x);
  } else if constexpr (c < Matrix::cols) {
    fold<Matrix, V, c + 1>(x);
  }
}

template <typename Matrix> constexpr bool hasPairedColumns() {
  for (int c = 0; c + 1 < Matrix::cols; ++c)
    if (areColumnsEqualUpToSigns<Matrix>(c))
      return true;
  return false;
}

/// Computes the matrix-vector product y = Matrix x. May overwrite x.
template <typename Matrix, int V> DLC_INLINE void multiplyMatrix(Vec<V> *x, Vec<V> *y) {
  if constexpr (hasPairedColumns<Matrix>() && Matrix::rows < Matrix::cols) {
    fold<Matrix, V>(x);
    multiplyByRows<Folded<Matrix>, V>(x, y);
  } else {
    multiplyByRows<Matrix, V>(x, y);
  }
}

/// Computes the 2D transform Matrix d Matrix' of a square d, whose elements `get(i, j)` returns.
/// `put(i, j, v)` stores the results.
template <typename Matrix, int V, typename Get, typename Put>
DLC_INLINE void transformTile(const Get &get, const Put &put) {
  Vec<V> half[Matrix::cols][Matrix::rows];
  for (int i = 0; i < Matrix::cols; ++i) {
    Vec<V> x[Matrix::cols], y[Matrix::rows];
#pragma GCC unroll 8
    for (int j = 0; j < Matrix::cols; ++j)
      x[j] = get(i, j);
    multiplyMatrix<Matrix, V>(x, y);
#pragma GCC unroll 8
    for (int j = 0; j < Matrix::rows; ++j)
      half[i][j] = y[j];
  }
  for (int j = 0; j < Matrix::rows; ++j) {
    Vec<V> x[Matrix::cols], y[Matrix::rows];
#pragma GCC unroll 8
    for (int i = 0; i < Matrix::cols; ++i)
      x[i] = half[i][j];
    multiplyMatrix<Matrix, V>(x, y);
#pragma GCC unroll 8
    for (int i = 0; i < Matrix::rows; ++i)
      put(i, j, y[i]);
  }
}

} // namespace
} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_MATRICES_H
