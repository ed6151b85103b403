//===- Layouts.h - layouts of what a kernel for a GPU reads and writes ----===//
#ifndef DLC_CODEGEN_CUDA_LAYOUTS_H
#define DLC_CODEGEN_CUDA_LAYOUTS_H

#include "ir/dlc/Dialect.h"

namespace dlc::cuda {

/// A fusion of plain tensors that computes the same bytes from the same bytes: what lies in another
/// order is transposed where it is read, and where it is written, at no cost but that of indices.
/// For layouts without blocks. The copy stands right before the original.
FusionOp transposeLayouts(FusionOp fusion);

} // namespace dlc::cuda
#endif
