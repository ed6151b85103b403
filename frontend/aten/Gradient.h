//===- Gradient.h - operators that are gradients of others ------------------===//
#ifndef DLC_FRONTEND_ATEN_GRADIENT_H
#define DLC_FRONTEND_ATEN_GRADIENT_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Sets the node's results to the gradients of `xs`, as far as somebody uses them, where `seeds`
/// are those of `ys`. What the ys are made of is computed again.
void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds, ArrayRef<Value> xs);

/// The same value, through which no gradient passes: an operation of its own, which no pass folds
/// before gradients are taken.
Value detached(Build &b, Value x);

/// The value, whose gradient in x is `slope` besides those that the value has itself.
Value withSlope(Build &b, Value value, Value slope, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRADIENT_H
