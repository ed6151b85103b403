//===- Trace.cpp - traces a function into a module ------------------------===//
#include "frontend/trace/Trace.h"

#include "frontend/trace/State.h"
#include "ir/dlc/Attributes.h"
#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;

namespace dlc::trace {

namespace {
SmallVector<Type> inputTypes(MLIRContext &context, const std::vector<Spec> &inputs,
                             const Location &location) {
  SmallVector<Type> types;
  std::set<std::string> names;
  for (const Spec &input : inputs) {
    std::string where = formatLocation(location) + "trace: input '" + input.name + "' ";
    if (input.name.empty() || !names.insert(input.name).second)
      throw Error(where + "must have a name that no other input has");
    SmallVector<int64_t> shape;
    __int128 count = 1;
    for (int64_t dim : input.shape) {
      if (dim < 0 && dim != kDynamic)
        throw Error(where + "must have sizes of 0 or more, or kDynamic; found " +
                    shapeText(input.shape));
      shape.push_back(dim == kDynamic ? ShapedType::kDynamic : dim);
      count *= std::max<int64_t>(dim, 1);
      if (count >= __int128(1) << 46)
        throw Error(where + "has more elements than memory can hold: " + shapeText(input.shape));
    }
    types.push_back(RankedTensorType::get(shape, elementTypeOf(input.dtype, &context)));
  }
  return types;
}

std::string getOutputName(const TraceOptions &options, size_t index, size_t count) {
  if (!options.outputs.empty())
    return options.outputs[index];
  return count == 1 ? "y" : "y" + std::to_string(index);
}
} // namespace

OwningOpRef<ModuleOp> traceInto(MLIRContext &context, const Function &function,
                                const std::vector<Spec> &inputs, const TraceOptions &options,
                                std::vector<Parameter> *parameters, Location location) {
  context.loadDialect<DlcDialect, func::FuncDialect>();
  mlir::Location place =
      FileLineColLoc::get(&context, location.file_name(), location.line(), location.column());
  SmallVector<Type> types = inputTypes(context, inputs, location);
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  builder.setInsertionPointToEnd(module->getBody());
  auto main = func::FuncOp::create(builder, place, "main", builder.getFunctionType(types, {}));
  main.addEntryBlock();

  auto state = std::make_shared<State>(&context, main, options);
  for (auto [input, argument] : llvm::zip_equal(inputs, main.getArguments())) {
    state->argumentNames.insert(input.name);
    state->inputNames.push_back(input.name);
    if (!input.device)
      continue;
    state->usePlaces();
    state->putOn(argument, *input.device);
  }
  // Closes the trace at the end of the scope, also after an exception. Tensors that the function
  // stored elsewhere then cannot access the module.
  struct Close {
    State &state;
    ~Close() { state.open = false; }
  } close{*state};
  std::vector<Tensor> arguments, results;
  SmallVector<std::string> names;
  for (Value argument : main.getArguments())
    arguments.push_back(state->tensor(argument));
  SmallVector<Value> values;
  {
    State::Activate active(*state);
    results = function(arguments);
    ApiCall call("trace", location);
    if (!options.outputs.empty() && options.outputs.size() != results.size())
      call.fail("the options must name every result; found ", options.outputs.size(), " names for ",
                results.size(), " results");
    for (const Tensor &result : results) {
      if (result && State::ownerOf(result) != state.get())
        call.fail("a result belongs to another trace; return what was computed from this "
                  "function's tensors");
      names.push_back(getOutputName(options, values.size(), results.size()));
      values.push_back(call.value(Operand(result, location)));
    }
    state->finish(values, names);
  }
  func::ReturnOp::create(state->builder, place, values);
  main.setType(
      builder.getFunctionType(main.front().getArgumentTypes(), TypeRange(ValueRange(values))));
  for (auto [i, input] : llvm::enumerate(inputs))
    main.setArgAttr(i, kNameAttr, builder.getStringAttr(input.name));
  state->describeArguments();
  for (auto [i, name] : llvm::enumerate(names)) {
    main.setResultAttr(i, kNameAttr, builder.getStringAttr(name));
    if (i >= results.size())
      main.setResultAttr(i, kStateAttr, builder.getUnitAttr());
  }
  DiagnosticCapture capture(&context);
  if (failed(mlir::verify(*module)))
    throw Error(formatLocation(location) + "trace: " + capture.text);
  if (parameters)
    *parameters = std::move(state->argumentParameters);
  return module;
}

Graph traceFunction(const Function &function, const std::vector<Spec> &inputs,
                    const TraceOptions &options, Location location) {
  auto impl = std::make_unique<Graph::Impl>();
  impl->traced.context = std::make_shared<MLIRContext>();
  impl->traced.module =
      traceInto(*impl->traced.context, function, inputs, options, &impl->parameters, location);
  return Graph(std::move(impl));
}

TracedModule takeModule(Graph graph) { return std::move(graph.getImpl().traced); }

Graph::Graph(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Graph::Graph(Graph &&) noexcept = default;
Graph &Graph::operator=(Graph &&) noexcept = default;
Graph::~Graph() = default;

std::string Graph::text(bool locations) const {
  if (!impl || !impl->traced.module)
    throw Error("this dlc::trace::Graph is empty: its module was moved elsewhere");
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.elideLargeResourceString(64);
  if (locations)
    flags.enableDebugInfo(true, false);
  impl->traced.module->print(stream, flags);
  return text;
}

void Graph::verify() const {
  DiagnosticCapture capture(impl->traced.context.get());
  if (failed(mlir::verify(*impl->traced.module)))
    throw Error("the traced program is not valid: " + capture.text);
}

std::vector<Parameter> Graph::parameters() const { return impl->parameters; }

void detail::wrongArity(size_t takes, size_t inputs, Location location) {
  throw Error(formatLocation(location) + "trace: the function takes " + std::to_string(takes) +
              " tensors; found " + std::to_string(inputs) + " inputs; describe one input for each");
}

} // namespace dlc::trace
