//===- Prologue.h - operands that are computed while a matmul packs them ---===//
//
//   x -> exp(x - shift) * factor + one-hot -> views -> matmul -> post-ops
//                    |
//                    +-> sums of its columns
//
// A matmul on AMX tiles rounds and reorders its operands anyway. If it also computes them, a value
// that only matmuls read, such as the gradient of a softmax cross-entropy, need not be written to
// memory and read again.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PROLOGUE_H
#define DLC_CODEGEN_PROVIDERS_PROLOGUE_H

#include "ir/dlc/Dialect.h"

namespace dlc {

struct Prologue {
  /// `made`: computed operand of the matmul. `x`: fusion argument of the same shape, from which
  /// `made` is computed.
  mlir::Value made, x;
  /// Further fusion arguments from which `made` is computed: one element per row or, for `shift`
  /// and `factor`, one element for all rows. Null if absent.
  mlir::Value shift, factor, hot;
  /// Value of the one-hot term, which is added in the column whose index is `hot`.
  double value = 0;
  bool exponential = false;
  /// Reduction that sums each column of the operand, if it is the fusion's second result; otherwise
  /// null.
  ReduceOp sums;
  bool changes() const { return x != made; }
  /// All ops of the body except the matmul, its epilogue and constants.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Matches the prologue in the body of a fusion with one matmul. If only the column sums of an
/// operand are computed while it is packed, changes() of the result returns false.
std::optional<Prologue> matchPrologue(FusionOp fusion);

} // namespace dlc
#endif
