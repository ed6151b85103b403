//===- Effort.h - how much the compiler does for each kernel's code -------===//
//
// LLVM takes milliseconds for a kernel, whether that then runs for 20 ns or for 20 ms. Kernels that
// together are nothing beside the rest of a program get code that is made in a third of the time.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_EFFORT_H
#define DLC_CODEGEN_LOWER_EFFORT_H

#include "ir/exec/Exec.h"

namespace dlc {

/// Marks the kernels for processors whose code is to be made with the least effort: as many as cost
/// a run of the program no more than a small share of its estimated time.
void chooseEffort(mlir::ModuleOp module);

/// Whether the kernel is so marked. The mark is an attribute, so that code kept by content is kept
/// apart.
bool hasLeastEffort(exec::KernelOp kernel);

} // namespace dlc
#endif
