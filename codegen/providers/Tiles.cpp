//===- Tiles.cpp - products of f32 in bf16 parts on a processor's tiles ----===//
//
// Three products of two parts, or six of three, stand for one of f32 (runtime/library/tiles);
// gradients by weights of bf16 are in one part.
//
//===----------------------------------------------------------------------===//
#include "codegen/providers/Tiles.h"

#include "codegen/providers/Accuracy.h"
#include "codegen/providers/OwnProduct.h"
#include "runtime/library/tiles/Describe.h"

using namespace mlir;

namespace dlc {

namespace tiles_desc {

const char *implementationOf(int parts) { return parts == 2 ? "tiles:bf16x3" : "tiles:bf16x6"; }

CallArgument packedWeights(const ref::Tensor &plain, bool turned, int64_t k, int64_t n, int parts) {
  return packedMatrix(plain, turned, k, n, tiles::packedBytes(k, n, parts), "tiles", parts,
                      [=](const float *from, int64_t row, int64_t column, void *to) {
                        tiles::packWeights(from, row, column, k, n, parts, to);
                      });
}

} // namespace tiles_desc

namespace {

struct Parameters {
  int parts;

  DictionaryAttr print(MLIRContext *context) const {
    Builder b(context);
    return b.getDictionaryAttr(b.getNamedAttr("parts", b.getI64IntegerAttr(parts)));
  }
  static Parameters parse(DictionaryAttr from) {
    auto parts = from ? from.getAs<IntegerAttr>("parts") : IntegerAttr();
    return {parts ? int(parts.getInt()) : 2};
  }
};

std::optional<LibraryCall> make(Operation *op, Parameters parameters, std::string *why) {
  Refusal no{why};
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion)
    return no("not a fusion");
  if (!tiles::available())
    return no("no tiles for bf16 (AMX) here");
  int parts = parameters.parts;
  if (!isProduct(fusion))
    return tiles_desc::convolution(fusion, parts, no);
  auto product = describeProduct(fusion, /*own=*/true, no);
  if (!product)
    return std::nullopt;
  OwnKernel kernel{.library = "tiles",
                   .implementation = tiles_desc::implementationOf(parts),
                   .parameters = {{"parts", parts}},
                   .makesOperands = true};
  kernel.pack = [parts](const ref::Tensor &plain, bool turned, int64_t k, int64_t n) {
    return tiles_desc::packedWeights(plain, turned, k, n, parts);
  };
  return ownProduct(
      *product, kernel, [](const OwnSizes &) { return true; }, no);
}

double productTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  double m = call.desc["m"], n = call.desc["n"], k = call.desc["k"], parts = call.desc["parts"];
  double batches = batchesOf(call), cores = cost.coresFor(call.flops);
  double rate = machine.tileGflops * laneShare(m, machine.tileRows) *
                laneShare(n, machine.tileColumns) * laneShare(k, machine.tileDepth);
  double products = call.flops * parts * (parts + 1) / 2 / (rate * cores) +
                    batches * m * n / (machine.tileResults * cores);
  // The right operand is split once where the whole batch shares it.
  double split = (batches * m * k + packedRight(call)) * parts / 2 / (machine.splitParts * cores);
  return std::max(products + split, cost.traffic(call.bytes, cores));
}

double estimate(const LibraryCall &call, const CostModel &cost) {
  double nanoseconds = call.desc["kind"] == "convolution" ? tiles_desc::windowTime(call, cost)
                       : call.desc["kind"] == "weight_gradient"
                           ? tiles_desc::gradientTime(call, cost)
                           : productTime(call, cost);
  return cost.ended(call, nanoseconds + 1000 * cost.machine.tileCall);
}

/// Whether `--matmul-precision` allows bf16, however strict sums are otherwise.
bool isLowered(FusionOp fusion) {
  return llvm::any_of(fusion.getBody().front(),
                      [](Operation &op) { return isa<MatmulOp>(op) && op.hasAttr("dlc.math"); });
}

class Tiles : public Provider {
public:
  Tiles()
      : Provider({.name = "tiles",
                  .does = "products and convolutions of f32 as products of bf16 on tiles (AMX)",
                  .makesOperands = true}) {}

  void propose(Proposals &proposals) const override {
    FusionOp fusion = proposals.fusion;
    if (!fusion || !StringRef(proposals.situation.target.features).contains("+amx-bf16"))
      return;
    // Products of bf16 are rounded nowhere.
    bool isNarrow = llvm::any_of(fusion.getInputs(), [](Value value) {
      return cast<RankedTensorType>(value.getType()).getElementType().isBF16();
    });
    if (isStrict(proposals) && !isLowered(fusion) && !isNarrow)
      return proposals.refuse(about.name, kForbidden);
    for (int parts : {2, 3}) {
      std::string why;
      Parameters parameters{parts};
      if (auto call = make(fusion, parameters, &why))
        proposals.add(about.name, *call, estimate(*call, proposals.cost),
                      parameters.print(fusion.getContext()));
      else if (parts == 2)
        proposals.refuse(about.name, why);
    }
  }

  std::optional<LibraryCall> call(Operation *op, DictionaryAttr parameters, int,
                                  std::string *why) const override {
    return make(op, Parameters::parse(parameters), why);
  }

  bool sharesUnits(StringRef) const override { return true; }
};

} // namespace

const Provider &provide::tiles() {
  static const Tiles provider;
  return provider;
}

} // namespace dlc
