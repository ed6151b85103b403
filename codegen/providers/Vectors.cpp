//===- Vectors.cpp - products of f32 in vectors (runtime/library/vectors) --===//
#include "codegen/providers/Vectors.h"
#include "runtime/library/vectors/Describe.h"

using namespace mlir;

namespace dlc {

OwnKernel vectorKernel(StringRef name, int64_t lanes) {
  return {.library = "vectors",
          .implementation = (name + (lanes == 16 ? ":avx512" : ":avx2")).str(),
          .parameters = {{"lanes", lanes}}};
}

bool hasVectors(const Proposals &proposals) {
  return StringRef(proposals.situation.target.features).contains("+fma");
}

std::optional<Product> describeForVectors(Operation *op, int64_t lanes, const Refusal &no) {
  auto fusion = dyn_cast<FusionOp>(op);
  if (!fusion || !isProduct(fusion))
    return no("no matrix product");
  if (vectors::lanes() < lanes)
    return no("this processor's vectors are shorter");
  return describeProduct(fusion, /*own=*/true, no);
}

DictionaryAttr VectorParameters::print(MLIRContext *context) const {
  Builder b(context);
  return b.getDictionaryAttr(b.getNamedAttr("lanes", b.getI64IntegerAttr(lanes)));
}

VectorParameters VectorParameters::parse(DictionaryAttr from) {
  auto lanes = from ? from.getAs<IntegerAttr>("lanes") : IntegerAttr();
  return {lanes ? lanes.getInt() : vectors::lanes()};
}

namespace {

std::optional<LibraryCall> make(Operation *op, VectorParameters parameters, std::string *why) {
  Refusal no{why};
  auto product = describeForVectors(op, parameters.lanes, no);
  if (!product)
    return std::nullopt;
  OwnKernel kernel = vectorKernel("vectors", parameters.lanes);
  kernel.pack = [lanes = parameters.lanes](const ref::Tensor &plain, bool turned, int64_t k,
                                           int64_t n) {
    return packedMatrix(plain, turned, k, n, vectors::packedBytes(k, n, lanes), "vectors", lanes,
                        [=](const float *from, int64_t row, int64_t column, void *to) {
                          vectors::packWeights(from, row, column, k, n, lanes, to);
                        });
  };
  return ownProduct(
      *product, kernel, [](const OwnSizes &) { return true; }, no);
}

double estimate(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  double m = call.desc["m"], n = call.desc["n"], k = call.desc["k"];
  double cores = cost.coresFor(call.flops);
  double rate = machine.vectorsGflops * laneShare(n, cost.lanes) *
                std::min(1.0, machine.oneRow + machine.eachRow * m);
  bool isAcross = call.desc["a"].back() != 1;
  bool ownRows =
      n <= products::panelColumns(vectors::formOf(call.desc["lanes"], int64_t(m)), int64_t(k));
  double packing = ownRows    ? machine.vectorsOwn
                   : isAcross ? machine.vectorsAcross
                              : machine.vectorsPacked;
  double packed = !isAcross && n <= vectors::kFewColumns ? 0 : batchesOf(call) * m * k / packing;
  packed += packedRight(call) / machine.vectorsPacked;
  return endedBesideWeights(call, (call.flops / rate + packed) / cores, cost);
}

class Vectors : public Provider {
public:
  Vectors() : Provider({.name = "vectors", .does = "products of f32 in vectors"}) {}

  void propose(Proposals &proposals) const override {
    if (!proposals.fusion || !hasVectors(proposals))
      return;
    std::string why;
    VectorParameters parameters{proposals.situation.target.lanes32()};
    if (auto call = make(proposals.op, parameters, &why))
      proposals.add(about.name, *call, estimate(*call, proposals.cost),
                    parameters.print(proposals.op->getContext()));
    else
      proposals.refuse(about.name, why);
  }

  std::optional<LibraryCall> call(Operation *op, DictionaryAttr parameters, int,
                                  std::string *why) const override {
    return make(op, VectorParameters::parse(parameters), why);
  }
};

} // namespace

double endedBesideWeights(const LibraryCall &call, double nanoseconds, const CostModel &cost) {
  double cores = cost.coresFor(call.flops);
  nanoseconds += cost.beside(call, nanoseconds, cost.machine.vectorsBesideGigabytes, cores);
  return cost.ended(call, std::max(nanoseconds, cost.traffic(call.bytes, cores)));
}

const Provider &provide::vectors() {
  static const Vectors provider;
  return provider;
}

} // namespace dlc
