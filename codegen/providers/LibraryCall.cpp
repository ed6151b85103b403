//===- LibraryCall.cpp - an operation or fusion as one call of a library --===//
#include "codegen/providers/LibraryCall.h"

#include "passes/TensorBuilder.h"
#include "runtime/program/WeightsMemory.h"

using namespace mlir;

namespace dlc {

void LibraryCall::add(CallArgument argument, double size) {
  arguments.push_back(std::move(argument));
  bytes += size;
}

void LibraryCall::addValue(Value value) {
  add({CallArgument::Kind::Value, value}, double(storageBytes(typeOf(value))));
}

void LibraryCall::addResult(unsigned number, RankedTensorType type) {
  CallArgument argument{CallArgument::Kind::Result};
  argument.result = number;
  add(argument, double(storageBytes(type)));
}

std::vector<int64_t> list(ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

std::string elementName(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (element.isF32()) // fast path: printing a type is slow, and most types are f32
    return "f32";
  std::string name;
  llvm::raw_string_ostream os(name);
  os << element;
  if (name.starts_with("ui"))
    return "u" + name.substr(2);
  return name;
}

Value getOuterValue(FusionOp fusion, Value inner) {
  if (auto argument = dyn_cast<BlockArgument>(inner))
    return fusion.getInputs()[argument.getArgNumber()];
  return inner;
}

ConstantOp constantOf(Value value) { return value.getDefiningOp<ConstantOp>(); }

CallArgument makePackedArgument(int64_t bytes, std::string layout,
                                std::function<void(void *)> pack) {
  CallArgument packed{CallArgument::Kind::Packed};
  packed.bytes = bytes;
  packed.layout = std::move(layout);
  packed.pack = [bytes, pack = std::move(pack)](std::string &error) -> std::shared_ptr<void> {
    std::shared_ptr<void> data = runtime::allocateWeights(uint64_t(bytes));
    if (data)
      pack(data.get());
    else
      error = "not enough memory for a packed copy of the weights";
    return data;
  };
  return packed;
}

} // namespace dlc
