//===- Importer.cpp - imports graphs, nodes and functions -----------------===//
#include "frontend/onnx/Importer.h"

#include "frontend/builder/Signature.h"
#include "frontend/builder/State.h"
#include "frontend/onnx/bounded/Selected.h"
#include "frontend/onnx/importer/Schema.h"
#include "frontend/onnx/importer/Validate.h"
#include "ir/dlc/Attributes.h"

#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Maximum nesting depth of graphs and functions. A larger depth indicates a recursive function.
static constexpr int maxDepth = 64;

/// Returns the number of nodes of a function after all calls in it are inlined, with branches and
/// loop bodies counted once. A recursive call counts as 0; the import rejects it.
int64_t Importer::expandedSize(const onnx::FunctionProto &function) {
  if (sizes.try_emplace(&function, 0).second)
    sizes[&function] = expandedSize(function.node());
  return sizes[&function];
}

int64_t Importer::expandedSize(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  int64_t size = 0;
  for (const auto &node : nodes) {
    int64_t own = 1;
    auto called = functions.find(functionKey(node.domain(), node.op_type(), node.overload()));
    if (called != functions.end())
      own += expandedSize(*called->second);
    for (const auto &attribute : node.attribute())
      own += expandedSize(attribute.g().node());
    size = std::min(size + own, 2 * Build::operationLimit);
  }
  return size;
}

void Importer::createInputs(const onnx::GraphProto &graph, Build &b, Location top, Block *entry,
                            std::vector<GraphValue> &arguments,
                            SmallVectorImpl<DictionaryAttr> &inputAttrs) {
  b.inputName = [this](BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    return number < argumentNames.size() ? argumentNames[number] : StringRef("step");
  };
  llvm::StringSet<> initialized, names;
  for (const auto &tensor : graph.initializer())
    initialized.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    initialized.insert(tensor.values().name());
  for (const auto &input : graph.input()) {
    if (initialized.contains(input.name()) && !options.shapes.count(input.name()) &&
        !options.values.count(input.name())) {
      arguments.push_back({});
      continue;
    }
    names.insert(input.name());
    Type type = inputType(input, b);
    if (!type)
      break;
    auto bound = options.values.find(input.name());
    Value argument =
        entry->addArgument(type, NameLoc::get(StringAttr::get(&context, input.name()), top));
    argumentNames.push_back(input.name());
    SmallVector<NamedAttribute> attributes{b.attr(kNameAttr, b.b.getStringAttr(input.name()))};
    if (bound != options.values.end()) {
      attributes.push_back(b.attr(kValueAttr, bound->second.toAttr()));
      argument = b.constant(bound->second);
    }
    inputAttrs.push_back(b.b.getDictionaryAttr(attributes));
    arguments.push_back(argument);
  }
  for (const auto &[name, ignored] : options.values)
    b.require(names.contains(name),
              "a value was given for '" + Twine(name) + "', which is not an input of the model");
  for (const auto &[name, ignored] : options.weights)
    b.require(initialized.contains(name), "a new value was given for '" + Twine(name) +
                                              "', which is not an initializer of the model");
  for (const auto &[name, ignored] : options.shapes)
    b.require(names.contains(name),
              "a shape was given for '" + Twine(name) + "', which is not an input of the model");
}

/// Converts the outputs of the graph to results of the function. Output dimensions with a bounded
/// dynamic size get an additional result, the number of elements. Returns false after an error.
static bool createOutputs(const onnx::GraphProto &graph, Build &b, ArrayRef<GraphValue> results,
                          SmallVectorImpl<Value> &values,
                          SmallVectorImpl<DictionaryAttr> &resultAttrs) {
  SelectedOutputs selected;
  std::vector<std::string> counterNames;
  const int64_t outputs = graph.output_size();
  for (int i = 0; i < graph.output_size(); ++i) {
    SmallVector<NamedAttribute> attributes{
        b.attr(kNameAttr, b.b.getStringAttr(graph.output(i).name()))};
    GraphValue item = results[i];
    if (item.kind == GraphValue::Selected && item.selection->hasKnownCount() && !b.training)
      if (auto counted = selected.take(b, item); counted.value) {
        if (selected.size() > counterNames.size())
          counterNames.push_back(graph.output(i).name() + ".size");
        attributes.push_back(
            b.attr(kCountedAttr,
                   b.b.getDenseI64ArrayAttr({counted.axis, outputs + int64_t(counted.counter)})));
        item = counted.value;
      }
    item = toOrdinaryTensor(b, item, "output '" + Twine(graph.output(i).name()) + "'");
    if (item.kind != GraphValue::Tensor) {
      b.error("output '" + Twine(graph.output(i).name()) +
              "' is not a tensor; the outputs of a program must be tensors");
      return false;
    }
    int32_t declared = graph.output(i).type().tensor_type().elem_type();
    if (!b.require(!toSmallFloat(declared), "output '" + Twine(graph.output(i).name()) +
                                                "' has the element type " + dataTypeName(declared) +
                                                ", which is not supported for outputs; cast it")) {
      return false;
    }
    values.push_back(item.value);
    resultAttrs.push_back(b.b.getDictionaryAttr(attributes));
  }
  for (auto [i, name] : llvm::enumerate(counterNames)) {
    while (llvm::any_of(graph.output(), [&](const auto &o) { return o.name() == name; }))
      name += "_";
    values.push_back(selected.count(i));
    resultAttrs.push_back(b.b.getDictionaryAttr(b.attr(kNameAttr, b.b.getStringAttr(name))));
  }
  return true;
}

/// Sets the type and attributes of the function and erases dead operations.
static void finishFunction(func::FuncOp main, Build &b, SmallVector<DictionaryAttr> inputAttrs,
                           ArrayRef<DictionaryAttr> resultAttrs) {
  Block &entry = main.front();
  main.setFunctionType(
      b.b.getFunctionType(entry.getArgumentTypes(), entry.getTerminator()->getOperandTypes()));
  inputAttrs.resize(main.getNumArguments(), b.b.getDictionaryAttr({}));
  main.setAllArgAttrs(inputAttrs);
  main.setAllResultAttrs(resultAttrs);
  // Erases dead operations in reverse order, so that a single walk erases chains of dead
  // operations.
  entry.getParent()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

FailureOr<OwningOpRef<ModuleOp>> Importer::run(std::vector<std::string> &neededValues) {
  const onnx::ModelProto &model = modelFile.model();
  Location top = FileLineColLoc::get(&context, modelFile.path(), 0, 0);
  if (!model.has_graph() || model.opset_import_size() == 0) {
    emitError(top) << "cannot be read as an ONNX model: it has no "
                   << (model.has_graph() ? "opset_import" : "graph")
                   << ": the file is damaged, or of another format; export the model again";
    return failure();
  }
  for (const auto &function : model.functions())
    functions[functionKey(function.domain(), function.name(), function.overload())] = &function;

  auto [module, main, entry] = createMain(top);
  Build b(&context, entry);
  b.setNode(top, "");
  TrainingState training(entry, options.seed);
  b.state = &training;
  b.training = options.training ? &training : nullptr;

  if (!validate(model, modelFile.path(), b))
    return failure();
  b.setNode(top, "");
  const onnx::GraphProto &graph = model.graph();
  // Checked before the import, because creating more operations than the limit would take long.
  if (!b.require(expandedSize(graph.node()) <= Build::operationLimit,
                 "the model's functions, when inlined, have more than " +
                     Twine(Build::operationLimit) + " operations"))
    return failure();
  std::vector<GraphValue> arguments;
  SmallVector<DictionaryAttr> inputAttrs;
  createInputs(graph, b, top, entry, arguments, inputAttrs);

  FunctionFrame frame;
  frame.opsets = opsetsOf(model.opset_import());
  std::vector<GraphValue> results;
  bool imported = b.ok() && this->graph(graph, arguments, nullptr, frame, b, results);
  b.setNode(top, "");
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> resultAttrs;
  imported = imported && createOutputs(graph, b, results, values, resultAttrs);
  neededValues.assign(b.needed.begin(), b.needed.end());
  if (!imported || !b.ok())
    return failure();
  training.finish(b, values, resultAttrs);
  func::ReturnOp::create(b.b, top, values);
  finishFunction(main, b, inputAttrs, resultAttrs);
  training.describe(b, main);
  if (failed(verify(*module)))
    return failure();
  return std::move(module);
}

/// Returns the value of an initializer: that of ImportOptions::weights, or else that of the file.
FailureOr<ref::Tensor> Importer::initializer(StringRef name, const onnx::TensorProto &proto,
                                             Build &b) {
  std::string reason;
  auto tensor = modelFile.tensor(proto, &context, reason);
  if (failed(tensor)) {
    b.error("initializer '" + name + "': " + reason);
    return failure();
  }
  auto replacement = options.weights.find(name.str());
  if (replacement == options.weights.end())
    return tensor;
  if (!b.require(replacement->second.getType() == tensor->getType(),
                 "new value of initializer '" + name + "': required: " +
                     mlir::debugString(tensor->getType()) + ", as in the model; found: " +
                     mlir::debugString(replacement->second.getType())))
    return failure();
  return replacement->second;
}

const GraphValue *Importer::lookup(Scope &start, StringRef name, Build &b) {
  for (Scope *scope = &start; scope; scope = scope->outer) {
    if (auto it = scope->names.find(name); it != scope->names.end())
      return &it->second;
    if (auto it = scope->tensors.find(name); it != scope->tensors.end()) {
      auto tensor = initializer(name, *it->second, b);
      if (failed(tensor))
        return nullptr;
      const bool isArgument =
          TrainingState::takes(*tensor) && (b.training || (options.keeps && options.keeps(name)));
      return &(scope->names[name.str()] =
                   isArgument ? b.state->argument(b, name, *tensor) : b.constant(*tensor, name));
    }
    if (auto it = scope->sparseTensors.find(name); it != scope->sparseTensors.end())
      return &(scope->names[name.str()] = sparse(*it->second, b));
  }
  return nullptr;
}

/// Checks that a value has the element type that the graph declares for its name.
static bool checkDeclared(StringRef what, StringRef name, int32_t declared, const GraphValue &item,
                          Build &b) {
  if (!item.value || declared == onnx::TensorProto::UNDEFINED)
    return true;
  const TypeMask found = getTypeMask(b.elem(item.value));
  return b.require(found >> declared & 1, what + " '" + name +
                                              "' has another element type than the graph declares; "
                                              "required: " +
                                              StringRef(dataTypeName(declared)).lower() +
                                              "; found: " + typeNames(found & -found) +
                                              "; correct the declared type");
}

/// Returns the declared element type of a tensor as a TensorProto.DataType; UNDEFINED for values
/// that are not tensors.
static int32_t getDeclaredElementType(const onnx::ValueInfoProto &value) {
  return value.type().has_tensor_type() ? value.type().tensor_type().elem_type() : 0;
}

bool Importer::graph(const onnx::GraphProto &graph, ArrayRef<GraphValue> arguments, Scope *outer,
                     const FunctionFrame &frame, Build &b, std::vector<GraphValue> &results) {
  Scope scope;
  scope.outer = outer;
  if (!b.require(int(arguments.size()) == graph.input_size(),
                 "graph '" + Twine(graph.name()) + "' takes " + Twine(graph.input_size()) +
                     " inputs and gets " + Twine(arguments.size())))
    return false;
  for (const auto &tensor : graph.initializer())
    scope.tensors[tensor.name()] = &tensor;
  for (const auto &tensor : graph.sparse_initializer())
    scope.sparseTensors[tensor.values().name()] = &tensor;
  for (int i = 0; i < graph.input_size(); ++i) {
    if (arguments[i].kind == GraphValue::Absent)
      continue;
    const std::string &name = graph.input(i).name();
    if (!checkDeclared("input", name, getDeclaredElementType(graph.input(i)), arguments[i], b))
      return false;
    // If an initializer has the name of a graph input, it is the input's default value and is
    // overridden by the argument.
    scope.tensors.erase(name);
    scope.sparseTensors.erase(name);
    scope.names[name] = arguments[i];
  }
  for (const auto &value : graph.value_info())
    scope.declaredTypes[value.name()] = getDeclaredElementType(value);
  for (const auto &output : graph.output())
    scope.declaredTypes[output.name()] = getDeclaredElementType(output);
  std::vector<std::string> outputs;
  for (const auto &output : graph.output())
    outputs.push_back(output.name());
  if (!nodes(graph.node(), scope, outputs, frame, b))
    return false;
  results.clear();
  for (const std::string &output : outputs) {
    const GraphValue *item = lookup(scope, output, b);
    if (!b.require(item, "output '" + Twine(output) + "' of graph '" + graph.name() +
                             "' is not defined, or not supported by the importer"))
      return false;
    results.push_back(*item);
  }
  return b.ok();
}

bool Importer::nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope,
                     ArrayRef<std::string> outputs, const FunctionFrame &frame, Build &b) {
  if (!b.require(depth < maxDepth, "functions or graphs are nested more than " + Twine(maxDepth) +
                                       " deep: a function calls itself"))
    return false;
  auto order = orderNodes(
      nodes, outputs,
      [&](const onnx::NodeProto &node) {
        return getNodeLocation(node, &context, modelFile.path());
      },
      b);
  ++depth;
  for (const onnx::NodeProto *proto : order)
    if (!b.ok() || !node(*proto, scope, frame, b))
      break;
  --depth;
  return b.ok();
}

bool Importer::node(const onnx::NodeProto &proto, Scope &scope, const FunctionFrame &frame,
                    Build &b) {
  b.setNode(getNodeLocation(proto, &context, modelFile.path()), describeNode(proto));
  std::vector<GraphValue> inputs;
  for (const std::string &name : proto.input()) {
    if (name.empty()) {
      inputs.push_back({});
      continue;
    }
    const GraphValue *item = lookup(scope, name, b);
    if (!b.require(item, "its input '" + Twine(name) +
                             "' is an optional output that the importer does not support"))
      return false;
    inputs.push_back(*item);
  }
  std::vector<GraphValue> results;
  auto function = functions.find(functionKey(proto.domain(), proto.op_type(), proto.overload()));
  if (function != functions.end()) {
    if (!call(*function->second, proto, inputs, frame, b, results))
      return false;
  } else {
    std::string domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    const int64_t opset = frame.opsets.at(domain);
    const Operator *op = findOperator(domain, proto.op_type());
    if (!b.require(op, "operator " + Twine(fullName(domain, proto.op_type())) + " (opset " +
                           Twine(opset) +
                           ") is not supported, and the model has no function of that name; "
                           "replace it by operators that docs/reference/onnx.md lists"))
      return false;
    Node n(*this, b, proto, frame, scope, opset);
    n.inputs = std::move(inputs);
    if (!checkInputs(n, domain, *op, b))
      return false;
    const bool selected = llvm::any_of(n.inputs, isSelected);
    if (selected)
      importSelected(n, b, *op);
    else
      op->handler(n, b);
    results = std::move(n.outputs);
  }
  if (!b.ok())
    return false;
  for (int i = 0; i < proto.output_size(); ++i) {
    // A missing output is reported only if another node uses it.
    if (proto.output(i).empty() || i >= int(results.size()) ||
        results[i].kind == GraphValue::Absent)
      continue;
    auto declared = scope.declaredTypes.find(proto.output(i));
    if (declared != scope.declaredTypes.end() &&
        !checkDeclared("output", proto.output(i), declared->second, results[i], b))
      return false;
    scope.names[proto.output(i)] = results[i];
  }
  return true;
}

bool Importer::call(const onnx::FunctionProto &function, const onnx::NodeProto &proto,
                    ArrayRef<GraphValue> inputs, const FunctionFrame &frame, Build &b,
                    std::vector<GraphValue> &results) {
  FunctionFrame inner;
  inner.caller = &frame;
  inner.opsets = opsetsOf(function.opset_import());
  for (const auto &attribute : function.attribute_proto())
    inner.attributes[attribute.name()] = &attribute;
  for (const auto &attribute : proto.attribute()) {
    const onnx::AttributeProto *value = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      auto it = frame.attributes.find(attribute.ref_attr_name());
      if (it == frame.attributes.end())
        continue;
      value = it->second;
    }
    inner.attributes[attribute.name()] = value;
  }
  Scope scope;
  for (int i = 0; i < function.input_size(); ++i)
    scope.names[function.input(i)] = i < int(inputs.size()) ? inputs[i] : GraphValue();
  std::vector<std::string> outputs(function.output().begin(), function.output().end());
  if (!nodes(function.node(), scope, outputs, inner, b))
    return false;
  for (const std::string &output : outputs) {
    const GraphValue *item = lookup(scope, output, b);
    results.push_back(item ? *item : GraphValue());
  }
  return b.ok();
}

} // namespace dlc::onnxfront
