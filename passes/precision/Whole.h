//===- Whole.h - quantised values of 16 bits between operations in f32 -----===//
#ifndef DLC_PASSES_PRECISION_WHOLE_H
#define DLC_PASSES_PRECISION_WHOLE_H

#include "mlir/IR/BuiltinOps.h"

namespace dlc::precision {

/// No kernel sums integers of 16 bits: numbers that are made such, and then f32 again, stay the
/// whole numbers in f32 that they are.
void keepWhole(mlir::ModuleOp module);

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_WHOLE_H
