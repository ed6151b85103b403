//===- Describe.h - Winograd convolutions: interface for the compiler -----===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_DESCRIBE_H

#include "runtime/library/Library.h"

namespace dlc::winograd {

using runtime::PackedWeights;

/// Returns the size of the transformed weights of a description with "packed", in bytes.
DLC_EXPORT uint64_t packedBytes(const nlohmann::json &desc);
/// Transforms weights to the Winograd domain. Their shape is [O, C, R, R], or [C, O, R, R] if the
/// description's field "transposed" is true.
DLC_EXPORT PackedWeights packWeights(const nlohmann::json &desc, const float *plain, int threads);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_DESCRIBE_H
