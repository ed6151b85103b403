//===- Units.h - fusions of conformance cases, as CUDA kernels to be run -----===//
#ifndef DLC_TEST_CODEGEN_CUDA_UNITS_H
#define DLC_TEST_CODEGEN_CUDA_UNITS_H

#include "codegen/cuda/Kernel.h"
#include "test/conformance/Runner.h"

namespace dlc::cudatest {

/// One fusion: its kernel, what it is run on and what must come out.
struct Unit {
  std::string name;
  cuda::Kernel kernel;
  size_t first; ///< the first unit with the same text, whose functions this one launches
  std::vector<ref::Tensor> inputs, expected;
  conformance::Tolerance tolerance;
};

/// Every fusion that the cases become on cuda:0, with the operands that it has there. What cannot
/// be generated is told to `failed`.
void collectUnits(mlir::MLIRContext &context, llvm::ArrayRef<conformance::Case> cases, bool tf32,
                  std::vector<Unit> &units,
                  llvm::function_ref<void(const std::string &name, const std::string &why)> failed);

} // namespace dlc::cudatest
#endif
