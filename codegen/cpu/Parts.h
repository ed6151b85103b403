//===- Parts.h - parts of a concatenation that share their code -----------===//
//
// What is made of a concatenation is made part by part (Nest.h). Networks that join all that they
// have made so far have dozens of parts, and code for each would grow with the square of their
// layers. Neighbours that differ in nothing but where their operands lie are a run: one piece of
// code makes them all, and finds place and operands by the number of the part.
//
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
          size = 0; ///< along the concatenation's dimension: the first one's, each one's
  /// Arguments of the fusion that the first part is made of, where those of the others are not the
  /// same: how many places further in the launch's list the next part's stands.
  llvm::SmallVector<std::pair<mlir::BlockArgument, int64_t>, 2> operands;

  /// All begin at multiples of it.
  int64_t starts() const { return count > 1 ? std::gcd(offset, size) : offset; }
};

/// All parts, in order.
llvm::SmallVector<PartRun> runsOfParts(ConcatOp concat);

/// Calls `body(offset)` in a scope of its own where only elements of the run's part number `part`
/// are asked for: of `joined`, if that is given, or of the run's first operand.
void emitPart(Emitter &e, KernelFrame &frame, ConcatOp joined, const PartRun &run, mlir::Value part,
              llvm::function_ref<void(mlir::Value)> body);

} // namespace dlc::cpu
#endif
