//===- Pool.h - windows that slide over images ----------------------------===//
#ifndef DLC_CODEGEN_CPU_WINDOWS_H
#define DLC_CODEGEN_CPU_WINDOWS_H

#include "codegen/cpu/Emitter.h"

namespace dlc::cpu {

/// The windows of a pool or a convolution along one dimension.
struct Windows {
  int64_t taps, stride, dilation, low, size, results;
  /// Elements before and after the operand's that an average counts.
  int64_t countedLow = 0, countedHigh = 0;

  /// Whether one of them reaches beyond the operand, or beyond what is counted.
  bool reachBeyond(bool counted = false) const {
    return low > (counted ? countedLow : 0) ||
           (results - 1) * stride - low + (taps - 1) * dilation >=
               size + (counted ? countedHigh : 0);
  }
  /// Elements that those of so many neighbouring results cover.
  int64_t span(int64_t lanes) const { return (lanes - 1) * stride + (taps - 1) * dilation + 1; }
  int64_t registers(int64_t lanes) const { return (span(lanes) + lanes - 1) / lanes; }
  /// Whether a convolution's code loads each tap of so many neighbouring results by itself.
  bool goTapByTap(int64_t lanes, int64_t vectorBits) const;
  /// Whether code for so many results works along rows: takes what their windows' rows hold
  /// register by register, and picks what each window takes of that, or takes it tap by tap.
  bool goAlongRows(int64_t lanes, bool isTapByTap = false) const;
  /// Whether a pool makes runs of 2, 4, 8.. elements before it makes windows of them.
  bool doubleUp(int64_t lanes) const;
};

Windows windowsOf(mlir::Operation *op, int64_t dimension);

/// Parts of a row that windows of neighbouring results read.
struct RowParts {
  mlir::Value from, start;                ///< the operand; where the first window's row begins
  llvm::SmallVector<int64_t> firsts;      ///< elements from there to each part, of as many lanes
  llvm::SmallVector<mlir::Value> insides; ///< the lanes that are inside; none: all are
};

/// Registers that a pool or a convolution combines or picks from to make all its results along
/// rows; nothing where its code does not work along rows.
std::optional<double> stepsAlongRows(mlir::Operation *op, const Target &target);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_WINDOWS_H
