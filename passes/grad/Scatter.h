//===- Scatter.h - sums into places that indices name ---------------------===//
#ifndef DLC_PASSES_GRAD_SCATTER_H
#define DLC_PASSES_GRAD_SCATTER_H

#include "passes/grad/Expr.h"

namespace dlc::grad {

/// The adjoint of gather: zeros of a shape with x's slices [.., i.., ..] added along `axis` at
/// indices[i..].
Expr scatterAlong(Expr x, Expr indices, llvm::ArrayRef<int64_t> shape, int64_t axis);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_SCATTER_H
