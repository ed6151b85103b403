//===- Pool.h - windows that slide over images ----------------------------===//
#ifndef DLC_CODEGEN_CPU_POOL_H
#define DLC_CODEGEN_CPU_POOL_H

#include "codegen/cpu/Target.h"
#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

/// The windows of a max_pool or an avg_pool along one dimension.
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
  /// Whether code for so many results works along rows: combines what their windows' rows hold
  /// register by register, and picks what each takes of that.
  bool goAlongRows(int64_t lanes) const;
  /// Whether runs of 2, 4, 8.. elements come before those of a window.
  bool doubleUp(int64_t lanes) const;
  /// Registers that are combined or picked from for a register of results, `rows` rows to a window.
  int64_t steps(int64_t lanes, int64_t rows) const;
};

Windows windowsOf(mlir::Operation *pool, int64_t dimension);

/// Registers that are combined or picked from for all of a pool's results; nothing where its code
/// does not work along rows.
std::optional<double> stepsAlongRows(mlir::Operation *pool, const Target &target);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_POOL_H
