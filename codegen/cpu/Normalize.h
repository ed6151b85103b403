//===- Normalize.h - a fusion over the fewest plain dimensions ------------===//
#ifndef DLC_CODEGEN_CPU_NORMALIZE_H
#define DLC_CODEGEN_CPU_NORMALIZE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

/// Makes a fusion that computes the same bytes from the same bytes, with
/// - layouts spelled out: a tensor<1x64x7x7> in aBcd16b becomes a plain tensor<1x4x7x7x16>;
/// - neighbouring dimensions joined where every operation treats them alike, unit dimensions
/// dropped. The copy stands right before the original; fails, saying why, where a layout cannot be
/// spelled out.
mlir::FailureOr<FusionOp> normalize(FusionOp fusion, std::string &why);

} // namespace dlc::cpu
#endif
