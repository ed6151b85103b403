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

/// Returns the byte offset at which a contiguous slice starts in its operand; std::nullopt if the
/// slice is not contiguous.
std::optional<int64_t> getSliceByteOffset(SliceOp slice);

/// Returns the device of a tensor type, such as "cpu" or "cpu:1". Returns "cpu" if the type has no
/// device.
std::string getTypeDeviceName(mlir::Type type);

/// Returns the device that runs the operation: the device of its tensors except 0-d scalars, which
/// may be stored on any device. For a transfer, returns the destination.
std::string getCommandDevice(mlir::Operation *op);

/// Returns true if the operation transfers a value from one device to another.
bool crossesDevices(mlir::Operation *op);

/// Returns the operand that the operation's result is a view of, and the byte offset of the view in
/// it. Returns std::nullopt if the result is not a view.
std::optional<std::pair<mlir::Value, int64_t>> matchView(mlir::Operation *op);

} // namespace dlc
#endif
