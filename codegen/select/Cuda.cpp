//===- Cuda.cpp - kernels that could do an operation on a GPU -------------===//
#include "codegen/lower/GpuKernel.h"
#include "codegen/select/Candidates.h"
#include "passes/place/Cost.h"

using namespace mlir;

namespace dlc {

std::vector<Candidate> gpuCandidatesFor(Operation *op, StringRef device, std::string &refusals) {
  std::string why;
  OpBuilder b(op);
  FusionOp fusion = cuda::wrapInFusion(b, op);
  bool can = cuda::canGenerate(fusion, &why);
  double flops = 0, bytes = trafficOf(fusion);
  for (Operation &inner : fusion.getBody().front().without_terminator())
    flops += flopsOf(&inner);
  if (fusion != op)
    fusion.erase();
  if (!can) {
    refusals += "; cuda: " + why + "; place it on cpu (--place NAME=cpu)";
    return {};
  }
  DeviceFigures gpu = CostTable::builtin().figuresOf(*OnAttr::fromName(op->getContext(), device));
  double estimate = gpu.launch + std::max(flops / gpu.gigaflops, bytes / gpu.gigabytes) * 1e-3;
  return {{"cuda", "cuda", estimate, std::nullopt}};
}

} // namespace dlc
