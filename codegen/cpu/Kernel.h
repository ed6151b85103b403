//===- Kernel.h - a fusion as one kernel: its plan and its code -----------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_H
#define DLC_CODEGEN_CPU_KERNEL_H

#include "codegen/cpu/Emitter.h"

namespace dlc::cpu {

/// How the runtime calls a kernel: in parallel over [0, extent), at least `grain` units at a time.
struct KernelPlan {
  int64_t extent = 1, grain = 1, scratch = 0;
  double flops = 0, bytes = 0;
  double rows = 0; ///< number of rows that are processed one by one
};

/// Returns whether the Emitter supports every operation of the body. If not, `why` is the reason.
bool canEmit(FusionOp fusion, std::string *why = nullptr);

/// Returns the bytes that a body reads of one of its values. Slices, gathers and other moves of it
/// count only what is read of their results.
double bytesRead(mlir::Value x);
/// Returns the bytes of the cache lines of `rows` rows, each a run of elements; rows start `apart`
/// elements apart.
double bytesOfLines(double rows, double run, int64_t apart, double elementBytes);

/// Returns the plan of a normalized fusion.
KernelPlan planKernel(FusionOp fusion, const Target &target);

/// Emits a normalized fusion as
///   llvm.func @name(%buffers: ptr, %begin: i64, %end: i64, %scratch: ptr, %context: ptr)
/// at the builder's insertion point. `buffers` holds the inputs' pointers, then the outputs'.
mlir::LogicalResult emitKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                               const Target &target);

} // namespace dlc::cpu
#endif
