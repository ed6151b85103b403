//===- Vectors.cpp - f32 matmuls in vector registers (runtime/library/vectors) ---===//
#include "codegen/providers/kernels/Vectors.h"
#include "codegen/providers/kernels/Grouped.h"
#include "runtime/library/vectors/Describe.h"

using namespace mlir;

namespace dlc {

MatmulKernel makeVectorKernel(StringRef name, int64_t lanes, bool strassen) {
  schema::VectorsKernel kernel;
  kernel.lanes = lanes;
  kernel.strassen = strassen;
  return {.library = "vectors",
          .implementation = (name + ":" + runtime::getKernelSetName(lanes)).str(),
          .parameters = kernel.toJson()};
}

bool supportsVectorKernels(const CandidateCollector &collector) {
  using namespace runtime;
  return collector.selection.target.has(Feature::Fma) ||
         getKernelSet(vectors::lanes()) == InstructionSet::Scalar;
}

int64_t getVectorKernelLanes(const CandidateCollector &collector) {
  return std::max<int64_t>(8, collector.selection.target.lanes32());
}

std::optional<MatmulDescription> describeForVectors(Operation *op, int64_t lanes,
                                                    const Refusal &refuse) {
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion || !hasMatmul(fusion))
    return refuse("the operation is not a matmul");
  if (vectors::lanes() < lanes)
    return refuse("the vectors of this processor are shorter than those of the kernel");
  return describeMatmul(fusion, /*own=*/true, refuse);
}

namespace {

std::optional<LibraryCall> describeVectorsCall(Operation *op, int64_t lanes, std::string *why) {
  Refusal refuse{why};
  if (isGrouped(op)) {
    if (vectors::lanes() < lanes)
      return refuse("the vectors of this processor are shorter than those of the kernel");
    products::KernelConfig config = vectors::makeGroupedConfig(lanes);
    // Matrices of type bf16 are not packed: as f32 they would take twice the memory.
    bool isNarrow = typeOf(op->getOperand(1)).getElementType().isBF16();
    return groupedProduct(op, makeVectorKernel("vectors", lanes), isNarrow ? nullptr : &config,
                          refuse);
  }
  auto product = describeForVectors(op, lanes, refuse);
  if (!product)
    return std::nullopt;
  MatmulKernel kernel = makeVectorKernel("vectors", lanes);
  kernel.pack = [lanes](const ref::Tensor &plain, bool transposed, int64_t k, int64_t n) {
    return packedMatrix(plain, transposed, k, n, vectors::packedBytes(k, n, lanes), "vectors",
                        lanes, [=](const float *from, int64_t row, int64_t column, void *to) {
                          vectors::packWeights(from, row, column, k, n, lanes, to);
                        });
  };
  return matmulCall(
      *product, kernel, [](const MatmulSizes &) { return true; }, refuse);
}

/// Estimated microseconds of a grouped matmul or its weight gradient.
double estimateGroupedTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const auto grouped = schema::Grouped::read(call.desc, call.library);
  double m = double(grouped.rows), n = double(grouped.n), k = double(grouped.k),
         groups = double(grouped.groups);
  bool isGradient = grouped.kind == schema::GroupedKind::Gradient;
  double cores = cost.coresFor(call.flops), rows = isGradient ? k : getRowsPerGroup(grouped);
  double rate = machine.vectorsGflops * laneShare(n, cost.lanes) *
                std::min(1.0, machine.oneRow + machine.eachRow * rows);
  bool isPacked = grouped.b == schema::Matrices::Packed;
  double packed =
      isGradient ? m * k / machine.vectorsAcross + m * n / machine.vectorsPacked
                 : (m * k + (isPacked ? 0 : std::min(m, groups) * k * n)) / machine.vectorsPacked;
  return addWeightStreamingTime(call, (call.flops / rate + packed) / cores, cost);
}

class VectorsProvider : public CallProvider {
public:
  VectorsProvider()
      : CallProvider(
            {.name = "vectors", .description = "f32 matmuls in vectors", .parameter = "lanes"}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    if (!(collector.fusion || isGrouped(collector.op)) || !supportsVectorKernels(collector))
      return {};
    if (!collector.fusion) {
      Type element = typeOf(collector.op->getOperand(0)).getElementType();
      if (!element.isF32() && !element.isBF16())
        return {};
    }
    return {getVectorKernelLanes(collector)};
  }
  std::optional<LibraryCall> make(Operation *op, int64_t lanes, int,
                                  std::string *why) const override {
    return describeVectorsCall(op, lanes, why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    if (schema::MatmulCall::read(call.desc, call.library).kind != schema::MatmulKind::Product)
      return estimateGroupedTime(call, cost);
    const Machine &machine = cost.machine;
    const auto product = schema::Product::read(call.desc, call.library);
    const auto kernel = schema::VectorsKernel::read(call.desc, call.library);
    double m = double(product.m), n = double(product.n), k = double(product.k);
    double cores = cost.coresFor(call.flops);
    double rate = machine.vectorsGflops * laneShare(n, cost.lanes) *
                  std::min(1.0, machine.oneRow + machine.eachRow * m);
    bool isAcross = product.a.back() != 1;
    bool ownRows =
        n <= products::panelColumns(vectors::makeKernelConfig(kernel.lanes, product.m), product.k);
    double packing = ownRows    ? machine.vectorsOwn
                     : isAcross ? machine.vectorsAcross
                                : machine.vectorsPacked;
    double packed =
        !isAcross && n <= vectors::kFewColumns ? 0 : countBatches(product) * m * k / packing;
    packed += countPackedRightElements(product) / machine.vectorsPacked;
    packed += countBatches(product) * machine.vectorsBatchNanoseconds;
    packed +=
        countBatches(product) * m * std::ceil(n / (2 * cost.lanes)) * machine.vectorsRowNanoseconds;
    return addWeightStreamingTime(call, (call.flops / rate + packed) / cores, cost);
  }
};

} // namespace

double addWeightStreamingTime(const LibraryCall &call, double nanoseconds, const CostModel &cost) {
  // Call overhead relative to that of a oneDNN call (machine.call), which is larger because oneDNN
  // looks up a primitive.
  constexpr double kOwnCall = 0.2;
  double cores = cost.coresFor(call.flops);
  nanoseconds +=
      cost.streamedWeights(call, nanoseconds, cost.machine.vectorsBesideGigabytes, cores);
  return cost.ended(std::max(nanoseconds, cost.traffic(call.bytes, cores)),
                    kOwnCall * cost.machine.call, cost.coresFor(call.flops + call.bytes));
}

const Provider &provide::vectors() {
  static const VectorsProvider provider;
  return provider;
}

} // namespace dlc
