//===- Candidate.cpp - candidates as attributes of operations -------------===//
#include "codegen/providers/Candidate.h"

#include "ir/dlc/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

static DictionaryAttr toAttribute(const Candidate &candidate, Builder &b) {
  NamedAttrList list;
  list.append("kernel", b.getStringAttr(candidate.kernel));
  list.append("implementation", b.getStringAttr(candidate.implementation));
  if (candidate.parameters)
    list.append("parameters", candidate.parameters);
  list.append("estimate", b.getF64FloatAttr(candidate.estimate));
  if (candidate.measured)
    list.append("measured", b.getF64FloatAttr(*candidate.measured));
  if (candidate.error >= 0)
    list.append("error", b.getF64FloatAttr(candidate.error));
  if (candidate.workspace > 0)
    list.append("workspace", b.getI64IntegerAttr(candidate.workspace));
  if (candidate.isReference)
    list.append("reference", b.getUnitAttr());
  return list.getDictionary(b.getContext());
}

static Candidate fromAttribute(DictionaryAttr from) {
  auto text = [&](StringRef name) {
    auto attr = from.getAs<StringAttr>(name);
    return attr ? attr.getValue().str() : std::string();
  };
  auto number = [&](StringRef name) -> std::optional<double> {
    auto attr = from.getAs<FloatAttr>(name);
    return attr ? std::optional(attr.getValueAsDouble()) : std::nullopt;
  };
  auto workspace = from.getAs<IntegerAttr>("workspace");
  return {text("kernel"),
          text("implementation"),
          from.getAs<DictionaryAttr>("parameters"),
          number("estimate").value_or(0),
          number("measured"),
          number("error").value_or(-1),
          workspace ? workspace.getInt() : 0,
          from.contains("reference")};
}

void writeCandidates(Operation *op, ArrayRef<Candidate> candidates) {
  Builder b(op->getContext());
  clearChoice(op);
  op->setAttr(kKernelAttr, b.getStringAttr(candidates[0].kernel));
  if (candidates[0].parameters)
    op->setAttr(kParametersAttr, candidates[0].parameters);
  SmallVector<Attribute> list;
  for (const Candidate &candidate : candidates)
    list.push_back(toAttribute(candidate, b));
  op->setAttr(kCandidatesAttr, b.getArrayAttr(list));
}

std::vector<Candidate> readCandidates(Operation *op) {
  std::vector<Candidate> candidates;
  if (auto list = op->getAttrOfType<ArrayAttr>(kCandidatesAttr))
    for (auto each : list.getAsRange<DictionaryAttr>())
      candidates.push_back(fromAttribute(each));
  return candidates;
}

std::vector<std::string> formatCandidates(ArrayRef<Candidate> candidates) {
  std::vector<std::string> lines;
  for (const Candidate &candidate : candidates) {
    std::string text =
        llvm::formatv("{0} {1:F1}us", candidate.implementation, candidate.estimate).str();
    if (candidate.measured)
      text += llvm::formatv(", measured {0:F1}us", *candidate.measured).str();
    if (candidate.error >= 0)
      text += llvm::formatv(", error {0:e1}", candidate.error).str();
    if (candidate.isReference)
      text += ", a reference implementation, which is slow";
    lines.push_back(std::move(text));
  }
  return lines;
}

void clearChoice(Operation *op) {
  for (StringRef about : {kKernelAttr, kParametersAttr, kCandidatesAttr})
    op->removeAttr(about);
}

} // namespace dlc
