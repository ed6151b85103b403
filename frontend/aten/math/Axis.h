//===- Axis.h - weighted sums along one dimension -------------------------===//
#ifndef DLC_FRONTEND_ATEN_MATH_AXIS_H
#define DLC_FRONTEND_ATEN_MATH_AXIS_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// One weighted contribution of a resampled dimension: element `from` of the input, multiplied by
/// `weight`, is added to element `to` of the result.
struct ResampleWeight {
  int64_t to, from;
  double weight;
};

/// Returns x with dimension `axis` replaced by `size` weighted sums of its elements. Computed in at
/// least f32 as a matmul with a constant matrix of the weights.
Value resampleByMatmul(Build &b, Value x, int64_t axis, int64_t size,
                       ArrayRef<ResampleWeight> shares);

/// Returns x with dimension `axis` replaced by `size` weighted sums of its elements. Computed as a
/// sum of gathers, one for each contribution to an element. Returns null if a result element has
/// more than 16 contributions.
Value resampleByGathers(Build &b, Value x, int64_t axis, int64_t size,
                        ArrayRef<ResampleWeight> shares);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_MATH_AXIS_H
