//===- Node.cpp - interface of a StableHLO operation for its handler -----------===//
#include "frontend/mlir/stablehlo/Node.h"

#include "frontend/mlir/stablehlo/Importer.h"

using namespace mlir;

namespace dlc::stablehlo {

Node::Node(Importer &importer, Build &b, Operation *op, Values operands)
    : importer(importer), op(op), ins(std::move(operands)), outs(op->getNumResults()), b(b) {}

RankedTensorType Node::resultType(unsigned i) const {
  return cast<RankedTensorType>(op->getResult(i).getType());
}

int64_t Node::integer(StringRef name, int64_t otherwise) const {
  auto found = attr<IntegerAttr>(name);
  return found ? found.getInt() : otherwise;
}

bool Node::flag(StringRef name, bool otherwise) const {
  auto found = attr<BoolAttr>(name);
  return found ? found.getValue() : otherwise;
}

Dims Node::ints(StringRef name) const {
  auto found = attr<DenseI64ArrayAttr>(name);
  return found ? found.asArrayRef().vec() : Dims();
}

Dims Node::ints(StringRef name, size_t count, int64_t otherwise) {
  if (!attr<DenseI64ArrayAttr>(name))
    return Dims(count, otherwise);
  Dims found = ints(name);
  if (b.require(found.size() == count, "attribute '" + name + "': required: " + Twine(count) +
                                           " entries; found: " + Twine(found.size())))
    return found;
  return Dims(count, otherwise);
}

Padding Node::padding(size_t count) {
  Padding result{Dims(count, 0), Dims(count, 0)};
  auto found = attr<DenseIntElementsAttr>("padding");
  if (!found ||
      !b.require(found.getNumElements() == int64_t(2 * count),
                 "attribute 'padding': required: " + Twine(count) +
                     " rows of two numbers; found: " + Twine(found.getNumElements()) + " numbers"))
    return result;
  for (auto [i, value] : llvm::enumerate(found.getValues<APInt>()))
    (i % 2 ? result.high : result.low)[i / 2] = value.getSExtValue();
  return result;
}

bool Node::inlineRegion(unsigned i, ArrayRef<Value> arguments, Values &results) {
  Location loc = b.getLoc();
  std::string prefix = b.getPrefix();
  bool good = importer.block(op->getRegion(i).front(), arguments, results);
  b.setNode(loc, prefix);
  return good;
}

} // namespace dlc::stablehlo
