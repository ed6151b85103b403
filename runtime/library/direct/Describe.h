//===- Describe.h - direct convolutions seen from the compiler -----------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_DIRECT_DESCRIBE_H

#include "runtime/library/Library.h"

namespace dlc::direct {

using runtime::Packed;

/// Bytes of the packed weights of a description.
DLC_EXPORT uint64_t packedBytes(const nlohmann::json &desc);
/// Packs weights [O, C, h, w].
DLC_EXPORT Packed packWeights(const nlohmann::json &desc, const float *plain, int threads);

/// How a call reads src: where it lies, or copying the pixels that results come from first; all of
/// it in each thread, or each thread its own part.
struct Reading {
  bool inPlace = false, whole = false;
  double windowPart = 1; ///< of the products: where the window meets the image
};
DLC_EXPORT Reading readingOf(const nlohmann::json &desc, int threads);

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_DESCRIBE_H
