//===- GpuKernel.h - an operation's kernel for a GPU ----------------------===//
//
// Which launches an operation becomes depends on the GPU and on where its buffers lie; asked the
// same, the answer is the same, so that who orders state can ask before anything is lowered.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_GPUKERNEL_H
#define DLC_CODEGEN_LOWER_GPUKERNEL_H

#include "codegen/cuda/Kernel.h"
#include "codegen/cuda/Target.h"
#include "ir/exec/Exec.h"

#include <optional>

namespace dlc {

/// On a launch: which function of the kernel's text.
constexpr llvm::StringLiteral kFunctionAttr = "function";

/// Whether the device's kernels are those of codegen/cuda.
bool isGpu(llvm::StringRef device);
/// The device that the operation's command runs on: that of the loop or branch around it.
std::string deviceOfCommand(mlir::Operation *op);

/// The operation as a normalised fusion, which stands before it and is the caller's.
mlir::FailureOr<FusionOp> normalForGpu(mlir::Operation *op, std::string &why);

/// What kernels may count on: `alignments` of the fusion's buffers (Kernel.h).
cuda::KernelOptions gpuKernelOptions(const cuda::GpuTarget &target,
                                     std::vector<int64_t> alignments = {});

/// Whether a kernel for the device, or for the architecture that stands for it, sums a
/// contraction's products of 8-bit integers.
bool multipliesBytes(const std::string &device, const std::string &gpuArch,
                     mlir::Operation *contraction);

/// What the runtime promises of every buffer that it or a caller allocates.
constexpr int64_t kBufferAlignment = 16;

/// Bytes that the addresses of these buffers are multiples of; empty where all are of 16, as a
/// kernel assumes.
std::vector<int64_t> alignmentsOf(llvm::ArrayRef<mlir::Value> buffers);

/// A kernel for a GPU holds its text beside its meaning.
void setGpuKernel(exec::KernelOp op, const cuda::Kernel &kernel, llvm::StringRef arch);
bool isGpuKernel(exec::KernelOp op);
llvm::StringRef gpuArchOf(exec::KernelOp op);
/// Text and functions as setGpuKernel left them; launches have no more than their names.
cuda::Kernel gpuKernelOf(exec::KernelOp op);

/// One launch of a kernel on the buffers of its operation.
exec::LaunchOp createGpuLaunch(mlir::OpBuilder &b, mlir::Location loc, mlir::StringAttr symbol,
                               const cuda::Kernel &kernel, const cuda::Launch &launch, double flops,
                               llvm::ArrayRef<mlir::Value> inputs,
                               llvm::ArrayRef<mlir::Value> outputs,
                               llvm::ArrayRef<mlir::Value> scratch);

} // namespace dlc
#endif
