//===- Blocks.cpp - matmuls with constant block-quantized weights ---------===//
//
// runtime/library/blocks reads the weights in their quantized form. This saves memory bandwidth,
// which limits the speed if few rows are multiplied by many weights.
//
//===----------------------------------------------------------------------===//
#include "codegen/providers/Provider.h"
#include "codegen/providers/kernels/MatmulCall.h"
#include "ir/dlc/Attributes.h"
#include "runtime/library/blocks/Describe.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

namespace {

/// Returns the number of base-256 digits that represent each quantized activation
/// (runtime/library/blocks/Kernels.h): as accurate as f32, or fewer if the model or the accuracy
/// option permits it.
int64_t chooseDigitCount(FusionOp fusion, StringRef accuracy) {
  auto allowed = findQuantizedMatmul(fusion)->getAttrOfType<StringAttr>(kActivationsAttr);
  return allowed && allowed == "int8" ? 1 : accuracy == "fast" ? 2 : blocks::kMaxDigits;
}

/// A kernel is identified by the integer kDigits * lanes + digits. For a kernel on AMX tiles,
/// kOnTiles replaces the vector lanes, and activations are split into bf16 parts instead of digits.
constexpr int64_t kDigits = 10, kWidest = 16, kOnTiles = 32;

/// Returns the number of bf16 parts per activation: at most two, which rounds as much as other
/// matmuls on AMX tiles.
int64_t partsFor(int64_t digits) { return std::min<int64_t>(digits, 2); }

std::optional<LibraryCall> describe(Operation *op, int64_t lanes, int64_t digits,
                                    std::string *why) {
  Refusal refuse{why};
  auto fusion = dyn_cast<FusionOp>(op);
  auto weights = fusion ? readQuantizedWeights(fusion) : std::nullopt;
  if (!weights)
    return refuse("the operation is not a matmul by quantized weights");
  auto product = describeQuantizedMatmul(fusion, refuse);
  if (!product)
    return std::nullopt;
  const auto shared = std::make_shared<QuantizedWeights>(std::move(*weights));
  const blocks::BlockQuantizedWeights plain{.n = shared->n,
                                            .blocks = shared->blocks,
                                            .depth = shared->depth,
                                            .bits = shared->bits,
                                            .scales = shared->scales.data(),
                                            .zeros = shared->zeros.empty() ? nullptr
                                                                           : shared->zeros.data()};
  const bool isOnTiles = lanes == kOnTiles;
  if (isOnTiles && !blocks::supportsTiles(plain.depth))
    return refuse("this processor has no AMX tiles, or they do not support blocks of this depth");
  lanes = std::min(lanes, kWidest);
  if (blocks::getKernelLanes() < lanes)
    return refuse("the vectors of this processor are shorter than those of the kernel");
  MatmulKernel kernel{.library = "blocks",
                      .implementation = isOnTiles     ? blocks::kTilesName
                                        : lanes == 16 ? "blocks:avx512"
                                                      : "blocks:avx2",
                      .parameters = blocks::buildParameters(plain, lanes, digits)};
  if (isOnTiles)
    kernel.parameters["parts"] = partsFor(digits);
  kernel.pack = [=](const ref::Tensor &, bool, int64_t k, int64_t n) {
    std::string layout = llvm::formatv("blocks:{0}x{1}x{2}:{3}", k, n, plain.depth,
                                       kernel.parameters["bits"].get<int64_t>());
    return makePackedArgument(int64_t(blocks::packedBytes(plain, kernel.parameters)), layout,
                              [=](void *to) {
                                const std::vector<int8_t> numbers = shared->numbers();
                                blocks::BlockQuantizedWeights whole = plain;
                                whole.numbers = numbers.data();
                                blocks::packWeights(whole, kernel.parameters, to);
                              });
  };
  return matmulCall(
      *product, kernel, [](const MatmulSizes &sizes) { return !sizes.isTransposed; }, refuse);
}

/// Minimum number of rows for kernels on AMX tiles; with fewer rows, too little of each tile is
/// used.
constexpr int64_t kMinOnTiles = 5;

int64_t countRows(FusionOp fusion) {
  return typeOf(findQuantizedMatmul(fusion).getY()).getShape().drop_back().back();
}

/// Ratios of rates. Sums of a quantization block are added to a row's sums kSumsPerResult times as
/// fast as results are stored (machine.tileResults). Weights are dequantized kWeightsPerPart times
/// as fast as f32 operands are split into bf16 parts (machine.splitParts).
constexpr double kSumsPerResult = 8, kWeightsPerPart = 4;

double estimateTilesTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  double m = call.desc["m"], n = call.desc["n"], k = call.desc["k"], parts = call.desc["parts"],
         depth = call.desc["block"], cores = cost.coresFor(call.flops),
         batches = countBatches(call);
  double rate =
      machine.tileGflops * laneShare(m, machine.tileRows) * laneShare(n, machine.tileColumns);
  double passes = std::ceil(m / double(blocks::countRowsOnTiles(int64_t(k), int64_t(parts))));
  double sums = batches * m * n * std::ceil(k / depth) / kSumsPerResult;
  double split = batches * k * (m * parts + passes * n / kWeightsPerPart) / 2;
  double products = call.flops * parts / rate + (sums + batches * m * n) / machine.tileResults +
                    split / machine.splitParts;
  return std::max(products / cores, cost.traffic(call.bytes, cores)) + 1000 * machine.tileCall;
}

class BlocksProvider : public CallProvider {
public:
  BlocksProvider()
      : CallProvider(
            {.name = "blocks",
             .description = "products by weights of four or eight bits in blocks with scales",
             .parameter = "lanesAndDigits"}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    int64_t lanes = blocks::getKernelLanes();
    if (!collector.fusion || !findQuantizedMatmul(collector.fusion) || !lanes)
      return {};
    int64_t digits = chooseDigitCount(collector.fusion, collector.selection.accuracy);
    SmallVector<int64_t> all{kDigits * lanes + digits};
    if (collector.selection.target.has(runtime::Feature::AmxBf16) &&
        countRows(collector.fusion) >= kMinOnTiles)
      all.push_back(kDigits * kOnTiles + digits);
    return all;
  }
  std::optional<LibraryCall> make(Operation *op, int64_t variant, int,
                                  std::string *why) const override {
    return describe(op, variant / kDigits, variant % kDigits, why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    const Machine &machine = cost.machine;
    if (call.desc.contains("parts"))
      return cost.ended(call, estimateTilesTime(call, cost));
    // A VNNI instruction multiplies and adds nearly four times as many values as an f32 FMA, but is
    // executed once per digit. The sums of a quantization block are then converted and scaled,
    // which takes as long as multiplying kPerBlock elements. AVX2 needs three instructions: two
    // multiplications and an addition.
    constexpr double kVnni = 3.7, kPerBlock = 7, kUnpacking = 0.2;
    double digits = call.desc["digits"], depth = call.desc["block"], k = call.desc["k"],
           cores = cost.coresFor(call.flops);
    const bool hasVnni = StringRef(call.implementation).contains("avx512");
    double rate = machine.vectorsGflops * laneShare(call.desc["n"], cost.lanes) *
                  (hasVnni ? kVnni / (digits * (1 + kPerBlock / depth) + kUnpacking)
                           : 4.0 / 3 / (digits + 1));
    double flops = call.flops * std::ceil(k / depth) * depth / k;
    return cost.ended(call, std::max(flops / (rate * cores), cost.traffic(call.bytes, cores)));
  }
};

} // namespace

const Provider &provide::blocks() {
  static const BlocksProvider provider;
  return provider;
}

} // namespace dlc
