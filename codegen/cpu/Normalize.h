//===- Normalize.h - rewrites a fusion over the fewest plain dimensions ---===//
#ifndef DLC_CODEGEN_CPU_NORMALIZE_H
#define DLC_CODEGEN_CPU_NORMALIZE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

/// Creates an equivalent fusion for code generation, in which
/// - layouts are explicit: a tensor<1x64x7x7> in the layout aBcd16b becomes a row-major
///   tensor<1x4x7x7x16>;
/// - dimensions are merged: adjacent dimensions are joined if every operation treats them alike,
///   and unit dimensions are dropped.
/// The new fusion reads and writes the same bytes. It is inserted before the original. Fails with
/// the reason in `why` if a layout cannot be made explicit.
mlir::FailureOr<FusionOp> normalizeFusion(FusionOp fusion, std::string &why);

} // namespace dlc::cpu
#endif
