//===- GpuKernel.h - GPU kernel of an operation ---------------------------===//
//
// The generated launches of an operation depend on the GPU and on the alignment of the operation's
// buffers. Their generation is deterministic, so that the ordering of state updates can query the
// launches before anything is lowered.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_GPUKERNEL_H
#define DLC_CODEGEN_LOWER_GPUKERNEL_H

#include "codegen/cuda/Kernel.h"
#include "codegen/cuda/Target.h"
#include "ir/exec/Exec.h"

#include <optional>

namespace dlc {

/// Returns true if the device runs kernels that codegen/cuda generates.
bool isGpu(llvm::StringRef device);
/// Returns the device that runs the operation's command. Commands in a loop or branch run on the
/// device of the outermost loop or branch.
std::string getEnclosingCommandDevice(mlir::Operation *op);

/// Converts the operation to a normalized fusion and inserts it before the operation. The caller
/// must erase the fusion. On failure, sets `why` to the reason.
mlir::FailureOr<FusionOp> normalizeForGpu(mlir::Operation *op, std::string &why);

/// Returns the properties of the GPU and of buffers that generated kernels may rely on.
/// `alignments`: alignment in bytes of each buffer of the fusion (Kernel.h).
cuda::KernelOptions gpuKernelOptions(const cuda::GpuTarget &target,
                                     std::vector<int64_t> alignments = {});

/// Returns true if generated kernels support this contraction of 8-bit integers on `device`, or on
/// the architecture `gpuArch` if that is not empty.
bool multipliesBytes(const std::string &device, const std::string &gpuArch,
                     mlir::Operation *contraction);

/// Alignment in bytes of every buffer, whether the runtime or the caller allocates it.
constexpr int64_t kBufferAlignment = 16;

/// Returns the alignment in bytes of each buffer. Returns an empty list if all alignments are 16,
/// which kernels assume by default.
std::vector<int64_t> getAlignments(llvm::ArrayRef<mlir::Value> buffers);

/// Stores the source text and functions of a GPU kernel as attributes of its exec.kernel.
void setGpuKernel(exec::KernelOp op, const cuda::Kernel &kernel, llvm::StringRef arch);
bool isGpuKernel(exec::KernelOp op);
llvm::StringRef gpuArchOf(exec::KernelOp op);
/// Returns the source text and functions of a GPU kernel that setGpuKernel stored. The launches of
/// the result contain only the names of their functions.
cuda::Kernel readGpuKernel(exec::KernelOp op);

/// Creates one launch of a GPU kernel, with the buffers of the operation that the kernel computes.
exec::LaunchOp createGpuLaunch(mlir::OpBuilder &b, mlir::Location loc, mlir::StringAttr symbol,
                               const cuda::Kernel &kernel, const cuda::Launch &launch, double flops,
                               llvm::ArrayRef<mlir::Value> inputs,
                               llvm::ArrayRef<mlir::Value> outputs,
                               llvm::ArrayRef<mlir::Value> scratch);

} // namespace dlc
#endif
