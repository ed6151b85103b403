//===- Layouts.h - makes layouts of a kernel's operands and results explicit ---===//
#ifndef DLC_CODEGEN_CUDA_LAYOUTS_H
#define DLC_CODEGEN_CUDA_LAYOUTS_H

#include "ir/dlc/Dialect.h"

namespace dlc::cuda {

/// Creates a fusion of plain tensors that computes the same bytes from the same bytes: values in
/// other layouts are transposed where they are read or written, which costs only index arithmetic.
/// The layouts must not have blocks. The copy is inserted right before the original.
FusionOp transposeLayouts(FusionOp fusion);

} // namespace dlc::cuda
#endif
