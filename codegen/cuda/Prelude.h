//===- Prelude.h - helpers of the generated CUDA C++ text -----------------===//
#ifndef DLC_CODEGEN_CUDA_PRELUDE_H
#define DLC_CODEGEN_CUDA_PRELUDE_H

#include "llvm/ADT/StringRef.h"

namespace dlc::cuda {

/// Returns namespace `dk`: 16-bit floats, vectors, arithmetic with the dialect's semantics, and
/// reductions of warps and blocks. It includes no header. Only its helper functions contain PTX,
/// and these have a second body under DLC_EMULATED for host compilers.
llvm::StringRef preludeText();
/// Returns the additional helpers of tiled contractions: asynchronous copies and mma.
llvm::StringRef tilePreludeText();
/// Returns the additional helpers of attention.
llvm::StringRef attentionPreludeText();

} // namespace dlc::cuda
#endif
