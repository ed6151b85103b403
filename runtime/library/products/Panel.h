//===- Panel.h - arguments of matmul kernels ------------------------------===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_PANEL_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_PANEL_H

#include "runtime/library/simd/Post.h"

namespace dlc::products {

using simd::Epilogue;
using simd::kMaxPosts;
using simd::Matrix;
using simd::PostOp;
using simd::PostOpKind;
using simd::Prologue;

/// Memory row and column of the first packed element of an operand with a prologue. If `across` is
/// set, memory columns are the operand's lanes, otherwise its reduction dimension (depth). With
/// `across`, `sums` receives the sum of each column's changed elements, beginning with the first
/// packed column. The sums start at 0 if `isFirst` is set; otherwise they accumulate.
struct PackPosition {
  const Prologue *prologue = nullptr;
  int64_t row = 0, column = 0;
  bool across = false, isFirst = true;
  float *sums = nullptr;
};

/// Memory range to prefetch: rows of `lines` cache lines each, with a stride of `row` bytes. The
/// lines are numbered across the rows. Those from `begin` up to `end` are prefetched.
struct Prefetch {
  const char *from = nullptr;
  int64_t row = 0, lines = 0, begin = 0, end = 0;
};

/// Arguments of a matmul kernel that computes dst[rows, columns] from packed operands: all rows of
/// `left` times all columns of `right`, summed over `steps` blocks of the reduction dimension.
/// `leftStride` and `rightStride` are the strides in bytes between two blocks of rows and of
/// columns.
///
/// If `isFirst` is set, the sums start at 0, otherwise at the values of dst. If `isLast` is set,
/// the epilogue is applied; otherwise dst receives the sums without the epilogue. If `each` is set,
/// the epilogue only adds to dst; then every pass starts its sums at 0 and applies the epilogue.
/// Vector kernels prefetch a part of `ahead` into the L2 cache with each block. If `streams` is
/// set, the right operand is read once, from memory.
struct PanelArguments {
  const char *left = nullptr, *right = nullptr;
  int64_t leftStride = 0, rightStride = 0, steps = 0;
  float *dst = nullptr;
  int64_t dstRow = 0, rows = 0, columns = 0;
  int64_t leftRow = 0;   ///< row stride of an unpacked left operand in elements; 0 if packed
  int64_t blockRows = 0; ///< number of rows in a block of the left operand
  int64_t firstRow = 0, firstColumn = 0; ///< position in the result, for the epilogue's operands
  int parts = 2;
  bool isFirst = true, isLast = true, each = false, streams = false;
  Prefetch ahead;
};

/// Arguments of a bf16 matmul that reads the right operand in place. It computes dst[rows, columns]
/// of bf16 bit patterns. The left operand's rows are packed in the layout of packed columns, with a
/// stride of `stride` bytes between two blocks. The right operand has contiguous columns of `depth`
/// elements each.
struct InPlaceMatmul {
  const char *left = nullptr;
  int64_t stride = 0;
  const uint16_t *right = nullptr;
  int64_t depth = 0, rows = 0, columns = 0;
  uint16_t *dst = nullptr;
  int64_t dstRow = 0;
};

/// One level of Strassen's algorithm in Winograd's form: 7 matmuls of quarters instead of 8. A
/// packed block has a slot for each of these matmuls. The quarters are packed into 4 slots, from
/// which StrassenTable::left and StrassenTable::right compute all 7. The tables give a quarter's
/// slot by its half of the lanes and its half of the reduction dimension.
constexpr int kStrassenSlots = 7;
constexpr int kStrassenLeft[2][2] = {{0, 1}, {3, 4}};
constexpr int kStrassenRight[2][2] = {{0, 1}, {3, 6}};

/// Packs an operand into blocks of `width` lanes: [lanes / width][depths][width], with a stride of
/// `between` elements between two blocks. Lanes after the last one are padding of 0. `lane` and
/// `depth` are the operand's strides in elements.
using Pack = void (*)(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
                      int64_t width, int64_t between, float *to);

/// PackNarrow packs an operand of bf16 bit patterns into blocks of `width` lanes, as f32. Narrow
/// rounds f32 values to bf16.
using PackNarrow = void (*)(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes,
                            int64_t depths, int64_t width, int64_t between, float *to);
using Narrow = void (*)(const float *from, int64_t count, uint16_t *to);

/// Computes sums[lane] as the sum over the reduction dimension of an operand that Pack packed. If
/// `more` is set, the result is added to `sums`.
using Sums = void (*)(const float *packed, int64_t lanes, int64_t depths, int64_t width,
                      int64_t between, bool more, float *sums);

struct StrassenTable {
  Pack pack;
  Sums sums;
  /// Minimum number of rows of a block of the left operand. The last block may have fewer rows than
  /// the others.
  int64_t minRows;
  /// `left` and `right` compute the 7 slots of a packed block from its 4 quarters. Each slot has
  /// `slot` elements.
  void (*left)(float *slots, int64_t slot);
  void (*right)(float *slots, int64_t slot);
  /// Computes the 4 quarters of dst, in row-major order, from the packed operands. The packed data
  /// and the strides are those of the first quarter, which is the largest. Each block of `left` and
  /// `right` has 7 slots.
  void (*multiply)(const PanelArguments (&quarters)[4], const Epilogue &);
};

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_PANEL_H
