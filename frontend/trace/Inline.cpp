//===- Inline.cpp - calls of a function from another front end inside a trace --===//
#include "frontend/trace/Inline.h"

#include "frontend/trace/State.h"
#include "ir/dlc/Attributes.h"
#include "ir/tensor/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::trace {

namespace {

constexpr char inlinedName[] = "inlined";

Array toArray(ElementsAttr attr, const std::string &name) {
  FailureOr<ref::Tensor> tensor = ref::Tensor::fromAttr(attr);
  if (failed(tensor))
    throw Error("the initial value of '" + name +
                "' cannot be read: the file does not contain its elements");
  auto keep = std::make_shared<ref::Tensor>(*tensor);
  ArrayRef<int64_t> shape = tensor->getShape();
  return {dtypeOf(tensor->getElementType()), Shape(shape.begin(), shape.end()),
          std::shared_ptr<const void>(keep, keep->data())};
}

std::string getArgumentName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? name.str() : "arg" + std::to_string(argument);
}

bool isState(func::FuncOp function, unsigned argument) {
  return function.getArgAttr(argument, kStateAttr) || function.getArgAttr(argument, kParameterAttr);
}

bool isStepCounter(const std::string &name, RankedTensorType type) {
  return name == "step" && type.getRank() == 0 && type.getElementType().isInteger(64);
}

} // namespace

MLIRContext &currentContext() {
  if (!State::current())
    throw Error("no trace is in progress");
  return *State::current()->context;
}

InlinedModule::InlinedModule(OwningOpRef<ModuleOp> module) {
  if (module->getContext() != &currentContext())
    throw Error("the module belongs to another context than the trace");
  function = module->lookupSymbol<func::FuncOp>("main");
  if (!function || !llvm::hasSingleElement(function.getBody()))
    throw Error("required: a module with a function @main of one block");
  function->remove();
  function.setName(inlinedName);
  State::current()->function->getParentOfType<ModuleOp>().push_back(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgument(i).getType());
    std::string name = getArgumentName(function, i);
    if (!isState(function, i) || isStepCounter(name, type))
      continue;
    Parameter parameter(name, Shape(type.getShape().begin(), type.getShape().end()),
                        Init::constant(0), dtypeOf(type.getElementType()),
                        !function.getArgAttr(i, kParameterAttr));
    if (auto start = function.getArgAttrOfType<ElementsAttr>(i, kInitAttr))
      parameter.set(toArray(start, name));
    state[name] = parameter;
  }
}

std::vector<Tensor> InlinedModule::operator()(const std::vector<Tensor> &inputs,
                                              Location location) {
  Operands operands(inputs, location);
  ApiCall call("the model", operands);
  IRMapping mapping;
  Value step, draws;
  size_t taken = 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    BlockArgument argument = function.getArgument(i);
    std::string name = getArgumentName(function, i);
    Value value;
    if (auto known = state.find(name); known != state.end())
      value = call.value(Operand(known->second, location));
    else if (isState(function, i)) {
      step = value = call.value(Operand(step_count(location), location));
      draws = call.value(Operand(call.state().drawCount(location), location));
    } else if (taken == inputs.size())
      call.fail("it has more inputs than the ", inputs.size(), " given");
    else
      value = call.value(operands[taken++]);
    if (value.getType() != argument.getType())
      call.fail("'", name, "' must be ", argument.getType(), "; found ", value.getType());
    mapping.map(argument, value);
  }
  if (taken != inputs.size())
    call.fail("it has ", taken, " inputs; found ", inputs.size());
  Block &body = function.getBody().front();
  const auto calls = uint64_t(call.state().callsOf("inlined model"));
  for (Operation &op : body.without_terminator())
    call.builder().clone(op, mapping)->walk([&](RandomOp random) {
      uint64_t seed = random.getSeed() ^ calls * 0x9e3779b97f4a7c15u;
      random.setSeed(int64_t(seed & INT64_MAX));
      if (random.getCounter() == step)
        random.getCounterMutable().assign(draws);
    });
  std::vector<Tensor> results;
  for (auto [i, result] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Tensor value = call.tensor(mapping.lookup(result));
    auto name = function.getResultAttrOfType<StringAttr>(unsigned(i), kNameAttr);
    if (!function.getResultAttr(unsigned(i), kStateAttr))
      results.push_back(value);
    else if (auto known = state.find(name ? name.str() : ""); known != state.end())
      assign(known->second, value);
  }
  return results;
}

void eraseInlinedFunctions(ModuleOp traced) {
  SmallVector<func::FuncOp> functions;
  for (auto function : traced.getOps<func::FuncOp>())
    if (function.getName() != "main")
      functions.push_back(function);
  for (func::FuncOp function : functions)
    function.erase();
}

} // namespace dlc::trace
