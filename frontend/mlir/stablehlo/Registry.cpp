//===- Registry.cpp - maps operation names to handlers --------------------------===//
#include "frontend/mlir/stablehlo/Import.h"
#include "frontend/mlir/stablehlo/Node.h"

#include "llvm/ADT/StringMap.h"

namespace dlc {
namespace stablehlo {

static llvm::StringMap<Handler> makeTable() {
  llvm::StringMap<Handler> table;
  for (auto family :
       {elementwiseEntries(), bitEntries(), functionEntries(), shapeEntries(), sliceEntries(),
        reduceEntries(), windowEntries(), sortEntries(), gatherEntries(), scatterEntries(),
        contractEntries(), convEntries(), normEntries(), controlEntries(), customCallEntries()})
    for (const OperatorEntry &entry : family)
      table[entry.name] = entry.handler;
  return table;
}

static const llvm::StringMap<Handler> &operatorTable() {
  static const llvm::StringMap<Handler> made = makeTable();
  return made;
}

Handler findHandler(StringRef name) { return operatorTable().lookup(name); }

} // namespace stablehlo

std::vector<std::string> stablehloOperations() {
  std::vector<std::string> names;
  for (const auto &entry : stablehlo::operatorTable())
    names.push_back(entry.getKey().str());
  return names;
}

std::vector<std::string> stablehloCustomCalls() {
  std::vector<std::string> names;
  for (const stablehlo::OperatorEntry &entry : stablehlo::customCallTargets())
    names.push_back(entry.name);
  return names;
}

} // namespace dlc
