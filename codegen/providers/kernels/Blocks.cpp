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

constexpr int64_t kWidest = 16;
/// Maximum number of bf16 parts per activation on AMX tiles, which rounds as much as other matmuls
/// on AMX tiles.
constexpr int64_t kMaxParts = 2;

/// Keys in dlc.parameters: lanes of the vectors, digits of each activation and, on AMX tiles, bf16
/// parts of each activation.
constexpr llvm::StringLiteral kLanes = "lanes", kDigits = "digits", kParts = "parts";

/// Kernel of this provider.
struct BlocksVariant {
  int64_t lanes, digits;
  std::optional<int64_t> parts; ///< set if the kernel uses AMX tiles
};

std::optional<LibraryCall> describe(Operation *op, const BlocksVariant &variant, std::string *why) {
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
  const bool isOnTiles = variant.parts.has_value();
  if (isOnTiles && !blocks::supportsTiles(plain.depth))
    return refuse("this processor has no AMX tiles, or they do not support blocks of this depth");
  if (blocks::getKernelLanes() < variant.lanes)
    return refuse("the vectors of this processor are shorter than those of the kernel");
  schema::BlocksKernel parameters = blocks::buildParameters(plain, variant.lanes, variant.digits);
  parameters.parts = variant.parts;
  MatmulKernel kernel{.library = "blocks",
                      .implementation =
                          isOnTiles
                              ? blocks::kTilesName
                              : "blocks:" + std::string(runtime::getKernelSetName(variant.lanes)),
                      .parameters = parameters.toJson()};
  kernel.pack = [=](const ref::Tensor &, bool, int64_t k, int64_t n) {
    std::string layout = llvm::formatv("blocks:{0}x{1}x{2}:{3}", k, n, plain.depth, plain.bits);
    return makePackedArgument(int64_t(blocks::packedBytes(plain, parameters)), layout,
                              [=](void *to) {
                                const std::vector<int8_t> numbers = shared->numbers();
                                blocks::BlockQuantizedWeights whole = plain;
                                whole.numbers = numbers.data();
                                blocks::packWeights(whole, parameters, to);
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

double estimateTilesTime(const LibraryCall &call, const schema::Product &product,
                         const schema::BlocksKernel &kernel, const CostModel &cost) {
  const Machine &machine = cost.machine;
  double m = double(product.m), n = double(product.n), k = double(product.k),
         parts = double(*kernel.parts), depth = double(kernel.block),
         cores = cost.coresFor(call.flops), batches = countBatches(product);
  double rate =
      machine.tileGflops * laneShare(m, machine.tileRows) * laneShare(n, machine.tileColumns);
  double passes = std::ceil(m / double(blocks::countRowsOnTiles(product.k, *kernel.parts)));
  double sums = batches * m * n * std::ceil(k / depth) / kSumsPerResult;
  double split = batches * k * (m * parts + passes * n / kWeightsPerPart) / 2;
  double products = call.flops * parts / rate + (sums + batches * m * n) / machine.tileResults +
                    split / machine.splitParts;
  return std::max(products / cores, cost.traffic(call.bytes, cores)) + 1000 * machine.tileCall;
}

class BlocksProvider : public Provider {
public:
  BlocksProvider()
      : Provider(
            {.name = "blocks",
             .description = "products by weights of four or eight bits in blocks with scales"}) {}

  void propose(CandidateCollector &collector) const override {
    const int64_t lanes = blocks::getKernelLanes();
    if (!collector.fusion || !findQuantizedMatmul(collector.fusion) || !lanes)
      return;
    const int64_t digits = chooseDigitCount(collector.fusion, collector.selection.accuracy);
    std::string why;
    if (!add(collector, {lanes, digits, std::nullopt}, &why) && !why.empty())
      collector.refuse(about.name, why);
    if (collector.selection.target.has(runtime::Feature::AmxBf16) &&
        countRows(collector.fusion) >= kMinOnTiles)
      add(collector, {kWidest, digits, std::min(digits, kMaxParts)}, nullptr);
  }
  std::optional<LibraryCall> call(Operation *op, DictionaryAttr parameters, int,
                                  std::string *why) const override {
    auto get = [&](StringRef key) {
      return parameters ? parameters.getAs<IntegerAttr>(key) : IntegerAttr();
    };
    IntegerAttr lanes = get(kLanes), digits = get(kDigits), parts = get(kParts);
    if (!lanes || !digits)
      return Refusal{why}(
          "required: 'lanes' and 'digits' in dlc.parameters, for kernels of blocks");
    return describe(
        op, {lanes.getInt(), digits.getInt(), parts ? std::optional(parts.getInt()) : std::nullopt},
        why);
  }

private:
  /// Adds a candidate. Returns false and sets `why`, if it is not null, if there is no such kernel.
  bool add(CandidateCollector &collector, const BlocksVariant &variant, std::string *why) const {
    auto call = describe(collector.op, variant, why);
    if (!call)
      return false;
    Builder b(collector.op->getContext());
    auto number = [&](StringRef key, int64_t value) {
      return b.getNamedAttr(key, b.getI64IntegerAttr(value));
    };
    SmallVector<NamedAttribute> parameters{number(kLanes, variant.lanes),
                                           number(kDigits, variant.digits)};
    if (variant.parts)
      parameters.push_back(number(kParts, *variant.parts));
    collector.add(about.name, *call, estimate(*call, collector.cost),
                  b.getDictionaryAttr(parameters));
    return true;
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const {
    const Machine &machine = cost.machine;
    const auto product = schema::Product::read(call.desc, call.library);
    const auto kernel = schema::BlocksKernel::read(call.desc, call.library);
    if (kernel.parts)
      return cost.ended(call, estimateTilesTime(call, product, kernel, cost));
    // A VNNI instruction multiplies and adds nearly four times as many values as an f32 FMA, but is
    // executed once per digit. The sums of a quantization block are then converted and scaled,
    // which takes as long as multiplying kPerBlock elements. AVX2 needs three instructions: two
    // multiplications and an addition.
    constexpr double kVnni = 3.7, kPerBlock = 7, kUnpacking = 0.2;
    double digits = double(kernel.digits), depth = double(kernel.block), k = double(product.k),
           cores = cost.coresFor(call.flops);
    const bool hasVnni = kernel.lanes == 16;
    double rate = machine.vectorsGflops * laneShare(double(product.n), cost.lanes) *
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
