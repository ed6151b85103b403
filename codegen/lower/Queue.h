//===- Queue.h - command order that ends live ranges early ----------------===//
#ifndef DLC_CODEGEN_LOWER_QUEUE_H
#define DLC_CODEGEN_LOWER_QUEUE_H

#include "codegen/lower/Graph.h"
#include "ir/dlc/Dialect.h"

#include <deque>

namespace dlc::lower {

/// Node of the dependency graph that is scheduled: an operation, or, if `op` is null, the copy of a
/// new value into a state.
struct SchedulerStep {
  mlir::Operation *op;
  llvm::SmallVector<mlir::Value> uses;
};

/// List scheduler for the steps (operations and copies into states) of a block. Steps keep their
/// order, with two exceptions. State updates, whose results are used only for states, run as soon
/// as they free at least as many bytes as they allocate. Readers of a collective's result are
/// delayed, so that they do not wait for other ranks. They run when no other step is ready, or when
/// the results that are still to be read would increase the peak memory.
class ListScheduler {
public:
  /// `outputs`: for each operand of the block's terminator, whether it is stored in a buffer of the
  /// caller. `direct`: values that are written directly into a state's memory.
  ListScheduler(mlir::Block &body, const DependencyGraph &graph, std::vector<SchedulerStep> steps,
                const std::vector<bool> &outputs, const llvm::DenseSet<mlir::Value> &direct);

  std::vector<unsigned> run();

private:
  bool isFree(unsigned step) const;
  bool isUpdate(unsigned step) const { return updates[step]; }
  bool endsLives(unsigned step) const;
  /// Returns true if the step is delayed because it reads the result of a collective that may still
  /// be in progress.
  bool isHeld(unsigned step) const;
  void start(mlir::Operation *collective);
  bool mayWait() const;
  void letGo();
  void markUpdates(mlir::Block &body, const std::vector<bool> &outputs);

  const DependencyGraph &graph;
  std::vector<SchedulerStep> steps;
  std::vector<bool> updates;
  /// For each step: `reads` has the values in the arena that it reads, `takes` the bytes in the
  /// arena that it allocates for results. `readersLeft` is the number of unscheduled steps that
  /// read a value.
  std::vector<llvm::SmallVector<mlir::Value>> reads;
  std::vector<int64_t> takes;
  std::vector<llvm::SmallVector<mlir::Operation *>> meets; ///< collectives that each step reads
  /// Collectives whose readers are delayed, in the order of their start, and the total bytes of
  /// their results.
  std::deque<mlir::Operation *> held;
  int64_t heldBytes = 0;
  /// Live bytes in the arena (`live`), and their maximum before the first collective of gradients
  /// (`most`).
  int64_t live = 0, most = 0;
  bool hasGradients = false;
  llvm::DenseMap<mlir::Value, unsigned> readersLeft;
};

} // namespace dlc::lower
#endif
