//===- Gradient.h - gradients of operators, detached values, custom gradients --===//
#ifndef DLC_FRONTEND_ATEN_GRADIENT_H
#define DLC_FRONTEND_ATEN_GRADIENT_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Sets the node's results to the gradients of `xs`; unused results are skipped. `seeds` are the
/// gradients of `ys`. The computation of `ys` is rematerialized.
void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds, ArrayRef<Value> xs);

/// Returns x with its gradient stopped. Builds a separate operation that is not folded before
/// gradients are computed.
Value stopGradient(Build &b, Value x);

/// Returns `value`, where the gradient of `value` with respect to x is increased by `slope`.
Value attachGradient(Build &b, Value value, Value slope, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRADIENT_H
