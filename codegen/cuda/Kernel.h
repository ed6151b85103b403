//===- Kernel.h - a fusion as CUDA C++ text and its launches --------------===//
#ifndef DLC_CODEGEN_CUDA_KERNEL_H
#define DLC_CODEGEN_CUDA_KERNEL_H

#include "ir/dlc/Dialect.h"

#include <array>
#include <string>
#include <vector>

namespace dlc::cuda {

struct KernelOptions {
  /// Number of the GPU's multiprocessors, from which the number of thread blocks is chosen.
  int multiprocessors = 132;
  /// Alignment in bytes of each buffer's address (inputs, then outputs); empty: 16 for all.
  std::vector<int64_t> alignments;
  /// Whether f32 matmuls may round their operands to tf32 (`--matmul-precision=high`).
  bool tf32 = false;
  /// Maximum shared memory of a thread block in bytes.
  int64_t sharedBytes = 99 << 10;
  /// Whether the GPU has warpgroup matrix instructions (wgmma, sm_90a).
  bool warpgroups = false;
  /// Whether tensor cores multiply 8-bit integers (sm_80 and later).
  bool bytes = true;
};

/// One buffer of a launch: an input or output of the fusion, or scratch memory of the kernel.
struct LaunchArgument {
  enum class Kind { Input, Output, Scratch } kind = Kind::Input;
  unsigned index = 0;
  bool written = false;
};

struct Launch {
  std::string function;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t shared = 0; ///< bytes of dynamic shared memory
  std::vector<LaunchArgument> arguments;
};

/// Kernel launches of a fusion, in order. Each launch may read what the previous ones have written.
struct Kernel {
  /// CUDA C++ text. It uses prelude.cuh and includes other files of codegen/cuda/kernels.
  std::string text;
  std::vector<Launch> launches;
  std::vector<int64_t> scratch; ///< bytes of each scratch buffer
  /// Pairs (output, input) that may share a buffer.
  std::vector<std::pair<unsigned, unsigned>> inplace;
  double flops = 0, bytes = 0;
};

/// Returns whether an operation outside of fusions is compiled to a generated kernel: a fusion, or
/// an operation that can be wrapped in a fusion.
bool isKernelOp(mlir::Operation *op);
/// Returns whether the operation is a convolution, or a gradient of one, with few channels per
/// group. Such an operation is memory bound and is computed window by window instead of as a tiled
/// matmul.
bool hasWindowKernel(mlir::Operation *op, bool channelsLast);
/// Returns the operation if it is a fusion; otherwise creates an equivalent fusion before it and
/// returns that.
FusionOp wrapInFusion(mlir::OpBuilder &b, mlir::Operation *op);

/// Returns whether CUDA code can be generated for every operation of the fusion. If not, `why` is
/// the reason.
bool canGenerate(FusionOp fusion, std::string *why = nullptr);

/// Returns the CUDA text and the launches of a normalized fusion (codegen/cpu/Normalize.h). The
/// functions are named `name`, `name_1`, ... If the results have no elements, there are no
/// launches.
mlir::FailureOr<Kernel> generateKernel(FusionOp fusion, llvm::StringRef name,
                                       const KernelOptions &options);

} // namespace dlc::cuda
#endif
