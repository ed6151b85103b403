//===- Prelude.h - what generated CUDA C++ text stands on ------------------===//
#ifndef DLC_CODEGEN_CUDA_PRELUDE_H
#define DLC_CODEGEN_CUDA_PRELUDE_H

#include "llvm/ADT/StringRef.h"

namespace dlc::cuda {

/// Namespace `dk`: 16-bit floats, vectors, arithmetic as the dialect means it, reductions of warps
/// and blocks. It includes no header. PTX stands in helpers alone, which have a second body under
/// DLC_EMULATED for compilers of the host.
llvm::StringRef preludeText();
/// What products on tensor cores need beside it: asynchronous copies and mma.
llvm::StringRef tilePreludeText();
/// And what attention needs beside that.
llvm::StringRef attentionPreludeText();

} // namespace dlc::cuda
#endif
