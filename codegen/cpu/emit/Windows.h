//===- Windows.h - sliding windows of pools and convolutions --------------===//
#ifndef DLC_CODEGEN_CPU_EMIT_WINDOWS_H
#define DLC_CODEGEN_CPU_EMIT_WINDOWS_H

#include "codegen/cpu/emit/Emitter.h"

namespace dlc::cpu {

/// Geometry of the windows of a pool or a convolution along one spatial dimension.
struct WindowGeometry {
  int64_t taps, stride, dilation, low, size, results;
  /// Number of padding elements before and after the operand that an average pool includes in its
  /// divisor (`count_include_pad`).
  int64_t countedLow = 0, countedHigh = 0;

  /// Returns whether any window extends beyond the operand into the padding. If `counted`, the
  /// counted padding belongs to the operand.
  bool reachBeyond(bool counted = false) const {
    return low > (counted ? countedLow : 0) ||
           (results - 1) * stride - low + (taps - 1) * dilation >=
               size + (counted ? countedHigh : 0);
  }
  /// Returns the number of adjacent operand elements that the windows of `lanes` adjacent results
  /// cover.
  int64_t span(int64_t lanes) const { return (lanes - 1) * stride + (taps - 1) * dilation + 1; }
  int64_t registers(int64_t lanes) const { return (span(lanes) + lanes - 1) / lanes; }
  /// Returns whether a convolution along a row loads a separate vector for each tap, rather than
  /// shuffling the taps out of the registers of the row.
  bool loadsTapsSeparately(int64_t lanes, int64_t vectorBits) const;
  /// Returns whether a vector of `lanes` adjacent results in a row is computed at a time. The row
  /// is loaded in registers, and each window's elements are shuffled out of them. If `isTapByTap`,
  /// a separate vector is loaded for each tap.
  bool vectorizesAlongRows(int64_t lanes, bool isTapByTap = false) const;
  /// Returns whether a pool first combines runs of 2, 4, 8, .. adjacent elements and then composes
  /// its windows of such runs, because this needs fewer operations.
  bool doubleUp(int64_t lanes) const;
};

WindowGeometry getWindowGeometry(mlir::Operation *op, int64_t dimension);

/// Contiguous chunks of a row that the windows of a vector of adjacent results read.
struct RowChunks {
  /// Operand, and index of the first window's first element in the operand's row.
  mlir::Value from, start;
  /// Offset of each chunk from `start`. Each chunk has as many elements as the results have lanes.
  llvm::SmallVector<int64_t> firsts;
  /// For each chunk, a mask of the lanes that are inside the row. Empty: all lanes of all chunks
  /// are inside.
  llvm::SmallVector<mlir::Value> insides;
};

/// Returns the number of register operations that a pool or a convolution needs if its results are
/// vectorized along rows. Returns nothing if they cannot be vectorized in this way.
std::optional<double> countRowVectorOps(mlir::Operation *op, const Target &target);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_EMIT_WINDOWS_H
