//===- Cuda.cpp - generated GPU kernels -----------------------------------===//
#include "codegen/cuda/Kernel.h"
#include "codegen/cuda/contract/Bytes.h"
#include "codegen/cuda/contract/TileShape.h"
#include "codegen/providers/gpu/GpuLibrary.h"
#include "ir/dlc/Attributes.h"
#include "passes/layout/Alternatives.h"
#include "passes/place/Cost.h"

using namespace mlir;

namespace dlc {

namespace {

class CudaProvider : public Provider {
public:
  CudaProvider()
      : Provider({.name = "cuda",
                  .description = "generated GPU kernels",
                  .kind = KernelKind::Gpu,
                  .onGpu = true,
                  .family = "generated"}) {}

  void propose(CandidateCollector &collector) const override {
    std::string why;
    OpBuilder b(collector.op);
    FusionOp fusion = cuda::wrapInFusion(b, collector.op);
    bool can = cuda::canGenerate(fusion, &why);
    GpuCostParameters gpu = getGpuCostParameters(collector);
    double arithmetic = 0, bytes = estimateMemoryTraffic(fusion);
    for (Operation &inner : fusion.getBody().front().without_terminator())
      arithmetic += timeOf(&inner, gpu);
    if (fusion != collector.op)
      fusion.erase();
    if (!can)
      return collector.refuse(about.name, why + "; place it on cpu (--place NAME=cpu)");
    collector.add(
        {"cuda", "cuda", {}, kGpuLaunch + std::max(arithmetic, bytes / gpu.gigabytes * 1e-3)});
  }

private:
  /// Estimated microseconds of the operation's arithmetic, without memory traffic.
  static double timeOf(Operation *op, const GpuCostParameters &gpu) {
    GpuEfficiencies shares;
    // Depthwise convolutions are not computed as tiled matmuls.
    bool multiplies = op->hasTrait<Contraction>() && (isa<MatmulOp>(op) || !isDepthwise(op));
    if (!multiplies && !isa<AttentionInterface>(op))
      return estimateFlops(op) / (gpu.f32 * shares.elementwise) * 1e-3;
    bool isBytes = cuda::matchByteOperands(op).has_value();
    double rate =
        isBytes ? gpu.tensor8
                : getArithmeticRate(gpu, elementName(typeOf(op->getOperand(0)).getElementType()),
                                    op->hasAttr(kMathAttr));
    bool isTf32 = rate > gpu.f32 && typeOf(op->getOperand(0)).getElementType().isF32();
    double product = isBytes          ? shares.generatedBytes
                     : isTf32         ? shares.generatedTf32
                     : rate > gpu.f32 ? shares.generated
                                      : shares.generatedVectors;
    if (!multiplies)
      return estimateFlops(op) / (rate * (rate > gpu.f32 ? shares.attention : product)) * 1e-3;
    if (cuda::hasWindowKernel(op, !layoutOf(op->getOperand(0).getType()).empty()))
      return estimateFlops(op) / (gpu.f32 * shares.elementwise) * 1e-3;
    cuda::ContractionGeometry g = cuda::getContractionGeometry(op);
    // With channels last, operands are copied in vectors of kVector bytes; otherwise they are read
    // one element at a time.
    constexpr int64_t kVector = 16;
    int64_t bytes = isBytes ? 1 : ref::elementBytes(typeOf(op->getOperand(0)).getElementType());
    bool vectors = g.channelsLast && g.folded.front() * bytes % kVector == 0;
    double part = isa<MatmulOp>(op) ? 1
                  : vectors         ? shares.channelsLastPart
                  : isa<ConvOp>(op) ? shares.convolutionPart
                                    : shares.gradientPart;
    constexpr double kTransposed = 4;
    if (!layoutOf(op->getOperand(0).getType()).empty() && !vectors)
      part /= kTransposed;
    return GpuMatmulSizes{double(g.batches), double(g.rows), double(g.columns),
                          double(g.contracted), rate * product * part}
        .time(gpu);
  }
};

} // namespace

const Provider &provide::cuda() {
  static const CudaProvider provider;
  return provider;
}

} // namespace dlc
