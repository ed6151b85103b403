//===- Strassen.h - Strassen's algorithm with 7 products instead of 8 -----===//
//
// Winograd's form of Strassen's algorithm. With
//
//   S1 = A21 + A22   S2 = S1 - A11   S3 = A11 - A21   S4 = A12 - S2
//   T1 = B12 - B11   T2 = B22 - T1   T3 = B22 - B12   T4 = B21 - T2
//
// the quarters of the product are sums along chains of products, most of which stay in registers:
//
//   U1 = A11 B11            C11 = U1 + A12 B21
//   U2 = U1 + S2 T2         C12 = U2 + S1 T1 + S4 B22
//   U3 = U2 + S3 T3         C21 = U3 + A22 T4           C22 = U3 + S1 T1
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_STRASSEN_H
#define DLC_RUNTIME_LIBRARY_VECTORS_STRASSEN_H

#include "runtime/library/vectors/ProductKernels.h"

namespace dlc::vectors {
namespace {

template <int V, int maxRows> struct StrassenKernels {
  using PanelArguments = products::PanelArguments;
  using Epilogue = products::Epilogue;

  /// Computes the slots of a packed left block: A11, A12, S2, S3, A22, S1, S4. On entry, the slot
  /// of S3 holds A21.
  static void left(float *slots, int64_t slot) {
    for (int64_t i = 0; i < slot; i += V) {
      float *at = slots + i;
      const int64_t count = slot - i;
      Vec<V> a11 = loadFirst<V>(at, count), a12 = loadFirst<V>(at + slot, count),
             a21 = loadFirst<V>(at + 3 * slot, count), a22 = loadFirst<V>(at + 4 * slot, count);
      Vec<V> s1 = a21 + a22, s2 = s1 - a11;
      storeFirst<V>(at + 2 * slot, count, s2);
      storeFirst<V>(at + 3 * slot, count, a11 - a21);
      storeFirst<V>(at + 5 * slot, count, s1);
      storeFirst<V>(at + 6 * slot, count, a12 - s2);
    }
  }

  /// Computes the slots of a packed right block: B11, B21, T2, T3, T4, T1, B22. On entry, the slot
  /// of T3 holds B12. `slot` is a multiple of V.
  static void right(float *slots, int64_t slot) {
    for (int64_t i = 0; i < slot; i += V) {
      float *at = slots + i;
      Vec<V> b11 = load<V>(at), b21 = load<V>(at + slot), b12 = load<V>(at + 3 * slot),
             b22 = load<V>(at + 6 * slot);
      Vec<V> t1 = b12 - b11, t2 = b22 - t1;
      store<V>(at + 2 * slot, t2);
      store<V>(at + 3 * slot, b22 - b12);
      store<V>(at + 4 * slot, b21 - t2);
      store<V>(at + 5 * slot, t1);
    }
  }

  /// Minimum number of rows in a block. Blocks of rows have nearly equal sizes, so if there are
  /// several, each has more than half of the maximum number of rows.
  static constexpr int kMinRows = maxRows / 2 + 1;

  static void multiply(const PanelArguments (&quarters)[4], const Epilogue &epilogue) {
    const PanelArguments &all = quarters[0];
    for (int64_t row = 0; row < all.rows; row += all.blockRows)
      for (int64_t column = 0; column < all.columns; column += 2 * V)
        ofRows(quarters, epilogue, row, column);
  }

  static const products::StrassenTable table;

private:
  template <int R = kMinRows>
  static void ofRows(const PanelArguments (&quarters)[4], const Epilogue &epilogue, int64_t row,
                     int64_t column) {
    const PanelArguments &all = quarters[0];
    if (all.blockRows == R || all.rows - row <= R)
      return block<R>(quarters, epilogue, row, column);
    if constexpr (R < maxRows)
      ofRows<R + 1>(quarters, epilogue, row, column);
  }

  /// Prefetch distance of the packed columns, in elements of the reduction dimension.
  static constexpr int64_t kStepsAhead = 16;

  template <int R> using Sums = Vec<V>[R][2];

  /// One matmul of the algorithm: the slot (combination of quarters) of each operand, and the
  /// destination of its sums. Every four steps of its depth prefetch a few cache lines, so that no
  /// load stalls: packed rows into the L2 cache, and rows of dst.
  template <int R> struct Slot {
    const float *a, *b;
    Sums<R> *to;
    const char *packed;
    const float *rows = nullptr;
  };
  /// Sizes that all slots share. `packed`: bytes of packed rows that are prefetched at a time, at
  /// most two cache lines.
  struct StepSizes {
    int64_t depth, packed, dstRow;
  };

  /// Adds the products of one slot after the other to `from`, or to 0 if `from` is null, and stores
  /// the running sums after each slot. Not inlined, so that its loop can use all registers.
  template <int R, typename... Slots>
  [[gnu::noinline]] static void addSlots(const StepSizes &sizes, const Sums<R> *from,
                                         const Slots &...slots) {
    Sums<R> sums = {};
    if (from)
      forEach<R>([&](int r, int c) { sums[r][c] = (*from)[r][c]; });
    auto add = [&](const Slot<R> &slot) __attribute__((always_inline)) {
      const float *a = slot.a, *b = slot.b, *rows = slot.rows;
      const float *end = rows ? rows + R * sizes.dstRow : nullptr;
      const char *packed = slot.packed;
      int64_t k = 0;
      for (; k + 4 <= sizes.depth; k += 4, a += 4 * R, b += 8 * V, packed += sizes.packed) {
        prefetch<CacheLevel::L2>(packed);
        prefetch<CacheLevel::L2>(packed + 64);
        for (int i = 0; i < 4; ++i)
          prefetch(b + (kStepsAhead + i) * 2 * V);
        if (rows != end) {
          prefetch(rows);
          prefetch(rows + V);
          rows += sizes.dstRow;
        }
        addProducts<V, R, 2>(a, 1, R, b, 2 * V, 4, sums);
      }
      addProducts<V, R, 2>(a, 1, R, b, 2 * V, sizes.depth - k, sums);
      forEach<R>([&](int r, int c) { (*slot.to)[r][c] = sums[r][c]; });
    };
    (add(slots), ...);
  }

  template <int R, typename Visit> DLC_INLINE static void forEach(const Visit &visit) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int c = 0; c < 2; ++c)
        visit(r, c);
  }

  template <int R>
  [[gnu::noinline]] static void block(const PanelArguments (&quarters)[4], const Epilogue &epilogue,
                                      int64_t row, int64_t column) {
    const PanelArguments &all = quarters[0];
    const char *rows = all.left + row / all.blockRows * all.leftStride;
    const auto *left = reinterpret_cast<const float *>(rows);
    const auto *right =
        reinterpret_cast<const float *>(all.right + column / (2 * V) * all.rightStride);
    // Prefetch the next block of packed rows: each block of columns prefetches one share of it, and
    // each slot a part of that share.
    constexpr int kSlots = products::kStrassenSlots;
    const int64_t share = all.leftStride / ((all.columns + 2 * V - 1) / (2 * V));
    const char *ahead = rows + all.leftStride + column / (2 * V) * share;
    const StepSizes sizes{all.steps, (4 * share / kSlots + all.steps - 1) / all.steps, all.dstRow};
    auto slot = [&](int index, Sums<R> &to, const PanelArguments *ends = nullptr) {
      Slot<R> slot{left + index * all.steps * R, right + index * all.steps * 2 * V, &to,
                   ahead + index * share / kSlots};
      if (ends) {
        slot.rows = ends->dst + row * ends->dstRow + column;
        ProductKernels<V, maxRows>::template fetchOperands<R, 2>(*ends, epilogue, row, column);
      }
      return slot;
    };
    auto result = [&](int quarter, Sums<R> &sums) {
      ProductKernels<V, maxRows>::template finish<R, 2>(sums, quarters[quarter], epilogue, row,
                                                        column);
    };
    Sums<R> u, u3, sums;
    // U1 = A11 B11, C11 = U1 + A12 B21.
    addSlots<R>(sizes, nullptr, slot(0, u), slot(1, sums, &quarters[0]));
    result(0, sums);
    // U2 = U1 + S2 T2, U3 = U2 + S3 T3, C21 = U3 + A22 T4.
    addSlots<R>(sizes, &u, slot(2, u), slot(3, u3), slot(4, sums, &quarters[2]));
    result(2, sums);
    // Add S1 T1 to U2 and to U3: C22 = U3 + S1 T1.
    addSlots<R>(sizes, nullptr, slot(5, sums, &quarters[3]));
    forEach<R>([&](int r, int c) {
      u[r][c] += sums[r][c];
      sums[r][c] += u3[r][c];
    });
    result(3, sums);
    // C12 = U2 + S1 T1 + S4 B22.
    addSlots<R>(sizes, &u, slot(6, sums, &quarters[1]));
    result(1, sums);
  }
};

template <int V, int maxRows>
const products::StrassenTable StrassenKernels<V, maxRows>::table = {
    ProductKernels<V, maxRows>::template pack<float>,
    ProductKernels<V, maxRows>::sums,
    kMinRows,
    left,
    right,
    multiply};

} // namespace
} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_STRASSEN_H
