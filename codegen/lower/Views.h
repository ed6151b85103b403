//===- Views.h - which values are views of other values -------------------===//
#ifndef DLC_CODEGEN_LOWER_VIEWS_H
#define DLC_CODEGEN_LOWER_VIEWS_H

#include "ir/dlc/Dialect.h"

#include <optional>
#include <string>

namespace dlc {

inline mlir::RankedTensorType tensorTypeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}

/// Byte offset in the operand at which a contiguous slice starts; std::nullopt for other slices.
std::optional<int64_t> contiguousStart(SliceOp slice);

/// Returns the device of a tensor, such as "cpu" or "cpu:1"; "cpu" if the type has none.
std::string deviceNameOf(mlir::Type type);

/// Returns the device that runs the operation: that of its tensors, except for 0-d scalars, which
/// may be stored on any device. For a transfer, the destination.
std::string commandDevice(mlir::Operation *op);

/// Returns true if the operation transfers a value to another device.
bool crosses(mlir::Operation *op);

/// Returns the operand that the operation's result is a view of, and the view's byte offset;
/// std::nullopt if the result is not a view.
std::optional<std::pair<mlir::Value, int64_t>> viewOf(mlir::Operation *op);

} // namespace dlc
#endif
