//===- Relu.cpp - example of a kernel provider, for f32 ReLU only ----------===//
#include "codegen/providers/Provider.h"
#include "passes/TensorBuilder.h"

using namespace mlir;

namespace dlc {

namespace {

class Relu : public Provider {
public:
  Relu() : Provider({.name = "relu", .description = "ReLU of f32, by oneDNN"}) {}

  void propose(CandidateCollector &collector) const override {
    std::string why;
    if (auto made = call(collector.op, {}, collector.selection.threads, &why))
      collector.add(about.name, *made, collector.cost.least(made->flops, made->bytes));
    else
      collector.refuse(about.name, why);
  }

  std::optional<LibraryCall> call(Operation *op, DictionaryAttr, int,
                                  std::string *why) const override {
    auto fusion = dyn_cast<FusionOp>(op);
    auto relu = fusion ? dyn_cast<ReluOp>(fusion.getBody().front().front()) : ReluOp();
    if (!relu || relu->getNextNode() != fusion.getBody().front().getTerminator() ||
        !typeOf(relu.getX()).getElementType().isF32()) {
      *why = "not one ReLU of f32";
      return std::nullopt;
    }
    int64_t elements = typeOf(relu.getX()).getNumElements();
    nlohmann::json line = {{"dims", {elements}}, {"dtype", "f32"}, {"tag", "a"}};
    LibraryCall call;
    call.library = "onednn";
    call.implementation = "relu";
    call.desc = {{"kind", "eltwise"}, {"alg", "relu"}, {"src", line}, {"dst", line}};
    call.addValue(getOuterValue(fusion, relu.getX()));
    call.addResult(0, typeOf(relu.getY()));
    call.flops = double(elements);
    return call;
  }
};

} // namespace

namespace provide {
const Provider &relu() {
  static const Relu provider;
  return provider;
}
} // namespace provide

} // namespace dlc
