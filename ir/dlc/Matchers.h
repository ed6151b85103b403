//===- Matchers.h - matchers for constants whose elements are all equal ---===//
#ifndef DLC_IR_DLC_MATCHERS_H
#define DLC_IR_DLC_MATCHERS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"

namespace dlc {

/// Returns whether all elements of a constant are equal, and stores the value in `number` as a
/// double. Matches splats, one-element constants, and reshapes, broadcasts, transposes and slices
/// of them. Reads at most one element of a resource blob.
bool isSplat(mlir::Value value, double &number);
bool isSplat(mlir::Attribute value, double &number);

/// Returns whether all elements of a constant are zero. Negative zero also matches.
bool isZero(mlir::Value value);
bool isOne(mlir::Value value);

} // namespace dlc

#endif // DLC_IR_DLC_MATCHERS_H
