//===- Exact.h - what an operation's results are, in f64 -------------------===//
//
// The reference evaluator on operands widened to f64. Large products and convolutions, and whatever
// follows them element by element, are evaluated at a few hundred places instead of everywhere.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_EXACT_H
#define DLC_CODEGEN_SELECT_EXACT_H

#include "ir/dlc/Dialect.h"
#include "ir/tensor/Tensor.h"

#include <optional>

namespace dlc {

/// One result: all of it, or at some places of its row-major order.
struct Expected {
  std::vector<int64_t> places; ///< none: everywhere
  ref::Tensor values;
};

/// `operands` are row-major whatever their layouts. With `inOwnTypes` each operation rounds to its
/// type as the program does. Nothing where it would take too long or the evaluator has no answer.
std::optional<std::vector<Expected>>
expectedResults(mlir::Operation *op, llvm::ArrayRef<ref::Tensor> operands, bool inOwnTypes);

} // namespace dlc
#endif
