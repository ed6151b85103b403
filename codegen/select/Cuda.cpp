//===- Cuda.cpp - kernels that could do an operation on a GPU -------------===//
#include "codegen/lower/GpuKernel.h"
#include "codegen/select/Candidates.h"
#include "passes/place/Cost.h"

#include <cmath>

using namespace mlir;

namespace dlc {

/// Of a generated product's rate.
constexpr double libraryGain = 1.5;

/// Of a library's proposals, how many are worth a measurement; and what the library holds of each
/// that is not its first.
constexpr int kProposals = 4;
constexpr double kLater = 1.02;

std::optional<LibraryCall> gpuLibraryCall(Operation *op, StringRef library,
                                          StringRef implementation, std::string *why) {
  auto call = library == "cudnn" ? cudnnCall(op, why) : cublasLtCall(op, why);
  int number = 0;
  if (call && !implementation.rsplit('#').second.getAsInteger(10, number)) {
    call->desc[library == "cudnn" ? "engine" : "algorithm"] = number;
    call->implementation = implementation.str();
  }
  return call;
}

std::vector<Candidate> gpuCandidatesFor(Operation *op, StringRef device, bool every,
                                        std::string &refusals) {
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
  auto add = [&](const LibraryCall &call) {
    // Products of a library come nearer to the limit; what it does not fuse it does not have.
    double rate = gpu.gigaflops * libraryGain;
    double first = gpu.launch + std::max(call.flops / rate, call.bytes / gpu.gigabytes) * 1e-3;
    candidates.push_back({call.library, call.implementation, first, std::nullopt});
    for (int i = 2; every && i <= kProposals; ++i)
      candidates.push_back({call.library, call.library + "#" + std::to_string(i),
                            first * std::pow(kLater, i - 1), std::nullopt});
  };
  if (hasCublasLt())
    if (auto call = cublasLtCall(op, &why))
      add(*call);
  // Which graphs cuDNN has an engine for only the GPU can tell.
  if (hasCudnn())
    if (auto call = cudnnCall(op, &why); call && deviceTakes(device.str(), *call, &why))
      add(*call);
  llvm::stable_sort(candidates, [](auto &x, auto &y) { return x.estimate < y.estimate; });
  return candidates;
}

} // namespace dlc
