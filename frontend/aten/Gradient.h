//===- Gradient.h - gradients of operators, detached values, custom gradients --===//
#ifndef DLC_FRONTEND_ATEN_GRADIENT_H
#define DLC_FRONTEND_ATEN_GRADIENT_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Sets the node's results to those gradients of `xs` that are used. `seeds` are the gradients of
/// `ys`. The computation of `ys` is rematerialized.
void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds, ArrayRef<Value> xs);

/// Returns the same value without a gradient. This is a separate operation, which is not folded
/// before gradients are computed.
Value detached(Build &b, Value x);

/// Returns the value with `slope` added to its gradient in x.
Value withSlope(Build &b, Value value, Value slope, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRADIENT_H
