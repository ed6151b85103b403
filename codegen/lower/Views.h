//===- Views.h - which values lie inside others ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_VIEWS_H
#define DLC_CODEGEN_LOWER_VIEWS_H

#include "ir/dlc/Dialect.h"

#include <optional>
#include <string>

namespace dlc {

inline mlir::RankedTensorType tensorTypeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}

/// Bytes into the operand where a slice that is one run of memory starts.
std::optional<int64_t> contiguousStart(SliceOp slice);

/// "cpu", "cpu:1": where a tensor is; cpu where nothing is said.
std::string deviceNameOf(mlir::Type type);

/// The device that runs the operation: that of its tensors, 0-d scalars excepted, which come from
/// anywhere. Of a transfer, where the value goes.
std::string commandDevice(mlir::Operation *op);

/// Whether it is a transfer from one device to another.
bool crosses(mlir::Operation *op);

/// The operand that the operation's result is a part of, and where in it, in bytes; nothing where
/// it is no view.
std::optional<std::pair<mlir::Value, int64_t>> viewOf(mlir::Operation *op);

} // namespace dlc
#endif
