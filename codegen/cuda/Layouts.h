//===- Layouts.h - makes layouts of a kernel's operands and results explicit ---===//
#ifndef DLC_CODEGEN_CUDA_LAYOUTS_H
#define DLC_CODEGEN_CUDA_LAYOUTS_H

#include "ir/dlc/Dialect.h"

namespace dlc::cuda {

/// Creates a fusion of row-major tensors that reads and writes the same bytes as `fusion`. Values
/// in other layouts are transposed where they are read or written, which costs only index
/// arithmetic. Blocked layouts are not supported. The new fusion is inserted before the original.
FusionOp replaceLayoutsByTransposes(FusionOp fusion);

} // namespace dlc::cuda
#endif
