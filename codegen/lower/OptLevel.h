//===- OptLevel.h - optimization level of each kernel ---------------------===//
//
// LLVM takes milliseconds to compile a kernel, whether that runs for 20 ns or for 20 ms. Kernels
// that take a negligible part of a program's time are compiled with fewer optimizations, in a third
// of the time.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_OPTLEVEL_H
#define DLC_CODEGEN_LOWER_OPTLEVEL_H

#include "ir/exec/Exec.h"

namespace dlc {

/// Marks CPU kernels to be compiled with the minimal optimization level. Marks as many kernels as
/// possible such that the program's estimated time increases only by a small fraction.
void chooseOptLevels(mlir::ModuleOp module);

/// Returns true if the kernel is marked to be compiled with the minimal optimization level. The
/// mark is an attribute, so that it is part of the key of cached machine code.
bool hasMinimalOptLevel(exec::KernelOp kernel);

} // namespace dlc
#endif
