//===- Axis.h - mixing the elements of one dimension ----------------------===//
#ifndef DLC_FRONTEND_ATEN_AXIS_H
#define DLC_FRONTEND_ATEN_AXIS_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// How much of an element of a dimension goes into one of the result's.
struct Share {
  int64_t to, from;
  double weight;
};

/// x with one dimension replaced by `size` sums of shares: a product with a constant matrix, in f32
/// at least.
Value mixed(Build &b, Value x, int64_t axis, int64_t size, ArrayRef<Share> shares);

/// The same as a sum of gathers, one for each share that an element has; null where some have many.
Value summed(Build &b, Value x, int64_t axis, int64_t size, ArrayRef<Share> shares);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_AXIS_H
