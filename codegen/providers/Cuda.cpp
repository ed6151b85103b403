//===- Cuda.cpp - generated kernels on a GPU ------------------------------===//
#include "codegen/cuda/Kernel.h"
#include "codegen/providers/GpuLibrary.h"

using namespace mlir;

namespace dlc {

namespace {

class Cuda : public Provider {
public:
  Cuda()
      : Provider({.name = "cuda",
                  .does = "generated kernels on a GPU",
                  .form = KernelForm::Gpu,
                  .onGpu = true,
                  .family = "generated"}) {}

  void propose(Proposals &proposals) const override {
    std::string why;
    OpBuilder b(proposals.op);
    FusionOp fusion = cuda::wrapInFusion(b, proposals.op);
    bool can = cuda::canGenerate(fusion, &why);
    double flops = 0, bytes = trafficOf(fusion);
    bool isTurnedProduct = false;
    for (Operation &inner : fusion.getBody().front().without_terminator()) {
      flops += flopsOf(&inner);
      isTurnedProduct |=
          inner.hasTrait<Contraction>() && !layoutOf(inner.getOperand(0).getType()).empty();
    }
    if (fusion != proposals.op)
      fusion.erase();
    if (!can)
      return proposals.refuse(about.name, why + "; place it on cpu (--place NAME=cpu)");
    DeviceFigures gpu = gpuFigures(proposals);
    double time = gpu.launch + std::max(flops / gpu.gigaflops, bytes / gpu.gigabytes) * 1e-3;
    // Tiles of these are read element by element.
    constexpr double kTurned = 4;
    if (isTurnedProduct)
      time *= kTurned;
    proposals.add({"cuda", "cuda", {}, time});
  }
};

} // namespace

const Provider &provide::cuda() {
  static const Cuda provider;
  return provider;
}

} // namespace dlc
