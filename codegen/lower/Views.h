//===- Views.h - which values lie inside others ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_VIEWS_H
#define DLC_CODEGEN_LOWER_VIEWS_H

#include "ir/dlc/Dialect.h"

#include <optional>

namespace dlc {

inline mlir::RankedTensorType tensorTypeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}

/// Whether the elements stand in the order of their indices.
bool isPlain(mlir::RankedTensorType type);

/// Bytes into the operand where a slice that is one run of memory starts.
std::optional<int64_t> contiguousStart(SliceOp slice);

/// Whether the parts of a concatenation lie one after another in the whole.
bool isPlainConcat(ConcatOp concat);

/// The operand that the operation's result is a part of, and where in it, in bytes; nothing where
/// it is no view.
std::optional<std::pair<mlir::Value, int64_t>> viewOf(mlir::Operation *op);

} // namespace dlc
#endif
