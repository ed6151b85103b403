//===- Gradient.h - operators that decide about gradients -------------------===//
#ifndef DLC_FRONTEND_ATEN_GRADIENT_H
#define DLC_FRONTEND_ATEN_GRADIENT_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Sets the node's results to the gradients of `xs`, as far as somebody uses them, where `seeds`
/// are those of `ys`. What the ys are made of is computed again.
void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds, ArrayRef<Value> xs);

/// The same value without a gradient: a separate operation, which nothing folds before gradients
/// are taken.
Value detached(Build &b, Value x);

/// Returns the value with `slope` added to its gradient in x.
Value withSlope(Build &b, Value value, Value slope, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRADIENT_H
