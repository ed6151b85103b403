//===- Accuracy.h - what single operations may lose for speed -------------===//
#ifndef DLC_CODEGEN_SELECT_ACCURACY_H
#define DLC_CODEGEN_SELECT_ACCURACY_H

#include "codegen/Pipeline.h"

namespace dlc {

/// Writes PATTERN=strict|default|fast on the products of such names, as dlc.accuracy, which stands
/// above --accuracy. The first pattern that fits counts; gradients go with what they are gradients
/// of.
mlir::LogicalResult applyAccuracy(mlir::ModuleOp module, const CompileOptions &given);

} // namespace dlc
#endif
