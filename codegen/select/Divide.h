//===- Divide.h - a contraction and what comes before or after it as two kernels --===//
//
// What fusion joined to a product or a convolution (steps, a transposition of an operand or of the
// result) may be what no good kernel does with it: then a library falls back to its reference
// implementation or multiplies batch by batch, or generated code falls back to scalars. The
// contraction with as much of that as pays and a kernel before or behind it stand for election,
// too.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_DIVIDE_H
#define DLC_CODEGEN_SELECT_DIVIDE_H

#include "codegen/select/Candidates.h"

namespace dlc {

/// Two kernels in place of one that could do the fusion, where they take less time by estimate than
/// the best that can do all of it (`whole`; none may). The fusion is gone then, and the operations
/// that came of it are returned; else nothing.
llvm::SmallVector<mlir::Operation *> divideContraction(FusionOp fusion,
                                                       llvm::ArrayRef<Candidate> whole,
                                                       const CompileOptions &options,
                                                       const cpu::Target &target);

} // namespace dlc
#endif
