//===- CookToom.h - transform matrices of Winograd convolutions -----------===//
//
// M results of a row, with a filter g of R taps over A = M + R - 1 elements d, are
//
//   y = At [(G g) * (Bt d)]        with A products instead of M R.
//
// This is the transposed form of polynomial multiplication: polynomials are evaluated at A - 1
// points and "at infinity", multiplied there, and interpolated. The points determine all three
// matrices. Points with a magnitude near 1, together with their negatives, keep the entries of the
// matrices similar in magnitude, and therefore the rounding errors small.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_COOKTOOM_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_COOKTOOM_H

namespace dlc::winograd {

template <int Count> struct Points;
template <> struct Points<3> { static constexpr double at[] = {0, 1, -1}; };
template <> struct Points<5> { static constexpr double at[] = {0, 0.625, -0.625, 1.5, -1.5}; };
template <> struct Points<7> { static constexpr double at[] = {0, 0.5625, -0.5625, 1, -1, 2, -2}; };

template <int Rows, int Cols> struct Table {
  double at[Rows][Cols] = {};
};

template <int M, int R> struct CookToom {
  static constexpr int A = M + R - 1;
  using P = Points<A - 1>;

  /// Returns the coefficients of the polynomial that is the product of (x - point) over all points
  /// except `skipped`, or over all points if `skipped` is -1.
  static constexpr Table<1, A> without(int skipped) {
    Table<1, A> polynomial;
    polynomial.at[0][0] = 1;
    int degree = 0;
    for (int l = 0; l < A - 1; ++l) {
      if (l == skipped)
        continue;
      for (int i = ++degree; i >= 0; --i)
        polynomial.at[0][i] =
            (i > 0 ? polynomial.at[0][i - 1] : 0) - P::at[l] * polynomial.at[0][i];
    }
    return polynomial;
  }

  static constexpr Table<A, A> makeBt() {
    Table<A, A> table;
    for (int j = 0; j < A; ++j) {
      Table<1, A> row = without(j < A - 1 ? j : -1);
      for (int i = 0; i < A; ++i)
        table.at[j][i] = row.at[0][i];
    }
    return table;
  }

  static constexpr Table<A, R> makeG() {
    Table<A, R> table;
    for (int j = 0; j < A - 1; ++j) {
      // The product is exact, so that the rows of a point and its negative are equal except for
      // signs.
      double product = 1;
      for (int l = 0; l < A - 1; ++l)
        if (l != j)
          product *= P::at[j] - P::at[l];
      double power = 1 / product;
      for (int k = 0; k < R; ++k, power *= P::at[j])
        table.at[j][k] = power;
    }
    table.at[A - 1][R - 1] = 1;
    return table;
  }

  static constexpr Table<A, M> makeA() {
    Table<A, M> table;
    for (int j = 0; j < A - 1; ++j) {
      double power = 1;
      for (int i = 0; i < M; ++i, power *= P::at[j])
        table.at[j][i] = power;
    }
    table.at[A - 1][M - 1] = 1;
    return table;
  }

  template <int Rows, int Cols>
  static constexpr Table<Cols, Rows> transposed(const Table<Rows, Cols> &table) {
    Table<Cols, Rows> result;
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Cols; ++j)
        result.at[j][i] = table.at[i][j];
    return result;
  }

  // The Winograd transform matrices (Bt is the transposed B) are types with constexpr coefficients,
  // so that the transforms are unrolled at compile time.
  struct Bt {
    static constexpr int rows = A, cols = A;
    static constexpr Table<A, A> table = makeBt();
  };
  struct G {
    static constexpr int rows = A, cols = R;
    static constexpr Table<A, R> table = makeG();
  };
  struct Gt {
    static constexpr int rows = R, cols = A;
    static constexpr Table<R, A> table = transposed(makeG());
  };
  struct Am {
    static constexpr int rows = A, cols = M;
    static constexpr Table<A, M> table = makeA();
  };
  struct At {
    static constexpr int rows = M, cols = A;
    static constexpr Table<M, A> table = transposed(makeA());
  };
};

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_COOKTOOM_H
