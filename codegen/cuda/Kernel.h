//===- Kernel.h - a fusion as CUDA C++ text and its launches ---------------===//
#ifndef DLC_CODEGEN_CUDA_KERNEL_H
#define DLC_CODEGEN_CUDA_KERNEL_H

#include "ir/dlc/Dialect.h"

#include <array>
#include <string>
#include <vector>

namespace dlc::cuda {

struct KernelOptions {
  /// How many blocks fill the device is counted in these.
  int multiprocessors = 132;
  /// Bytes that the address of each buffer (inputs, then outputs) is a multiple of; none: 16 each.
  std::vector<int64_t> alignments;
  /// Products of f32 may round their operands to tf32, as `--matmul-precision=high` says.
  bool tf32 = false;
  /// Of shared memory that a block may have, in bytes.
  int64_t sharedBytes = 99 << 10;
  /// Whether there are products of four warps at a time (sm_90a).
  bool warpgroups = false;
  /// Whether tensor cores multiply integers of 8 bits (sm_80 and later).
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

/// Launches in order; each sees what those before it have written.
struct Kernel {
  std::string text;       ///< without the prelude
  bool tiles = false;     ///< needs the tile prelude
  bool attention = false; ///< and what attention needs beside it
  std::vector<Launch> launches;
  std::vector<int64_t> scratch;                       ///< bytes
  std::vector<std::pair<unsigned, unsigned>> inplace; ///< (output, input) that may be one buffer
  double flops = 0, bytes = 0;
};

/// Whether the operation, outside of any fusion, is a kernel's work: a fusion, or one that becomes
/// a fusion by itself.
bool isKernel(mlir::Operation *op);
/// Whether a convolution, or its gradient, is of groups of few channels, whose windows are read at
/// memory's speed rather than products.
bool isWindowed(mlir::Operation *op, bool channelsLast);
/// The operation as a fusion: itself, or a new one before it that computes the same.
FusionOp wrapInFusion(mlir::OpBuilder &b, mlir::Operation *op);

/// Whether every operation of the body has CUDA code. The reason goes into `why`.
bool canGenerate(FusionOp fusion, std::string *why = nullptr);

/// The text and launches of a normalised fusion (codegen/cpu/Normalize.h); functions are called
/// `name`, `name_1`, ... A kernel of a fusion without elements has no launches.
mlir::FailureOr<Kernel> generateKernel(FusionOp fusion, llvm::StringRef name,
                                       const KernelOptions &options);

} // namespace dlc::cuda
#endif
