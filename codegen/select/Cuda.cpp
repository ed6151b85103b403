//===- Cuda.cpp - kernels that could do an operation on a GPU -------------===//
#include "codegen/lower/GpuKernel.h"
#include "codegen/select/Candidates.h"
#include "passes/place/Cost.h"

using namespace mlir;

namespace dlc {

/// Of a generated product's rate.
constexpr double libraryGain = 1.5;

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
  std::vector<Candidate> candidates = {{"cuda", "cuda", estimate, std::nullopt}};
  // A program that calls a library needs it wherever it runs: what is not here is not counted on.
  if (!hasCublasLt())
    return candidates;
  if (auto call = cublasLtCall(op, &why)) {
    // Products of a library come nearer to the limit; what it does not fuse it does not have.
    double rate = gpu.gigaflops * libraryGain;
    candidates.push_back(
        {"cublaslt", "cublaslt",
         gpu.launch + std::max(call->flops / rate, call->bytes / gpu.gigabytes) * 1e-3,
         std::nullopt});
  }
  llvm::stable_sort(candidates, [](auto &x, auto &y) { return x.estimate < y.estimate; });
  return candidates;
}

} // namespace dlc
