//===- Normalize.h - rewrites a fusion over the fewest plain dimensions ---===//
#ifndef DLC_CODEGEN_CPU_NORMALIZE_H
#define DLC_CODEGEN_CPU_NORMALIZE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

/// Creates a fusion that computes the same bytes from the same bytes, with
/// - explicit layouts: a tensor<1x64x7x7> in aBcd16b becomes a plain tensor<1x4x7x7x16>;
/// - merged dimensions: adjacent dimensions are joined if every operation treats them alike, and
///   unit dimensions are dropped.
/// The copy is inserted right before the original. Fails with the reason in `why` if a layout
/// cannot be made explicit.
mlir::FailureOr<FusionOp> normalize(FusionOp fusion, std::string &why);

} // namespace dlc::cpu
#endif
