//===- Signature.cpp - arguments and results of @main ---------------------===//
#include "frontend/builder/Signature.h"

#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc::frontend {

MainFunction createMain(Location location) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  OpBuilder builder(module->getBodyRegion());
  auto main = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  return {std::move(module), main, main.addEntryBlock()};
}

DictionaryAttr Signature::attributes(StringRef name, ValueRole role) {
  SmallVector<NamedAttribute> list{b.attr(kNameAttr, b.b.getStringAttr(name))};
  if (role == ValueRole::State)
    list.push_back(b.attrUnit(kStateAttr));
  return b.b.getDictionaryAttr(list);
}

Value Signature::argument(StringRef name, RankedTensorType type, ValueRole role) {
  argumentAttrs.push_back(attributes(name, role));
  return entry->addArgument(type, NameLoc::get(b.b.getStringAttr(name), b.getLoc()));
}

void Signature::result(StringRef name, Value value, ValueRole role) {
  resultAttrs.push_back(attributes(name, role));
  results.push_back(value);
}

void Signature::finish(func::FuncOp function) {
  func::ReturnOp::create(b.b, function.getLoc(), results);
  function.setFunctionType(
      b.b.getFunctionType(entry->getArgumentTypes(), entry->getTerminator()->getOperandTypes()));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
}

} // namespace dlc::frontend
