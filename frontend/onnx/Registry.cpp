//===- Registry.cpp - maps operator names to handlers ---------------------===//
#include "frontend/onnx/Node.h"
#include "llvm/ADT/StringMap.h"

namespace dlc::onnxfront {

namespace {

struct Domain {
  const char *name;
  /// Newest opset of the domain that the handlers implement.
  int64_t newest;
};

constexpr Domain standard{"", 28}, contrib{microsoft, 1}, nchwc{blocked, 1};
constexpr Domain domains[] = {
    standard, {"ai.onnx.ml", 5}, {"ai.onnx.preview", 1}, {"ai.onnx.preview.training", 1}, contrib,
    nchwc};

using Table = llvm::StringMap<const Operator *>;

/// Adds the operator rows of several families to the table. Rows without a domain get the given
/// domain.
void add(Table &table, const Domain &domain, ArrayRef<ArrayRef<Operator>> families) {
  for (ArrayRef<Operator> family : families)
    for (const Operator &entry : family)
      table[(llvm::Twine(entry.domain ? entry.domain : domain.name) + ":" + entry.name).str()] =
          &entry;
}

Table makeTable() {
  Table table;
  add(table, standard, {elementwiseOperators(), activationOperators(), shapeOperators(),
                        sliceOperators(),       rearrangeOperators(),  gatherOperators(),
                        selectionOperators(),   reduceOperators(),     contractOperators(),
                        quantizeOperators(),    convOperators(),       poolOperators(),
                        normOperators(),        attentionOperators(),  linearAttentionOperators(),
                        recurrentOperators(),   controlOperators(),    randomOperators(),
                        resizeOperators(),      sequenceOperators(),   imageOperators(),
                        signalOperators(),      lossOperators(),       trainingOperators(),
                        classicOperators(),     treeOperators(),       estimatorOperators()});
  add(table, contrib,
      {fusedActivationOperators(), fusedContractOperators(), fusedConvOperators(),
       fusedNormOperators(), fusedAttentionOperators(), groupQueryAttentionOperators(),
       quantizedOperators(), quantizedContractOperators(), blockOperators(), moeOperators()});
  add(table, nchwc, {blockedOperators()});
  return table;
}

} // namespace

const Operator *findOperator(StringRef domain, StringRef name) {
  static const Table table = makeTable();
  if (domain == "ai.onnx")
    domain = "";
  auto it = table.find((domain + ":" + name).str());
  return it == table.end() ? nullptr : it->second;
}

int64_t newestOpset(StringRef domain) {
  for (const Domain &entry : domains)
    if (domain == entry.name)
      return entry.newest;
  return 0;
}

} // namespace dlc::onnxfront
