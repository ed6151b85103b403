//===- Matchers.h - recognising constants of one value --------------------===//
#ifndef DLC_IR_DLC_MATCHERS_H
#define DLC_IR_DLC_MATCHERS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"

namespace dlc {

/// Whether all elements are one value, which then stands in `number` (as double). Sees splats,
/// constants of one element, and those through reshape, broadcast and transpose. Never reads more
/// than one element of a blob.
bool isSplat(mlir::Value value, double &number);
bool isSplat(mlir::Attribute value, double &number);

/// All elements are zero. The sign of a floating-point zero is not asked for.
bool isZero(mlir::Value value);
bool isOne(mlir::Value value);

} // namespace dlc

#endif // DLC_IR_DLC_MATCHERS_H
