//===- Prologue.h - operands that are computed while a matmul packs them ---===//
//
//   x -> exp(x - shift) * factor + one-hot -> views -> matmul -> post-ops
//                    |
//                    +-> sums of its columns
//
// A matmul on tiles rounds and reorders its operands anyway. A value that is computed only for
// matmuls, such as the gradient of a softmax cross-entropy, then need not be written to memory and
// read again.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PROLOGUE_H
#define DLC_CODEGEN_PROVIDERS_PROLOGUE_H

#include "ir/dlc/Dialect.h"

namespace dlc {

struct Prologue {
  /// The computed operand of the matmul, and the fusion's argument of the same shape from which it
  /// is computed.
  mlir::Value made, x;
  /// Arguments with one element per row, or (`shift`, `factor`) one for all rows; null if absent.
  mlir::Value shift, factor, hot;
  double value = 0; ///< added where the column index is equal to `hot`
  bool exponential = false;
  /// Sum of each column, if it is the fusion's second result.
  ReduceOp sums;
  bool changes() const { return x != made; }
  /// All ops of the body except the matmul, its epilogue and constants.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Matches the body of a fusion around a matmul. For an operand that is only summed while it is
/// packed, changes() returns false.
std::optional<Prologue> matchPrologue(FusionOp fusion);

} // namespace dlc
#endif
