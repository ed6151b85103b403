//===- Prelude.h - helpers of the generated CUDA C++ text -----------------===//
#ifndef DLC_CODEGEN_CUDA_PRELUDE_H
#define DLC_CODEGEN_CUDA_PRELUDE_H

#include "llvm/ADT/StringRef.h"

namespace dlc::cuda {

/// Returns the CUDA text of namespace `dk`: 16-bit floats, vectors, arithmetic with the dialect's
/// semantics, and reductions of warps and thread blocks. It includes no header. Only its helper
/// functions contain PTX; each has a second implementation for host compilers under DLC_EMULATED.
llvm::StringRef getPreludeText();
/// Returns the CUDA text of additional helpers for tiled contractions: asynchronous copies and mma
/// instructions.
llvm::StringRef tilePreludeText();
/// Returns the CUDA text of additional helpers for attention kernels.
llvm::StringRef attentionPreludeText();

} // namespace dlc::cuda
#endif
