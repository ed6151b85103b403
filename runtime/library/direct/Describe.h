//===- Describe.h - direct convolutions: interface for the compiler -------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_DIRECT_DESCRIBE_H

#include "runtime/library/Library.h"

namespace dlc::direct {

using runtime::PackedWeights;

/// Returns the size of the packed weights of a description, in bytes.
DLC_EXPORT uint64_t packedBytes(const nlohmann::json &desc);
/// Packs weights of shape [O, C, h, w] into the layout of a direct convolution.
DLC_EXPORT PackedWeights packWeights(const nlohmann::json &desc, const float *plain, int threads);

/// Describes how a convolution call reads src. If `inPlace` is set, it reads the pixels in place;
/// otherwise it copies the window of each result first. If `whole` is set, each thread reads all of
/// src, otherwise only its own part.
struct SourceAccess {
  bool inPlace = false, whole = false;
  double windowPart = 1; ///< fraction of the multiply-adds that are not skipped as padding
};
DLC_EXPORT SourceAccess describeSourceAccess(const nlohmann::json &desc, int threads);

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_DESCRIBE_H
