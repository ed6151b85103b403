//===- Matchers.h - matchers for constants whose elements are all equal ---===//
#ifndef DLC_IR_DLC_MATCHERS_H
#define DLC_IR_DLC_MATCHERS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"

namespace dlc {

/// Returns whether all elements have one value, and stores the value in `number` as a double.
/// Recognizes splats, one-element constants, and both through reshapes, broadcasts, transposes and
/// slices. Reads at most one element of a resource blob.
bool isSplat(mlir::Value value, double &number);
bool isSplat(mlir::Attribute value, double &number);

/// Returns whether all elements are zero. Negative zero also matches.
bool isZero(mlir::Value value);
bool isOne(mlir::Value value);

} // namespace dlc

#endif // DLC_IR_DLC_MATCHERS_H
