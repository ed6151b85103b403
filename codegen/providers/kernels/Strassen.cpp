//===- Strassen.cpp - f32 matmuls by Strassen's algorithm -----------------===//
//
// One level of Strassen's algorithm in Winograd's form, with seven multiplications instead of
// eight. It is faster, but its rounding errors scale with the largest results (docs/accuracy.md).
//
//===----------------------------------------------------------------------===//
#include "codegen/providers/Accuracy.h"
#include "codegen/providers/kernels/Vectors.h"
#include "runtime/library/vectors/Describe.h"

#include <cmath>

using namespace mlir;

namespace dlc {

namespace {

std::optional<LibraryCall> describeStrassenCall(Operation *op, int64_t lanes, std::string *why) {
  Refusal refuse{why};
  auto product = describeForVectors(op, lanes, refuse);
  if (!product)
    return std::nullopt;
  MatmulKernel kernel = makeVectorKernel("strassen", lanes, /*strassen=*/true);
  auto supports = [&](const MatmulSizes &sizes) {
    bool fits = !sizes.isTransposed && !sizes.isBatch && sizes.m >= products::kStrassenRows &&
                sizes.n > 2 * lanes && sizes.k >= 2;
    if (!fits)
      refuse("the matmul is batched, column-major, or too small for Strassen's algorithm");
    return fits;
  };
  return matmulCall(*product, kernel, supports, refuse);
}

class StrassenProvider : public CallProvider {
public:
  StrassenProvider()
      : CallProvider({.name = "strassen",
                      .description = "f32 matmuls by Strassen's algorithm",
                      .parameter = "lanes"}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    if (!collector.fusion || !supportsVectorKernels(collector))
      return {};
    if (isStrict(collector))
      return collector.refuse(about.name, kForbidden), SmallVector<int64_t>();
    return {getVectorKernelLanes(collector)};
  }
  std::optional<LibraryCall> make(Operation *op, int64_t lanes, int,
                                  std::string *why) const override {
    return describeStrassenCall(op, lanes, why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    const Machine &machine = cost.machine;
    const auto product = schema::Product::read(call.desc, call.library);
    double m = double(product.m), n = double(product.n), k = double(product.k);
    double rate = machine.vectorsGflops * laneShare(n, cost.lanes) *
                  std::min(1.0, machine.oneRow + machine.eachRow * m);
    // Strassen's algorithm splits the columns into two halves and pads each to a multiple of the
    // kernel's column block (two vectors). The fraction of used lanes is therefore that of columns
    // padded to a multiple of four vectors.
    rate *= machine.strassenGain * laneShare(n, 4 * cost.lanes) / laneShare(n, cost.lanes);
    // All threads pack the left operand before any multiplication starts.
    bool isAcross = product.a.back() != 1;
    double packed = m * k / (isAcross ? machine.vectorsAcross : machine.vectorsPacked);
    packed += countPackedRightElements(product) / machine.vectorsPacked;
    packed = packed * machine.strassenPacking +
             m * n * std::ceil(k / machine.strassenDepth) / machine.strassenResults;
    double nanoseconds = (call.flops / rate + packed) / cost.coresFor(call.flops);
    return addWeightStreamingTime(call, nanoseconds, cost);
  }
};

} // namespace

const Provider &provide::strassen() {
  static const StrassenProvider provider;
  return provider;
}

} // namespace dlc
