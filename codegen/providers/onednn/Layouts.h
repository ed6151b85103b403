//===- Layouts.h - layouts that oneDNN prefers ----------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_ONEDNN_LAYOUTS_H
#define DLC_CODEGEN_PROVIDERS_ONEDNN_LAYOUTS_H

#include "passes/Costs.h"

namespace dlc::onednn_desc {

/// Returns the layouts for which oneDNN has an optimized kernel of a convolution, of its gradients
/// or of a pool, or nullopt if there are none. Without `required`, oneDNN chooses the layouts.
std::optional<LayoutPair> queryLayouts(mlir::Operation *op,
                                       const std::optional<LayoutPair> &required, int threads);

} // namespace dlc::onednn_desc

#endif // DLC_CODEGEN_PROVIDERS_ONEDNN_LAYOUTS_H
