//===- Tiles.cpp - f32 matmuls split into bf16 parts on AMX tiles ---------===//
//
// Each f32 product is replaced by three products of two bf16 parts, or six products of three parts
// (runtime/library/tiles). Weight gradients of bf16 operands use a single part.
//
//===----------------------------------------------------------------------===//
#include "codegen/providers/kernels/Tiles.h"

#include "codegen/providers/Accuracy.h"
#include "codegen/providers/kernels/Grouped.h"
#include "codegen/providers/kernels/MatmulCall.h"
#include "ir/dlc/Attributes.h"
#include "runtime/library/tiles/Describe.h"

using namespace mlir;

namespace dlc {

namespace tiles_desc {

const char *implementationOf(int parts) { return parts == 2 ? "tiles:bf16x3" : "tiles:bf16x6"; }

CallArgument packedWeights(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n,
                           int parts) {
  return packedMatrix(plain, transposed, k, n, tiles::packedBytes(k, n, parts), "tiles", parts,
                      [=](const float *from, int64_t row, int64_t column, void *to) {
                        tiles::packWeights(from, row, column, k, n, parts, to);
                      });
}

} // namespace tiles_desc

namespace {

nlohmann::json parametersOf(int parts) {
  schema::TilesKernel kernel;
  kernel.parts = parts;
  return kernel.toJson();
}

std::optional<LibraryCall> describeTilesCall(Operation *op, int parts, std::string *why) {
  Refusal refuse{why};
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion && !isGrouped(op))
    return refuse("the operation is not a fusion");
  if (!tiles::isAvailable())
    return refuse("this processor has no AMX tiles for bf16");
  if (!fusion) {
    products::KernelConfig config = tiles::makeKernelConfig(parts);
    MatmulKernel kernel{
        .library = "tiles", .implementation = config.name, .parameters = parametersOf(parts)};
    return groupedProduct(op, kernel, &config, refuse);
  }
  if (!hasMatmul(fusion))
    return tiles_desc::describeTilesConvolution(fusion, parts, refuse);
  auto product = describeMatmul(fusion, /*own=*/true, refuse);
  if (!product)
    return std::nullopt;
  MatmulKernel kernel{.library = "tiles",
                      .implementation = tiles_desc::implementationOf(parts),
                      .parameters = parametersOf(parts),
                      .fusesPrologue = true};
  kernel.pack = [parts](const ref::Tensor &plain, bool transposed, int64_t k, int64_t n) {
    return tiles_desc::packedWeights(plain, transposed, k, n, parts);
  };
  return matmulCall(
      *product, kernel, [](const MatmulSizes &) { return true; }, refuse);
}

double getParts(const LibraryCall &call) {
  return double(schema::TilesKernel::read(call.desc, call.library).parts);
}

double estimateMatmulTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const auto product = schema::Product::read(call.desc, call.library);
  double m = double(product.m), n = double(product.n), k = double(product.k),
         parts = getParts(call);
  double batches = countBatches(product), cores = cost.coresFor(call.flops);
  double rate = machine.tileGflops * laneShare(m, machine.tileRows) *
                laneShare(n, machine.tileColumns) * laneShare(k, machine.tileDepth);
  double products = call.flops * parts * (parts + 1) / 2 / (rate * cores) +
                    batches * m * n / (machine.tileResults * cores);
  // If the whole batch shares the right operand, the operand is split into parts only once.
  double split = (batches * m * k + countPackedRightElements(product)) * parts / 2 /
                 (machine.splitParts * cores);
  return std::max(products + split, cost.traffic(call.bytes, cores));
}

/// Estimated nanoseconds of a grouped matmul, in which each group of rows starts a new tile block.
double estimateGroupedTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const auto grouped = schema::Grouped::read(call.desc, call.library);
  double m = double(grouped.rows), n = double(grouped.n), k = double(grouped.k),
         parts = getParts(call), groups = double(grouped.groups);
  bool isGradient = grouped.kind == schema::GroupedKind::Gradient;
  double cores = cost.coresFor(call.flops), each = getRowsPerGroup(grouped);
  double rate = machine.tileGflops *
                (isGradient ? laneShare(k, machine.tileRows) * laneShare(each, machine.tileDepth)
                            : laneShare(each, machine.tileRows) * laneShare(k, machine.tileDepth)) *
                laneShare(n, machine.tileColumns);
  double results = isGradient ? groups * k * n : m * n;
  double matrices = isGradient ? m * n : std::min(m, groups) * k * n;
  bool packs = isGradient || mustPackMatrices(grouped, tiles::makeKernelConfig(int(parts)));
  double split = m * k + (packs ? matrices : 0);
  double nanoseconds = call.flops * parts * (parts + 1) / 2 / (rate * cores) +
                       results / (machine.tileResults * cores) +
                       split * parts / 2 / (machine.splitParts * cores);
  return std::max(nanoseconds, cost.traffic(call.bytes, cores));
}

/// Returns true if `--matmul-precision` permits bf16 for a matmul even under strict accuracy.
bool permitsBf16Matmul(FusionOp fusion) {
  return llvm::any_of(fusion.getBody().front(),
                      [](Operation &op) { return isa<MatmulOp>(op) && op.hasAttr(kMathAttr); });
}

double estimateTime(const LibraryCall &call, const CostModel &cost) {
  switch (schema::MatmulCall::read(call.desc, call.library).kind) {
  case schema::MatmulKind::Product:
    return estimateMatmulTime(call, cost);
  case schema::MatmulKind::Convolution:
    return tiles_desc::estimateWindowTime(call, cost);
  case schema::MatmulKind::WeightGradient:
    return tiles_desc::estimateGradientTime(call, cost);
  case schema::MatmulKind::GroupedProduct:
  case schema::MatmulKind::GroupedGradient:
    break;
  }
  return estimateGroupedTime(call, cost);
}

class TilesProvider : public CallProvider {
public:
  TilesProvider()
      : CallProvider({.name = "tiles",
                      .description = "f32 matmuls and convolutions as bf16 matmuls on AMX tiles",
                      .parameter = "parts",
                      .fusesPrologue = true}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    FusionOp fusion = collector.fusion;
    if (!(fusion || isGrouped(collector.op)) ||
        !collector.selection.target.has(runtime::Feature::AmxBf16))
      return {};
    if (!fusion)
      return waysOfGroups(collector);
    // Whether an operand has the type bf16. The kernels do not round such an operand, so that even
    // strict accuracy permits them.
    bool isNarrow = llvm::any_of(fusion.getInputs(), [](Value value) {
      return cast<RankedTensorType>(value.getType()).getElementType().isBF16();
    });
    if (isStrict(collector) && !permitsBf16Matmul(fusion) && !isNarrow)
      return collector.refuse(about.name, kForbidden), SmallVector<int64_t>();
    return {2, 3};
  }
  std::optional<LibraryCall> make(Operation *op, int64_t parts, int,
                                  std::string *why) const override {
    return describeTilesCall(op, int(parts), why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    return cost.ended(call, estimateTime(call, cost) + 1000 * cost.machine.tileCall);
  }
  bool sharesUnits(StringRef) const override { return true; }

private:
  /// Returns the candidate numbers of bf16 parts per operand of a grouped matmul: 1 for bf16
  /// operands, which are not rounded further, and 2 or 3 for f32 operands.
  SmallVector<int64_t> waysOfGroups(CandidateCollector &collector) const {
    Type element = typeOf(collector.op->getOperand(0)).getElementType();
    if (element.isBF16())
      return {1};
    if (!element.isF32())
      return {};
    if (isStrict(collector) && !collector.op->hasAttr(kMathAttr))
      return collector.refuse(about.name, kForbidden), SmallVector<int64_t>();
    return {2, 3};
  }
};

} // namespace

const Provider &provide::tiles() {
  static const TilesProvider provider;
  return provider;
}

} // namespace dlc
