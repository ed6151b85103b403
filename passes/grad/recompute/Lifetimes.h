//===- Lifetimes.h - estimates the memory of a function -------------------===//
#ifndef DLC_PASSES_GRAD_RECOMPUTE_LIFETIMES_H
#define DLC_PASSES_GRAD_RECOMPUTE_LIFETIMES_H

#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::grad {

/// Estimates the memory of a function before operations are fused, placed and selected. The
/// estimate includes states, constants and the values that are live at an operation. It excludes
/// the caller's inputs and outputs, and the scratch memory of libraries. It assumes of later
/// phases: a value whose only reader is an elementwise operation or a reduction is passed in
/// registers; views take no memory; an elementwise result may reuse the memory of an operand; a
/// state is updated in place, as soon as its gradient is available.
class MemoryEstimator {
public:
  explicit MemoryEstimator(mlir::func::FuncOp function);

  /// Returns the estimated memory: the size of the states and constants, plus the peak size of live
  /// values.
  int64_t total() const { return fixed + peak; }
  /// Returns the operation at which the peak memory occurs, or null if the function has no
  /// operations.
  mlir::Operation *peakOp() const { return peakAt; }
  /// Returns whether the operation runs after the operation of peak memory.
  bool isAfterPeak(mlir::Operation *op) const { return positions.lookup(op) > peakPosition; }
  /// Returns the size of a value in memory while it is live, or 0 if the value is not stored in the
  /// arena.
  int64_t bytesOf(mlir::Value value) const;
  /// Returns whether the value is live at the operation of peak memory, but that operation neither
  /// reads nor computes it.
  bool idlesAtPeak(mlir::Value value) const;
  /// Returns the value whose memory a view shares, or the value itself if it is no view.
  static mlir::Value rootOf(mlir::Value value);

private:
  struct LiveRange {
    int64_t first = -1, last = -1, bytes = 0;
  };

  void place(mlir::Block &block);
  void measure(mlir::Block &block);
  bool passesInRegisters(mlir::Operation *op) const;

  llvm::SmallVector<mlir::Operation *> order; ///< operations in execution order
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseSet<mlir::Operation *> updates;
  llvm::MapVector<mlir::Value, LiveRange> lives;
  /// Bytes of the values in an operation's regions, by the position of the operation.
  llvm::DenseMap<int64_t, int64_t> inside;
  int64_t fixed = 0, peak = 0, peakPosition = -1;
  mlir::Operation *peakAt = nullptr;
};

/// Returns the size of a static tensor in bytes, or 0 for other types.
int64_t tensorBytes(mlir::Type type);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RECOMPUTE_LIFETIMES_H
