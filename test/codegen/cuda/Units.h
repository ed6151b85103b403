//===- Units.h - fusions of conformance cases as runnable CUDA kernels -------===//
#ifndef DLC_TEST_CODEGEN_CUDA_UNITS_H
#define DLC_TEST_CODEGEN_CUDA_UNITS_H

#include "codegen/cuda/Kernel.h"
#include "test/conformance/Runner.h"

namespace dlc::cudatest {

/// A fusion: its kernel, inputs and expected results.
struct Unit {
  std::string name;
  cuda::Kernel kernel;
  size_t
      first; ///< index of the first unit with the same source, whose functions this unit launches
  std::vector<ref::Tensor> inputs, expected;
  conformance::Tolerance tolerance;
};

/// Appends every fusion of the cases, compiled for cuda:0, with the operands that it has in the
/// case. Kernels that cannot be generated are reported to `failed`.
void collectUnits(mlir::MLIRContext &context, llvm::ArrayRef<conformance::Case> cases, bool tf32,
                  std::vector<Unit> &units,
                  llvm::function_ref<void(const std::string &name, const std::string &why)> failed);

} // namespace dlc::cudatest
#endif
