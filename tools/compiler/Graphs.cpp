//===- Graphs.cpp - models that are graphs of PyTorch operators -----------===//
#include "tools/compiler/Graphs.h"

#include "codegen/Pipeline.h"
#include "dlc/Error.h"
#include "tools/compiler/Diagnostics.h"
#include "tools/compiler/GraphMemory.h"
#include "tools/compiler/Source.h"

using namespace mlir;

namespace dlc {

AtenConstants makeConstantLookup(const std::map<std::string, ConstantMemory> &constants) {
  return [&](llvm::StringRef name, RankedTensorType type) -> ref::Tensor {
    auto found = constants.find(name.str());
    int64_t bytes = ref::elementBytes(type.getElementType()) * type.getNumElements();
    if (found == constants.end() || int64_t(found->second.bytes) != bytes)
      return {};
    return ref::Tensor::borrow(type, found->second.data, found->second.keep);
  };
}

std::shared_ptr<Source> graphSource(const std::string &text,
                                    std::map<std::string, ConstantMemory> constants) {
  auto context = std::make_shared<MLIRContext>();
  prepareContext(*context);
  DiagnosticCollector diagnostics(*context);
  auto module = importAtenText(*context, text, makeConstantLookup(constants));
  if (failed(module))
    throw Error(diagnostics.take("the graph cannot be imported"));
  return std::make_shared<Source>("graph", context, std::move(*module));
}

std::vector<std::string> graphOperators() { return atenOperators(); }

std::vector<std::pair<std::string, std::string>> findUnsupportedNodes(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  DiagnosticCollector diagnostics(context);
  auto refusals = findUnsupportedAtenNodes(context, text);
  if (failed(refusals))
    throw Error(diagnostics.take("the graph cannot be read"));
  std::vector<std::pair<std::string, std::string>> result;
  for (UnsupportedAtenNode &each : *refusals)
    result.emplace_back(std::move(each.node), std::move(each.reason));
  return result;
}

} // namespace dlc
