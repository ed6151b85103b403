//===- Windows.h - sliding windows of pools and convolutions --------------===//
#ifndef DLC_CODEGEN_CPU_WINDOWS_H
#define DLC_CODEGEN_CPU_WINDOWS_H

#include "codegen/cpu/Emitter.h"

namespace dlc::cpu {

/// The windows of a pool or a convolution along one dimension.
struct Windows {
  int64_t taps, stride, dilation, low, size, results;
  /// Number of padding elements before and after the operand that an average pool counts.
  int64_t countedLow = 0, countedHigh = 0;

  /// Returns whether a window reaches beyond the operand, or, if `counted`, beyond the counted
  /// padding.
  bool reachBeyond(bool counted = false) const {
    return low > (counted ? countedLow : 0) ||
           (results - 1) * stride - low + (taps - 1) * dilation >=
               size + (counted ? countedHigh : 0);
  }
  /// Returns the number of elements that the windows of `lanes` adjacent results span.
  int64_t span(int64_t lanes) const { return (lanes - 1) * stride + (taps - 1) * dilation + 1; }
  int64_t registers(int64_t lanes) const { return (span(lanes) + lanes - 1) / lanes; }
  /// Returns whether a convolution loads each tap of `lanes` adjacent results separately.
  bool loadsTapsSeparately(int64_t lanes, int64_t vectorBits) const;
  /// Returns whether `lanes` results are computed along rows: their windows' rows are loaded
  /// register by register and each window's elements are shuffled out of these, or each tap is
  /// loaded.
  bool vectorizesAlongRows(int64_t lanes, bool isTapByTap = false) const;
  /// Returns whether a pool combines runs of 2, 4, 8, .. elements before it combines windows from
  /// them.
  bool doubleUp(int64_t lanes) const;
};

Windows windowsOf(mlir::Operation *op, int64_t dimension);

/// Parts of a row that windows of adjacent results read.
struct RowParts {
  mlir::Value from, start; ///< operand, and start of the first window in it
  /// Offset of each part from `start`. Each part has as many elements as the results have lanes.
  llvm::SmallVector<int64_t> firsts;
  /// Masks of the lanes inside the row. Empty: all lanes are.
  llvm::SmallVector<mlir::Value> insides;
};

/// Returns the number of register operations that a pool or a convolution needs for all of its
/// results along rows, or nothing if its code does not work along rows.
std::optional<double> stepsAlongRows(mlir::Operation *op, const Target &target);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_WINDOWS_H
