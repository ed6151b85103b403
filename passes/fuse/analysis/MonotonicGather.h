//===- MonotonicGather.h - monotonic gathers with steps of 0 or 1 ---------===//
//
// Resizing an image to a larger size reads each of its elements once or several times, in order.
// Along rows, a vector of the result depends on elements within one vector of the operand:
// generated code loads that vector and selects elements by a shuffle. Such a gather is cheap enough
// to be recomputed in several kernels.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_ANALYSIS_MONOTONICGATHER_H
#define DLC_PASSES_FUSE_ANALYSIS_MONOTONICGATHER_H

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Dialect.h"

namespace dlc {

inline bool isMonotonic(GatherOp gather) { return gather->hasAttr(kMonotonicAttr); }

/// Sets kMonotonicAttr on the gathers of a block that read their operand in order with index steps
/// of 0 or 1, if the device runs vectorized generated code.
void markMonotonicGathers(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ANALYSIS_MONOTONICGATHER_H
