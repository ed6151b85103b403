//===- Parts.h - parts of a concatenation that share their code -----------===//
//
// A fusion that reads a concatenation is computed operand by operand (Nest.h). Networks such as
// DenseNet, which concatenate all previous results, have dozens of operands, and separate code for
// each operand would grow with the square of the number of layers. Adjacent operands whose
// computations differ only in their buffers form a run. One piece of code computes all operands of
// a run, and derives their offset and buffers from the index of the operand.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_PARTS_H
#define DLC_CODEGEN_CPU_KERNEL_PARTS_H

#include "codegen/cpu/kernel/KernelFrame.h"

#include <numeric>

namespace dlc::cpu {

/// Consecutive operands of a concatenation that share their code, in a loop over the operands.
struct ConcatOperandRun {
  unsigned first = 0;
  int64_t count = 1;
  /// Along the concatenation's axis: offset of the first operand, and size of each operand.
  int64_t offset = 0, size = 0;
  /// Arguments of the fusion that the first operand of the run uses and that differ between the
  /// operands. The number is the distance, in the kernel's list of buffers, to the corresponding
  /// argument of the next operand.
  llvm::SmallVector<std::pair<mlir::BlockArgument, int64_t>, 2> operands;

  /// Returns a number that divides the offset of each operand of the run, for alignment.
  int64_t starts() const { return count > 1 ? std::gcd(offset, size) : offset; }
};

/// Returns all operands of a concatenation, in order, grouped into runs that share their code.
llvm::SmallVector<ConcatOperandRun> groupSimilarOperands(ConcatOp concat);

/// Emits `body(offset)` for operand number `part` of the run: in the code of the run's first
/// operand, the buffers are replaced by those of this operand. If `joined` is not null, reads of
/// the concatenation `joined` read this operand only. `offset` is the operand's offset along the
/// concatenation's axis.
void emitPart(Emitter &e, KernelFrame &frame, ConcatOp joined, const ConcatOperandRun &run,
              mlir::Value part, llvm::function_ref<void(mlir::Value)> body);

} // namespace dlc::cpu
#endif
