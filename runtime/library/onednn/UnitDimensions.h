//===- UnitDimensions.h - order of the spatial dimensions of convolutions -===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_UNITDIMENSIONS_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_UNITDIMENSIONS_H

#include <nlohmann/json.hpp>

namespace dlc::onednn {

/// Returns the description of a convolution, or of one of its gradients, with trailing spatial
/// dimensions of size 1 in front of the other spatial dimensions: [N, C, L, 1] becomes
/// [N, C, 1, L]. oneDNN's kernels form blocks along the last dimension only, so that a convolution
/// over a sequence is several times slower if its last dimension has one element. The memory of all
/// tensors remains the same, because a dimension of one element has no effect on addresses. Other
/// descriptions are returned unchanged.
nlohmann::json moveUnitDimensions(const nlohmann::json &desc);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_UNITDIMENSIONS_H
