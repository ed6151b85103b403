//===- Parts.h - parts of a concatenation that share their code -----------===//
//
// Fusions that read a concatenation are computed part by part (Nest.h). DenseNet-like networks,
// which concatenate all previous results, have dozens of parts, and separate code for each part
// would grow with the square of the number of layers. Adjacent parts that differ only in their
// operands' buffers form a run: one piece of code computes all of them and derives offset and
// operands from the index of the part.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_PARTS_H
#define DLC_CODEGEN_CPU_PARTS_H

#include "codegen/cpu/KernelFrame.h"

#include <numeric>

namespace dlc::cpu {

struct PartRun {
  unsigned first = 0;
  int64_t count = 1;
  int64_t offset = 0,
          size = 0; ///< along the concatenation's axis: offset of the first part, size of each part
  /// Arguments of the fusion that differ between the parts, as used by the first part, with the
  /// distance to the next part's argument in the launch's buffer list.
  llvm::SmallVector<std::pair<mlir::BlockArgument, int64_t>, 2> operands;

  /// Returns a number that divides the offsets of all parts.
  int64_t starts() const { return count > 1 ? std::gcd(offset, size) : offset; }
};

/// Returns all parts, in order.
llvm::SmallVector<PartRun> runsOfParts(ConcatOp concat);

/// Calls `body(offset)` in its own scope, in which only elements of part number `part` of the run
/// are evaluated: of `joined` if that is not null, else of the run's first operand.
void emitPart(Emitter &e, KernelFrame &frame, ConcatOp joined, const PartRun &run, mlir::Value part,
              llvm::function_ref<void(mlir::Value)> body);

} // namespace dlc::cpu
#endif
