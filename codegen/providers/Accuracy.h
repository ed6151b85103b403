//===- Accuracy.h - permitted rounding of sums of f32 products ------------===//
#ifndef DLC_CODEGEN_PROVIDERS_ACCURACY_H
#define DLC_CODEGEN_PROVIDERS_ACCURACY_H

#include "codegen/providers/Provider.h"
#include "ir/dlc/Attributes.h"

namespace dlc {

/// Returns true if the accuracy is `strict`: sums of f32 products must be computed in f32 as
/// written. The `dlc.accuracy` attribute of the operation, or of a fusion's contraction, overrides
/// the selection's accuracy.
inline bool isStrict(const CandidateCollector &collector) {
  FusionOp fusion = collector.fusion;
  if (!fusion) {
    auto own = collector.op->getAttrOfType<mlir::StringAttr>(kAccuracyAttr);
    return own ? own == "strict" : collector.selection.accuracy == "strict";
  }
  for (mlir::Operation &op : fusion.getBody().front())
    if (auto own = op.getAttrOfType<mlir::StringAttr>(kAccuracyAttr))
      return own == "strict";
  return collector.selection.accuracy == "strict";
}

constexpr llvm::StringLiteral kForbidden = "--accuracy strict does not permit its rounding";

} // namespace dlc
#endif
