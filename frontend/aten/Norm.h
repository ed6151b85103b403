//===- Norm.h - normalisation of the last dimensions ----------------------===//
#ifndef DLC_FRONTEND_ATEN_NORM_H
#define DLC_FRONTEND_ATEN_NORM_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Of the dimensions from `axis` on; scale and bias may be null, and of another element type.
Value layerNormOf(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_NORM_H
