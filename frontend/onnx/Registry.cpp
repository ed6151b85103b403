//===- Registry.cpp - from an operator's name to its handler --------------===//
#include "frontend/onnx/Node.h"
#include "llvm/ADT/StringMap.h"

namespace dlc::onnxfront {

static llvm::StringMap<const Operator *> makeTable() {
  llvm::StringMap<const Operator *> table;
  for (auto family : {elementwiseOperators(), activationOperators(), shapeOperators(),
                      sliceOperators(),       rearrangeOperators(),  gatherOperators(),
                      selectionOperators(),   reduceOperators(),     contractOperators(),
                      quantizeOperators(),    convOperators(),       poolOperators(),
                      normOperators(),        attentionOperators(),  linearAttentionOperators(),
                      recurrentOperators(),   controlOperators(),    randomOperators(),
                      resizeOperators(),      sequenceOperators(),   imageOperators(),
                      signalOperators(),      lossOperators(),       trainingOperators(),
                      classicOperators()})
    for (const Operator &entry : family)
      table[(llvm::Twine(entry.domain) + ":" + entry.name).str()] = &entry;
  return table;
}

const Operator *findOperator(StringRef domain, StringRef name) {
  static const llvm::StringMap<const Operator *> table = makeTable();
  if (domain == "ai.onnx")
    domain = "";
  auto it = table.find((domain + ":" + name).str());
  return it == table.end() ? nullptr : it->second;
}

} // namespace dlc::onnxfront
