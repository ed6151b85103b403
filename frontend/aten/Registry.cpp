//===- Registry.cpp - maps overload names to handlers ---------------------===//
#include "frontend/aten/Import.h"
#include "frontend/aten/Node.h"

#include "llvm/ADT/StringMap.h"

namespace dlc {
namespace aten {

static llvm::StringMap<const Operator *> makeTable() {
  llvm::StringMap<const Operator *> table;
  for (auto family :
       {elementwiseOperators(), compareOperators(),     functionOperators(), activationOperators(),
        createOperators(),      shapeOperators(),       sliceOperators(),    padOperators(),
        gatherOperators(),      scatterOperators(),     reduceOperators(),   orderOperators(),
        contractOperators(),    convOperators(),        poolOperators(),     normOperators(),
        attentionOperators(),   resizeOperators(),      randomOperators(),   recurrentOperators(),
        lossOperators(),        stridedOperators(),     bagOperators(),      distanceOperators(),
        searchOperators(),      transformerOperators(), quantizeOperators(), gradientOperators()})
    for (const Operator &entry : family)
      table[entry.name] = &entry;
  return table;
}

static const llvm::StringMap<const Operator *> &operatorTable() {
  static const llvm::StringMap<const Operator *> made = makeTable();
  return made;
}

const Operator *findOperator(StringRef name) { return operatorTable().lookup(name); }

} // namespace aten

std::vector<std::string> atenOperators() {
  std::vector<std::string> names;
  for (const auto &entry : aten::operatorTable())
    names.push_back(entry.getKey().str());
  return names;
}

} // namespace dlc
