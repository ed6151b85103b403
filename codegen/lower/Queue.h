//===- Queue.h - command order that ends live ranges early ----------------===//
#ifndef DLC_CODEGEN_LOWER_QUEUE_H
#define DLC_CODEGEN_LOWER_QUEUE_H

#include "codegen/lower/Graph.h"
#include "ir/dlc/Dialect.h"

#include <deque>

namespace dlc::lower {

/// Node of the graph: an operation, or (null) a copy into a state.
struct Step {
  mlir::Operation *op;
  llvm::SmallVector<mlir::Value> uses;
};

/// Orders the steps of a block. Steps keep their order, with two exceptions. State updates (steps
/// whose results are used only for states) run as soon as possible if they free at least as many
/// bytes as they allocate. Readers of a collective's result are delayed, so that they need not wait
/// for other ranks. They run when no other step is ready, or when unread results would raise the
/// memory use beyond what the step needs anyway.
class Queue {
public:
  /// `outputs`: which operands of the terminator are caller buffers. `direct`: values that are
  /// written directly into a state's memory.
  Queue(mlir::Block &body, const Graph &graph, std::vector<Step> steps,
        const std::vector<bool> &outputs, const llvm::DenseSet<mlir::Value> &direct);

  std::vector<unsigned> run();

private:
  bool isFree(unsigned step) const;
  bool isUpdate(unsigned step) const { return updates[step]; }
  bool endsLives(unsigned step) const;
  /// Returns true if the step reads the result of a collective that may still be in progress.
  bool isHeld(unsigned step) const;
  void start(mlir::Operation *collective);
  bool mayWait() const;
  void letGo();
  void markUpdates(mlir::Block &body, const std::vector<bool> &outputs);

  const Graph &graph;
  std::vector<Step> steps;
  std::vector<bool> updates;
  /// Arena values that each step reads, arena bytes that it allocates, and (readersLeft) the number
  /// of steps that still have to read each value.
  std::vector<llvm::SmallVector<mlir::Value>> reads;
  std::vector<int64_t> takes;
  std::vector<llvm::SmallVector<mlir::Operation *>> meets; ///< collectives read by each step
  /// Collectives whose readers are delayed, the oldest first, and the bytes of their results.
  std::deque<mlir::Operation *> held;
  int64_t heldBytes = 0;
  /// Live bytes of the arena, and their maximum before the first gradient.
  int64_t live = 0, most = 0;
  bool hasGradients = false;
  llvm::DenseMap<mlir::Value, unsigned> readersLeft;
};

} // namespace dlc::lower
#endif
