//===- RecurrentCells.h - one time step of a recurrent layer, forward and backward ----===//
#ifndef DLC_PASSES_GRAD_RULES_RECURRENTCELLS_H
#define DLC_PASSES_GRAD_RULES_RECURRENTCELLS_H

#include "passes/grad/Expr.h"

#include <functional>

namespace dlc::grad {

/// Weights that every time step uses: the recurrent weights `r` [G*H, H] and biases [G*H]. If
/// RecurrentCell::wantsApart is set, also the recurrent weights of the gates and of the candidate
/// separately.
struct RecurrentWeights {
  mlir::Value r, bias, gates, candidate;
  int64_t hidden;
};

struct RecurrentCell {
  bool wantsApart = false;
  using Values = llvm::SmallVector<mlir::Value>;
  using Given = llvm::ArrayRef<mlir::Value>;

  /// Computes one time step from the input's contribution to the gates (`now`) and the states.
  /// Returns the next states, then the values that the backward step needs.
  std::function<Values(TensorBuilder &, const RecurrentWeights &, Expr now, Given states)> forward;
  /// Computes one time step of the backward pass from the gradients of the next states and the
  /// saved values `kept`: the result, the states before the step, and the values that `forward`
  /// returned. Returns the gradients of the states before the step, then those of the gates before
  /// activation. If the gradients of the recurrent contribution to the gates differ from the
  /// latter, they follow.
  std::function<Values(TensorBuilder &, const RecurrentWeights &, Given gradients, Given kept)>
      backward;
  /// Computes the gradient of the recurrent weights r from the gradients of the recurrent
  /// contribution to the gates, [T*N, G*H], and all saved values, [T*N, ..].
  std::function<Expr(TensorBuilder &, Expr gates, Given kept)> recurrentGradient;
};

RecurrentCell lstmCell();
RecurrentCell gruCell(bool linearBeforeReset);
RecurrentCell rnnCell(bool relu);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RULES_RECURRENTCELLS_H
