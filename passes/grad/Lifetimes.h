//===- Lifetimes.h - what a program holds at each of its operations -------===//
#ifndef DLC_PASSES_GRAD_LIFETIMES_H
#define DLC_PASSES_GRAD_LIFETIMES_H

#include "passes/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::grad {

/// An estimate of the memory of a function, before anything is fused, placed or selected. Counted:
/// state, constants, and the values alive at an operation. Not counted: the caller's inputs and
/// outputs, libraries' scratch memory. Assumed of later phases: a value that one elementwise
/// operation or reduction reads passes through registers; views are free; an elementwise result may
/// take over an operand's memory; an update of state happens as soon as its gradient is there, in
/// place.
class Lifetimes {
public:
  explicit Lifetimes(mlir::func::FuncOp function);

  /// State, constants and the most that is alive at once.
  int64_t total() const { return fixed + peak; }
  /// Where that is: no operation where the function has none.
  mlir::Operation *peakOp() const { return peakAt; }
  /// Whether it runs after that.
  bool isAfterPeak(mlir::Operation *op) const { return positions.lookup(op) > peakPosition; }
  /// The bytes that a value takes while it is alive; 0 where it is none of the arena's.
  int64_t bytesOf(mlir::Value value) const;
  /// Whether it is alive at the peak, but nobody reads or makes it there.
  bool idlesAtPeak(mlir::Value value) const;
  /// The value that a view shows a part of.
  static mlir::Value rootOf(mlir::Value value);

private:
  struct Life {
    int64_t first = -1, last = -1, bytes = 0;
  };

  void place(mlir::Block &block);
  void measure(mlir::Block &block);
  bool passesInRegisters(mlir::Operation *op) const;

  llvm::SmallVector<mlir::Operation *> order; ///< in which operations will run
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseSet<mlir::Operation *> updates;
  llvm::MapVector<mlir::Value, Life> lives;
  llvm::DenseMap<int64_t, int64_t> inside; ///< what regions of the operation there hold
  int64_t fixed = 0, peak = 0, peakPosition = -1;
  mlir::Operation *peakAt = nullptr;
};

/// Bytes of a static tensor, 0 of others.
int64_t tensorBytes(mlir::Type type);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_LIFETIMES_H
