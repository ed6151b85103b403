//===- Axis.h - linear combinations along one dimension -------------------===//
#ifndef DLC_FRONTEND_ATEN_AXIS_H
#define DLC_FRONTEND_ATEN_AXIS_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// The weight with which element `from` of a dimension contributes to element `to` of the result.
struct Share {
  int64_t to, from;
  double weight;
};

/// Returns x with one dimension replaced by `size` weighted sums, computed as a matmul with a
/// constant matrix in at least f32.
Value mixed(Build &b, Value x, int64_t axis, int64_t size, ArrayRef<Share> shares);

/// Computes the same as a sum of gathers, one per contribution of an element. Returns null if an
/// element has too many contributions.
Value summed(Build &b, Value x, int64_t axis, int64_t size, ArrayRef<Share> shares);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_AXIS_H
