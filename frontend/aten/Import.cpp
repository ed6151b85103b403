//===- Import.cpp - imports graphs of ATen operators as dlc modules -------===//
#include "frontend/aten/Import.h"

#include "frontend/aten/Graph.h"
#include "frontend/builder/State.h"
#include "ir/dlc/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace dlc {
namespace aten {
namespace {

/// A new module that contains an empty @main, whose arguments have the names of the inputs.
struct EmptyModule {
  EmptyModule(MLIRContext &context, ArrayRef<GraphInput> inputs) {
    context.loadDialect<DlcDialect, func::FuncDialect>();
    Location loc = NameLoc::get(StringAttr::get(&context, "main"));
    module = ModuleOp::create(loc);
    OpBuilder builder(module->getBodyRegion());
    SmallVector<Type> types;
    for (const GraphInput &input : inputs)
      types.push_back(input.type);
    main = func::FuncOp::create(builder, loc, "main", builder.getFunctionType(types, {}));
    entry = main.addEntryBlock();
    for (auto [i, input] : llvm::enumerate(inputs))
      main.setArgAttr(unsigned(i), kNameAttr, builder.getStringAttr(input.name));
  }
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  Block *entry;
};

/// Parses the elements of a constant from the graph's text.
ref::Tensor readElements(const GraphInput &constant) {
  if (!constant.elements || int64_t(constant.elements->size()) != constant.type.getNumElements())
    return {};
  auto tensor = ref::Tensor::empty(constant.type);
  for (auto [i, each] : llvm::enumerate(*constant.elements)) {
    if (auto flag = each.getAsBoolean())
      tensor.setInt(int64_t(i), *flag);
    else if (auto whole = each.getAsInteger(); whole && !tensor.isFloat())
      tensor.setInt(int64_t(i), *whole);
    else if (auto number = parseNumber(each))
      tensor.setDouble(int64_t(i), *number);
    else
      return {};
  }
  return tensor;
}

FailureOr<OwningOpRef<ModuleOp>> import(MLIRContext &context, const Graph &graph,
                                        const AtenConstants &constants) {
  EmptyModule shell(context, graph.inputs);
  Build b(&context, shell.entry);
  frontend::TrainingState training(shell.entry, graph.seed.value_or(0));
  b.training = graph.seed ? &training : nullptr;
  Names names;
  for (auto [i, input] : llvm::enumerate(graph.inputs))
    names[input.name] = {shell.entry->getArgument(unsigned(i))};
  for (const GraphInput &constant : graph.constants) {
    b.setNode(NameLoc::get(b.b.getStringAttr(constant.name)), "constant '" + constant.name + "': ");
    ref::Tensor tensor = constant.elements || !constants ? readElements(constant)
                                                         : constants(constant.name, constant.type);
    if (!b.require(bool(tensor), "required: as many elements as its shape has"))
      return failure();
    names[constant.name] = {b.constant(tensor, constant.name)};
  }
  for (const llvm::json::Object *node : graph.nodes)
    if (!importNode(b, *node, names))
      return failure();
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (const GraphOutput &output : graph.outputs) {
    b.setNode(shell.main.getLoc(), "output '" + output.name + "': ");
    auto found = names.find(output.of);
    if (!b.require(found != names.end() && output.at < found->second.size() &&
                       found->second[output.at],
                   "required: the result of a node; found: '" + output.of + "'"))
      return failure();
    results.push_back(found->second[output.at]);
    types.push_back(results.back().getType());
  }
  func::ReturnOp::create(b.b, shell.main.getLoc(), results);
  shell.main.setFunctionType(b.b.getFunctionType(shell.entry->getArgumentTypes(), types));
  training.describe(b, shell.main);
  for (auto [i, output] : llvm::enumerate(graph.outputs)) {
    shell.main.setResultAttr(unsigned(i), kNameAttr, b.b.getStringAttr(output.name));
    if (output.isFree)
      shell.main.setResultAttr(unsigned(i), kLayoutAttr, b.b.getStringAttr("any"));
  }
  return std::move(shell.module);
}

/// Collects the tensors to which a node's arguments refer. They become the inputs of a function
/// with only this node.
void operandsOf(const llvm::json::Value &value, const std::map<std::string, GraphInput> &types,
                std::map<std::string, GraphInput> &used) {
  if (const llvm::json::Array *list = value.getAsArray())
    for (const llvm::json::Value &each : *list)
      operandsOf(each, types, used);
  const llvm::json::Object *object = value.getAsObject();
  auto of = object ? object->getString("of") : std::nullopt;
  if (!of)
    return;
  std::string key = (*of + "/" + Twine(object->getInteger("at").value_or(0))).str();
  if (auto found = types.find(key); found != types.end())
    used.insert(*found);
}

/// Imports a single node into a module of its own. Returns the error message if that fails;
/// otherwise an empty string.
std::string tryNode(MLIRContext &context, const llvm::json::Object &node,
                    const std::map<std::string, GraphInput> &types, std::optional<uint64_t> seed) {
  std::map<std::string, GraphInput> used;
  if (const llvm::json::Object *arguments = node.getObject("args"))
    for (const auto &[name, value] : *arguments)
      operandsOf(value, types, used);
  std::vector<GraphInput> inputs;
  for (const auto &[key, given] : used)
    inputs.push_back(given);
  EmptyModule shell(context, inputs);
  Build b(&context, shell.entry);
  frontend::TrainingState training(shell.entry, seed.value_or(0));
  b.training = seed ? &training : nullptr;
  Names names;
  unsigned i = 0;
  for (const auto &[key, given] : used) {
    size_t at = std::stoull(key.substr(key.rfind('/') + 1));
    std::vector<Value> &values = names[given.name];
    values.resize(std::max(values.size(), at + 1));
    values[at] = shell.entry->getArgument(i++);
  }
  std::string reason;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (!importNode(b, node, names) && reason.empty())
    reason = "cannot be imported";
  return reason;
}

} // namespace
} // namespace aten

FailureOr<OwningOpRef<ModuleOp>> importAtenText(MLIRContext &context, StringRef text,
                                                const AtenConstants &constants) {
  auto graph = aten::Graph::parse(context, text, "graph");
  if (!graph)
    return failure();
  return aten::import(context, *graph, constants);
}

FailureOr<std::vector<UnsupportedAtenNode>> findUnsupportedAtenNodes(MLIRContext &context,
                                                                     StringRef text) {
  auto graph = aten::Graph::parse(context, text, "graph");
  if (!graph)
    return failure();
  std::map<std::string, aten::GraphInput> types;
  for (const auto *list : {&graph->inputs, &graph->constants})
    for (const aten::GraphInput &given : *list)
      types[given.name + "/0"] = given;
  std::vector<UnsupportedAtenNode> refusals;
  for (const llvm::json::Object *node : graph->nodes) {
    std::string name = node->getString("name")->str();
    if (std::string reason = aten::tryNode(context, *node, types, graph->seed); !reason.empty())
      refusals.push_back({name, reason});
    for (auto [i, type] : llvm::enumerate(*node->getArray("results")))
      if (RankedTensorType known = aten::parseTensorType(type, &context))
        types[name + "/" + std::to_string(i)] = {name, known, nullptr};
  }
  return refusals;
}

static std::unique_ptr<aten::Graph> openGraph(MLIRContext &context, StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    emitError(FileLineColLoc::get(&context, path, 0, 0))
        << "cannot be opened: " << file.getError().message();
    return nullptr;
  }
  return aten::Graph::parse(context, (*file)->getBuffer(), path);
}

FailureOr<ImportInfo> inspectAten(MLIRContext &context, StringRef path) {
  auto module = importAten(context, path, {}, nullptr);
  if (failed(module))
    return failure();
  ImportInfo info;
  auto main = (*module)->lookupSymbol<func::FuncOp>("main");
  auto value = [](StringAttr name, Type type) {
    auto tensor = cast<RankedTensorType>(type);
    ImportInfo::Value value;
    value.name = name.str();
    value.elementType = tensor.getElementType();
    value.hasRank = true;
    value.dims = tensor.getShape().vec();
    value.symbols.resize(value.dims.size());
    return value;
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    (main.getArgAttr(i, kStateAttr) ? info.states : info.inputs)
        .push_back(
            value(main.getArgAttrOfType<StringAttr>(i, kNameAttr), main.getArgument(i).getType()));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    info.outputs.push_back(
        value(main.getResultAttrOfType<StringAttr>(i, kNameAttr), main.getResultTypes()[i]));
  return info;
}

FailureOr<OwningOpRef<ModuleOp>> importAten(MLIRContext &context, StringRef path,
                                            const ImportOptions &options, ImportInfo *info) {
  auto graph = openGraph(context, path);
  if (!graph)
    return failure();
  return aten::import(context, *graph, nullptr);
}

} // namespace dlc
