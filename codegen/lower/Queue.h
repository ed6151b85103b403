//===- Queue.h - an order that ends lives early ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_QUEUE_H
#define DLC_CODEGEN_LOWER_QUEUE_H

#include "codegen/lower/Graph.h"
#include "ir/dlc/Dialect.h"

#include <deque>

namespace dlc::lower {

/// One node of the graph: an operation, or (null) a copy into a state.
struct Step {
  mlir::Operation *op;
  llvm::SmallVector<mlir::Value> uses;
};

/// Orders the steps of a block: as they stand, but that updates of state (steps whose results end
/// in states alone) come as soon as they may where the bytes that they free are no fewer than those
/// that they take. What reads a collective's result comes late, so that it need not wait for other
/// ranks: when there is nothing else to do, or when results that nobody has read would take memory
/// that the step does not need anyway.
class Queue {
public:
  /// `outputs`: which operands of the terminator are the caller's. `direct`: values that lie in a
  /// state's memory.
  Queue(mlir::Block &body, const Graph &graph, std::vector<Step> steps,
        const std::vector<bool> &outputs, const llvm::DenseSet<mlir::Value> &direct);

  std::vector<unsigned> run();

private:
  bool isFree(unsigned step) const;
  bool isUpdate(unsigned step) const { return updates[step]; }
  bool endsLives(unsigned step) const;
  /// Whether it reads what ranks may still be about.
  bool isHeld(unsigned step) const;
  void start(mlir::Operation *collective);
  bool mayWait() const;
  void letGo();
  void markUpdates(mlir::Block &body, const std::vector<bool> &outputs);

  const Graph &graph;
  std::vector<Step> steps;
  std::vector<bool> updates;
  /// The values of the arena that a step reads, and their bytes; how many steps still read each.
  std::vector<llvm::SmallVector<mlir::Value>> reads;
  std::vector<int64_t> takes;
  std::vector<llvm::SmallVector<mlir::Operation *>> meets; ///< collectives that a step reads from
  /// Collectives whose readers are held, the oldest first, and the bytes of their results.
  std::deque<mlir::Operation *> held;
  int64_t heldBytes = 0;
  /// Bytes of the arena now, and the most of them before there were gradients.
  int64_t live = 0, most = 0;
  bool hasGradients = false;
  llvm::DenseMap<mlir::Value, unsigned> readersLeft;
};

} // namespace dlc::lower
#endif
