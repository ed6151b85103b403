//===- Accuracy.h - what sums of f32 products may lose --------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_ACCURACY_H
#define DLC_CODEGEN_PROVIDERS_ACCURACY_H

#include "codegen/providers/Provider.h"

namespace dlc {

/// Whether sums of f32 products must be taken as written: by the situation, or by the word of the
/// operation, which in a fusion is its contraction.
inline bool isStrict(const Proposals &proposals) {
  FusionOp fusion = proposals.fusion;
  if (!fusion) {
    auto own = proposals.op->getAttrOfType<mlir::StringAttr>("dlc.accuracy");
    return own ? own == "strict" : proposals.situation.accuracy == "strict";
  }
  for (mlir::Operation &op : fusion.getBody().front())
    if (auto own = op.getAttrOfType<mlir::StringAttr>("dlc.accuracy"))
      return own == "strict";
  return proposals.situation.accuracy == "strict";
}

constexpr llvm::StringLiteral kForbidden = "accuracy strict forbids its rounding";

} // namespace dlc
#endif
