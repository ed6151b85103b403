//===- Panel.h - what a product asks of its kernels -------------------------------===//
//
// Shared with code compiled for one processor alone: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_PANEL_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_PANEL_H

#include "runtime/library/simd/Post.h"

namespace dlc::products {

using simd::Epilogue;
using simd::kMostPosts;
using simd::Matrix;
using simd::Post;
using simd::PostKind;
using simd::Prologue;

/// Where in memory's rows and columns the packed elements begin. `across`: columns are the
/// operand's lanes, otherwise its depth. `sums`: across, what each column's elements become is
/// added up here, for the first column on; `isFirst`: from 0, otherwise to what is there.
struct Place {
  const Prologue *prologue = nullptr;
  int64_t row = 0, column = 0;
  bool across = false, isFirst = true;
  float *sums = nullptr;
};

/// What is wanted next: rows of memory of so many cache lines, `row` bytes apart; of all their
/// lines, counted through the rows, those from `begin` up to `end`.
struct Ahead {
  const char *from = nullptr;
  int64_t row = 0, lines = 0, begin = 0, end = 0;
};

/// dst[rows, columns] from packed operands, of which `left` has all rows and `right` all columns,
/// `steps` blocks deep; `rightStride` bytes lie between two blocks of the right one's columns, and
/// `leftStride` between two of rows. `isFirst`: sums start at 0, otherwise at what dst holds.
/// `isLast`: the epilogue comes, otherwise bare sums are left in dst. An epilogue that ends by
/// adding to what dst held (`each`) comes every time, with sums from 0. Vectors fetch what is
/// `ahead` into the second-level cache, a part with each block; where they `stream`, the right
/// operand comes from afar and is read once.
struct Panel {
  const char *left = nullptr, *right = nullptr;
  int64_t leftStride = 0, rightStride = 0, steps = 0;
  float *dst = nullptr;
  int64_t dstRow = 0, rows = 0, columns = 0;
  int64_t leftRow = 0;   ///< not packed: elements from one row of the left operand to the next
  int64_t blockRows = 0; ///< of the left operand's blocks
  int64_t firstRow = 0, firstColumn = 0; ///< in the whole result, for the epilogue's operands
  int parts = 2;
  bool isFirst = true, isLast = true, each = false, streams = false;
  Ahead ahead;
};

/// dst[rows, columns] of bf16, by its bits, from rows packed as columns are, `stride` bytes from
/// one block to the next, and columns where they lie, one behind the other, `depth` elements each.
struct Lying {
  const char *left = nullptr;
  int64_t stride = 0;
  const uint16_t *right = nullptr;
  int64_t depth = 0, rows = 0, columns = 0;
  uint16_t *dst = nullptr;
  int64_t dstRow = 0;
};

/// Products of quarters, seven instead of eight: Winograd's form of Strassen's. Operands are packed
/// in slots, one for each product; some get quarters, which `left` and `right` make all seven of.
/// Slot by quarter, by the half of the lanes and of the depth:
constexpr int kStrassenSlots = 7;
constexpr int kStrassenLeft[2][2] = {{0, 1}, {3, 4}};
constexpr int kStrassenRight[2][2] = {{0, 1}, {3, 6}};

/// Blocks of `width` lanes, `between` elements apart: [lanes / width][depths][width]. What lies
/// behind the last lane is 0. `lane` and `depth` are strides in elements.
using Pack = void (*)(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
                      int64_t width, int64_t between, float *to);

/// The same of bf16, by its bits; and numbers rounded to bf16.
using PackNarrow = void (*)(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes,
                            int64_t depths, int64_t width, int64_t between, float *to);
using Narrow = void (*)(const float *from, int64_t count, uint16_t *to);

/// sums[lane] = the sum over all depths, of what Pack packed; `more`: added to what is there.
using Sums = void (*)(const float *packed, int64_t lanes, int64_t depths, int64_t width,
                      int64_t between, bool more, float *sums);

struct Strassen {
  Pack pack;
  Sums sums;
  /// Of a block of the left operand; the last one may have fewer than the others.
  int64_t leastRows;
  /// A block's seven slots, of `slot` numbers each.
  void (*left)(float *slots, int64_t slot);
  void (*right)(float *slots, int64_t slot);
  /// Quarters of dst, row by row; what is packed and the strides are those of the first, which is
  /// the largest. Blocks of `left` and `right` have seven slots each.
  void (*multiply)(const Panel (&quarters)[4], const Epilogue &);
};

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_PANEL_H
