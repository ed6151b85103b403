//===- SplitFusion.h - splits a fusion around a contraction into two kernels -===//
//
// There may be no efficient kernel for everything that was fused with a matmul or a convolution
// (epilogue ops, a transpose of an operand or of the result). A library then uses its reference
// implementation or multiplies batch by batch, or generated code uses scalars. Therefore, a split
// is also considered: the contraction with some of the fused ops in one kernel, and the other ops
// in a kernel before or after it.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_CANDIDATES_SPLITFUSION_H
#define DLC_CODEGEN_SELECT_CANDIDATES_SPLITFUSION_H

#include "codegen/select/candidates/Candidates.h"

namespace dlc {

/// Splits the fusion into two kernels if their estimated time is less than that of the best
/// candidate in `whole`, the candidates for the unsplit fusion, which may be empty. Replaces the
/// fusion and returns the new operations; returns an empty list if the fusion is not split.
llvm::SmallVector<mlir::Operation *> splitContraction(FusionOp fusion,
                                                      llvm::ArrayRef<Candidate> whole,
                                                      const CompileOptions &options,
                                                      const cpu::Target &target);

} // namespace dlc
#endif
