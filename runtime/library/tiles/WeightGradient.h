//===- WeightGradient.h - weight gradient of a convolution in bf16 on tiles -===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
#define DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H

#include "runtime/library/describe/Convolution.h"

namespace dlc::tiles {

/// Parsed and checked description of a weight gradient (schema/Convolution.def).
struct DLC_EXPORT WeightGradient : describe::Convolution {
  /// Parses the description of a weight gradient. Throws dlc::Error if it is not valid.
  static WeightGradient parse(const nlohmann::json &desc);
};

std::unique_ptr<runtime::LibraryCall>
makeWeightGradient(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
                   int threads);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
