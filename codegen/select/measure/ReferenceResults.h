//===- ReferenceResults.h - reference results in f64 ----------------------===//
//
// Runs the reference evaluator on operands that are converted to f64. The results of large matmuls
// and convolutions, and of elementwise ops after them, are computed only at a few hundred sample
// positions.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_REFERENCERESULTS_H
#define DLC_CODEGEN_SELECT_MEASURE_REFERENCERESULTS_H

#include "ir/dlc/Dialect.h"
#include "ir/tensor/Tensor.h"

#include <optional>

namespace dlc {

/// Expected values of one result: all elements, or a sample of its elements.
struct ExpectedResult {
  std::vector<int64_t> places; ///< row-major positions of the sampled elements; empty: all elements
  ref::Tensor values;
};

/// Returns the expected results of the operation. `operands` are row-major, independent of the
/// layouts of the operation's operands. `inOwnTypes`: each operation rounds to its result type, as
/// the compiled program does. Returns std::nullopt if the evaluation would take too long or is not
/// supported.
std::optional<std::vector<ExpectedResult>>
expectedResults(mlir::Operation *op, llvm::ArrayRef<ref::Tensor> operands, bool inOwnTypes);

} // namespace dlc
#endif
