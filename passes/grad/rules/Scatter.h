//===- Scatter.h - the adjoint of gather ----------------------------------===//
#ifndef DLC_PASSES_GRAD_RULES_SCATTER_H
#define DLC_PASSES_GRAD_RULES_SCATTER_H

#include "passes/grad/Expr.h"

namespace dlc::grad {

/// Computes the adjoint of gather: zeros of the given shape, to which the slices of x, [.., i..,
/// ..], are added along `axis` at indices[i..].
Expr scatterAddAlongAxis(Expr x, Expr indices, llvm::ArrayRef<int64_t> shape, int64_t axis);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RULES_SCATTER_H
