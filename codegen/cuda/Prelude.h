//===- Prelude.h - CUDA C++ files that generated kernels include ----------===//
#ifndef DLC_CODEGEN_CUDA_PRELUDE_H
#define DLC_CODEGEN_CUDA_PRELUDE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace dlc::cuda {

/// Returns the text in which lines such as `#include "prelude.cuh"` are replaced by the files of
/// codegen/cuda/kernels, each once. The files are embedded in the compiler and include no others.
std::string expandIncludes(llvm::StringRef text);

} // namespace dlc::cuda
#endif
