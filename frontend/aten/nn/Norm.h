//===- Norm.h - layer norm ------------------------------------------------===//
#ifndef DLC_FRONTEND_ATEN_NN_NORM_H
#define DLC_FRONTEND_ATEN_NN_NORM_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Layer norm: normalizes x over the dimensions from `axis` on. Scale and bias may be null, and may
/// have another element type than x.
Value buildLayerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_NN_NORM_H
