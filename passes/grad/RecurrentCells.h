//===- RecurrentCells.h - one time step of a recurrent layer and back -----===//
#ifndef DLC_PASSES_GRAD_RECURRENTCELLS_H
#define DLC_PASSES_GRAD_RECURRENTCELLS_H

#include "passes/grad/Expr.h"

#include <functional>

namespace dlc::grad {

/// What every step uses: the recurrence's weights [G*H, H] and biases [G*H]; the weights of the
/// gates and of the candidate apart, where a cell wants that.
struct Weights {
  mlir::Value r, bias, gates, candidate;
  int64_t hidden;
};

struct Cell {
  bool wantsApart = false;
  using Values = llvm::SmallVector<mlir::Value>;
  using Given = llvm::ArrayRef<mlir::Value>;

  /// From the input's part of the gates' sums and the states: the next states, then what is kept.
  std::function<Values(TensorBuilder &, const Weights &, Expr now, Given states)> forward;
  /// From the gradients of the next states, and what is kept (the result, the states before, and
  /// what `forward` says): the gradients of the states before, then of the gates' sums; those of
  /// the recurrence's part after that where they differ.
  std::function<Values(TensorBuilder &, const Weights &, Given gradients, Given kept)> backward;
  /// dr from the gradients of the recurrence's part [T*N, G*H] and all that was kept [T*N, ..].
  std::function<Expr(TensorBuilder &, Expr gates, Given kept)> recurrentGradient;
};

Cell lstmCell();
Cell gruCell(bool linearBeforeReset);
Cell rnnCell(bool relu);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RECURRENTCELLS_H
