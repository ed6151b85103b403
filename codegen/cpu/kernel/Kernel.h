//===- Kernel.h - a fusion as one kernel: its plan and its code -----------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_KERNEL_H
#define DLC_CODEGEN_CPU_KERNEL_KERNEL_H

#include "codegen/cpu/emit/Emitter.h"

namespace dlc::cpu {

/// How the runtime executes a kernel: as a parallel loop over [0, extent), with at least `grain`
/// work units per thread.
struct KernelPlan {
  int64_t extent = 1, grain = 1, scratch = 0;
  double flops = 0, bytes = 0;
  /// Number of rows that the kernel processes one at a time, not in tiles or chunks.
  double rows = 0;
};

/// Returns whether the Emitter supports every operation of the fusion's body. If not, sets `why` to
/// the reason.
bool canEmitKernel(FusionOp fusion, std::string *why = nullptr);

/// Returns the bytes of `x`, a value of a fusion's body, that the body reads. If `x` is only
/// sliced, gathered, transposed or reshaped, only the bytes that are read of these results are
/// counted.
double estimateBytesRead(mlir::Value x);
/// Returns the bytes of the cache lines that `rows` rows occupy. Each row is a run of `run`
/// contiguous elements, and rows start `apart` elements apart.
double estimateCacheLineBytes(double rows, double run, int64_t apart, double elementBytes);

/// Computes the plan of a normalized fusion: its work units, scratch memory and cost.
KernelPlan planKernel(FusionOp fusion, const Target &target);

/// Emits a normalized fusion as the function
///   llvm.func @name(%buffers: ptr, %begin: i64, %end: i64, %scratch: ptr, %context: ptr)
/// at the builder's insertion point. `buffers` is an array of pointers: those of the inputs,
/// followed by those of the outputs.
mlir::LogicalResult emitKernel(mlir::OpBuilder &b, FusionOp fusion, llvm::StringRef name,
                               const Target &target);

} // namespace dlc::cpu
#endif
