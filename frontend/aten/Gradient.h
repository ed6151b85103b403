//===- Gradient.h - operators that are gradients of others ------------------===//
#ifndef DLC_FRONTEND_ATEN_GRADIENT_H
#define DLC_FRONTEND_ATEN_GRADIENT_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Sets the node's results to the gradients of `xs`, as far as somebody uses them, where `seeds`
/// are those of `ys`. What the ys are made of is computed again.
void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds, ArrayRef<Value> xs);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_GRADIENT_H
