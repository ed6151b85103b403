//===- Validate.cpp - checks of a whole model before import -----------------===//
#include "frontend/onnx/importer/Validate.h"

#include "frontend/onnx/Importer.h"
#include "frontend/onnx/importer/Schema.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc::onnxfront {

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return ((domain == "ai.onnx" ? "" : domain) + "\n" + name + "\n" + overload).str();
}

std::map<std::string, int64_t>
opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports) {
  std::map<std::string, int64_t> result;
  for (const auto &import : imports)
    result[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
  return result;
}

Location getNodeLocation(const onnx::NodeProto &node, MLIRContext *context, StringRef path) {
  StringRef name = !node.name().empty()     ? StringRef(node.name())
                   : node.output_size() > 0 ? StringRef(node.output(0))
                                            : StringRef(node.op_type());
  return NameLoc::get(StringAttr::get(context, name), FileLineColLoc::get(context, path, 0, 0));
}

namespace {

using google::protobuf::RepeatedPtrField;

/// Names of the values that are defined in one graph or function, nested in those of the enclosing
/// graph.
struct DefinedNames {
  /// Names of all values that the graph or function defines.
  llvm::StringSet<> all;
  /// Names of the values that are defined before the node that is being checked, in the file's
  /// order.
  llvm::StringSet<> before;
  const DefinedNames *outer = nullptr;

  bool isDefined(StringRef name) const {
    for (const DefinedNames *names = this; names; names = names->outer)
      if (names->all.contains(name))
        return true;
    return false;
  }
  bool isShadowing(StringRef name) const {
    for (const DefinedNames *names = outer; names; names = names->outer)
      if (names->before.contains(name))
        return true;
    return false;
  }
};

/// Context of the checks: the opsets that apply, and whether a function is being checked.
struct CheckContext {
  std::map<std::string, int64_t> opsets;
  bool isFunction = false;
};

class Validator {
public:
  Validator(const onnx::ModelProto &model, StringRef path, Build &b)
      : model(model), path(path), b(b), top(FileLineColLoc::get(b.context, path, 0, 0)) {}

  bool run();

private:
  bool version();
  bool opsets(const RepeatedPtrField<onnx::OperatorSetIdProto> &imports, const Twine &of);
  bool function(const onnx::FunctionProto &function);
  bool graph(const onnx::GraphProto &graph, const DefinedNames *outer, const CheckContext &place);
  bool initializer(StringRef name, const onnx::TensorProto &tensor);
  bool matchesInput(const onnx::ValueInfoProto &input, int32_t type, ArrayRef<int64_t> dims);
  bool nodes(const RepeatedPtrField<onnx::NodeProto> &nodes, DefinedNames &names,
             const CheckContext &place);
  bool node(const onnx::NodeProto &node, const DefinedNames &names, const CheckContext &place);
  bool attributes(const onnx::NodeProto &node, const CheckContext &place);
  bool attribute(const onnx::AttributeProto &attribute, const CheckContext &place);
  bool call(const onnx::FunctionProto &function, const onnx::NodeProto &node);
  /// Sets the location of further errors to the whole file instead of a node.
  void atTop() { b.setNode(top, ""); }

  const onnx::ModelProto &model;
  StringRef path;
  Build &b;
  Location top;
  llvm::StringMap<const onnx::FunctionProto *> functions;
};

bool Validator::run() {
  atTop();
  CheckContext place{opsetsOf(model.opset_import())};
  if (!version() || !opsets(model.opset_import(), "the model"))
    return false;
  for (const auto &function : model.functions()) {
    std::string key = functionKey(function.domain(), function.name(), function.overload());
    if (!b.require(functions.try_emplace(key, &function).second,
                   "the model defines function '" + Twine(function.domain()) + "." +
                       function.name() +
                       "' twice; required: one definition per domain, name and "
                       "overload; found: 2; remove one of them"))
      return false;
  }
  for (const auto &each : model.functions())
    if (!function(each))
      return false;
  return graph(model.graph(), nullptr, place);
}

bool Validator::version() {
  const int64_t newest = newestIrVersion();
  return b.require(model.ir_version() >= 1 && model.ir_version() <= newest,
                   "the model's ir_version is unknown; required: 1 to " + Twine(newest) +
                       "; found: " + Twine(model.ir_version()) +
                       "; export the model with a supported version");
}

bool Validator::opsets(const RepeatedPtrField<onnx::OperatorSetIdProto> &imports, const Twine &of) {
  std::map<std::string, int64_t> seen;
  for (const auto &import : imports) {
    std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    std::string name = domain.empty() ? "ai.onnx" : domain;
    auto [it, isNew] = seen.try_emplace(domain, import.version());
    if (!b.require(isNew || it->second == import.version(),
                   of + " imports two opsets of the domain '" + name +
                       "'; required: one; found: " + Twine(it->second) + " and " +
                       Twine(import.version()) + "; remove one of them") ||
        !b.require(import.version() >= 1 || !newestOpset(domain),
                   of + " imports an invalid opset of the domain '" + name +
                       "'; required: 1 or more; found: " + Twine(import.version()) +
                       "; export the model again"))
      return false;
  }
  return true;
}

bool Validator::function(const onnx::FunctionProto &function) {
  const std::string what = "function '" + function.domain() + "." + function.name() + "'";
  CheckContext place{opsetsOf(function.opset_import()), true};
  if (!opsets(function.opset_import(), what))
    return false;
  DefinedNames names;
  for (const std::string &input : function.input())
    if (!b.require(!input.empty() && names.all.insert(input).second,
                   what + " has an unnamed input or two of the name '" + input +
                       "'; required: distinct names; rename one of them"))
      return false;
  if (!nodes(function.node(), names, place))
    return false;
  atTop();
  for (const std::string &output : function.output())
    if (!b.require(names.all.contains(output), "output '" + output + "' of " + what +
                                                   " is not defined; required: the name of an "
                                                   "input or of a node's output; correct the name"))
      return false;
  return true;
}

/// Checks the name and the declared type of an initializer. The elements are checked later, when
/// they are read.
bool Validator::initializer(StringRef name, const onnx::TensorProto &tensor) {
  if (!b.require(!name.empty(), "an initializer has no name; give it one"))
    return false;
  const int32_t type = tensor.data_type();
  if (!b.require(type != onnx::TensorProto::UNDEFINED && onnx::TensorProto::DataType_IsValid(type),
                 "initializer '" + name +
                     "' has an unknown element type; required: a TensorProto.DataType; found: " +
                     dataTypeName(type) + "; export the model again"))
    return false;
  for (int64_t dim : tensor.dims())
    if (!b.require(dim >= 0, "initializer '" + name +
                                 "' has a negative dimension; required: 0 or more; found: " +
                                 Twine(dim) + "; export the model again"))
      return false;
  return true;
}

/// Formats a tensor type for messages: "float[2, 3]". A dimension that is not static is "?".
template <typename Dims> static std::string typeText(int32_t type, const Dims &dims) {
  std::string result;
  for (int64_t dim : dims)
    result += (result.empty() ? "" : ", ") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return StringRef(dataTypeName(type)).lower() + "[" + result + "]";
}

/// Checks that an initializer has the type of the graph input of the same name.
bool Validator::matchesInput(const onnx::ValueInfoProto &input, int32_t type,
                             ArrayRef<int64_t> dims) {
  const auto &declared = input.type().tensor_type();
  std::vector<int64_t> wanted;
  for (const auto &dim : declared.shape().dim())
    wanted.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  bool fits =
      declared.elem_type() == type && (!declared.has_shape() || wanted.size() == dims.size());
  for (size_t i = 0; fits && declared.has_shape() && i < wanted.size(); ++i)
    fits = wanted[i] < 0 || wanted[i] == dims[i];
  return b.require(fits, "initializer '" + Twine(input.name()) +
                             "' contradicts the graph input of its name; required: " +
                             typeText(declared.elem_type(), wanted) +
                             "; found: " + typeText(type, dims) + "; correct the input's type");
}

bool Validator::graph(const onnx::GraphProto &graph, const DefinedNames *outer,
                      const CheckContext &place) {
  atTop();
  DefinedNames names;
  names.outer = outer;
  llvm::StringMap<const onnx::ValueInfoProto *> inputs;
  for (const auto &input : graph.input())
    if (!b.require(!input.name().empty(), "graph '" + Twine(graph.name()) +
                                              "' has an input without a name; give it one") ||
        !b.require(inputs.try_emplace(input.name(), &input).second,
                   "graph '" + Twine(graph.name()) + "' has two inputs of the name '" +
                       input.name() + "'; required: distinct names; rename one of them"))
      return false;
  llvm::StringSet<> initialized;
  auto add = [&](StringRef name, const onnx::TensorProto &tensor, ArrayRef<int64_t> dims) {
    if (!initializer(name, tensor) ||
        !b.require(initialized.insert(name).second,
                   "graph '" + Twine(graph.name()) + "' has two initializers of the name '" + name +
                       "'; required: distinct names; remove one of them"))
      return false;
    auto input = inputs.find(name);
    return input == inputs.end() || matchesInput(*input->second, tensor.data_type(), dims);
  };
  for (const auto &tensor : graph.initializer())
    if (!add(tensor.name(), tensor, ArrayRef(tensor.dims().data(), tensor.dims_size())))
      return false;
  for (const auto &sparse : graph.sparse_initializer())
    if (!add(sparse.values().name(), sparse.values(),
             ArrayRef(sparse.dims().data(), sparse.dims_size())))
      return false;
  for (const auto &input : graph.input())
    names.all.insert(input.name());
  for (const auto &entry : initialized)
    names.all.insert(entry.first());
  if (!nodes(graph.node(), names, place))
    return false;
  atTop();
  for (const auto &output : graph.output())
    if (!b.require(!output.name().empty(), "graph '" + Twine(graph.name()) +
                                               "' has an output without a name; give it one") ||
        !b.require(names.isDefined(output.name()),
                   "output '" + Twine(output.name()) + "' of graph '" + graph.name() +
                       "' is not defined; required: the name of a node's output, an initializer or "
                       "an input of the graph; correct the name"))
      return false;
  return true;
}

bool Validator::nodes(const RepeatedPtrField<onnx::NodeProto> &nodes, DefinedNames &names,
                      const CheckContext &place) {
  names.before = names.all;
  for (const auto &each : nodes) {
    b.setNode(getNodeLocation(each, b.context, path), describeNode(each));
    for (const std::string &name : each.output())
      if (!b.require(name.empty() || names.all.insert(name).second,
                     "the name '" + Twine(name) +
                         "' is defined twice; required: one definition of each name (static "
                         "single assignment); rename one of the values"))
        return false;
  }
  for (const auto &each : nodes) {
    b.setNode(getNodeLocation(each, b.context, path), describeNode(each));
    for (const std::string &name : each.output())
      if (!b.require(name.empty() || !names.isShadowing(name),
                     "the output name '" + Twine(name) +
                         "' is also defined outside the graph; required: one definition of each "
                         "name (static single assignment); rename one of the values"))
        return false;
    if (!node(each, names, place))
      return false;
    for (const std::string &name : each.output())
      names.before.insert(name);
  }
  return true;
}

bool Validator::node(const onnx::NodeProto &node, const DefinedNames &names,
                     const CheckContext &place) {
  if (!b.require(!node.op_type().empty(), "the node has no op_type; name its operator"))
    return false;
  for (const std::string &name : node.input())
    if (!b.require(name.empty() || names.isDefined(name),
                   "its input '" + Twine(name) +
                       "' is not defined by a node, an initializer or an input of the graph; "
                       "correct the name"))
      return false;
  if (!attributes(node, place))
    return false;
  const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  auto opset = place.opsets.find(domain);
  if (!b.require(opset != place.opsets.end(),
                 Twine(place.isFunction ? "the function" : "the model") +
                     " imports no opset of the operator's domain '" +
                     (domain.empty() ? "ai.onnx" : domain) + "'; add it to opset_import"))
    return false;
  auto function = functions.find(functionKey(domain, node.op_type(), node.overload()));
  if (function != functions.end() ? !call(*function->second, node)
                                  : !checkSignature(node, domain, opset->second, b))
    return false;
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g() && !graph(attribute.g(), &names, place))
      return false;
    for (const auto &each : attribute.graphs())
      if (!graph(each, &names, place))
        return false;
  }
  return true;
}

bool Validator::call(const onnx::FunctionProto &function, const onnx::NodeProto &node) {
  auto fits = [&](int found, int most, const char *what) {
    return b.require(found <= most, "the call of function '" + Twine(function.name()) +
                                        "' has too many " + what + "; required: at most " +
                                        Twine(most) + "; found: " + Twine(found) +
                                        "; remove those that the function does not have");
  };
  return fits(node.input_size(), function.input_size(), "inputs") &&
         fits(node.output_size(), function.output_size(), "outputs");
}

bool Validator::attributes(const onnx::NodeProto &node, const CheckContext &place) {
  llvm::StringSet<> seen;
  for (const auto &each : node.attribute())
    if (!b.require(!each.name().empty(), "an attribute has no name; give it one") ||
        !b.require(seen.insert(each.name()).second,
                   "attribute '" + Twine(each.name()) + "' is given twice; remove one of them") ||
        !attribute(each, place))
      return false;
  return true;
}

/// Returns the types of the attribute's fields that hold a value. A valid attribute has one.
static std::vector<onnx::AttributeProto::AttributeType>
getUsedFields(const onnx::AttributeProto &a) {
  using A = onnx::AttributeProto;
  const std::pair<bool, A::AttributeType> fields[] = {
      {a.has_f(), A::FLOAT},
      {a.has_i(), A::INT},
      {a.has_s(), A::STRING},
      {a.has_t(), A::TENSOR},
      {a.has_g(), A::GRAPH},
      {a.has_sparse_tensor(), A::SPARSE_TENSOR},
      {a.has_tp(), A::TYPE_PROTO},
      {a.floats_size() > 0, A::FLOATS},
      {a.ints_size() > 0, A::INTS},
      {a.strings_size() > 0, A::STRINGS},
      {a.tensors_size() > 0, A::TENSORS},
      {a.graphs_size() > 0, A::GRAPHS},
      {a.sparse_tensors_size() > 0, A::SPARSE_TENSORS},
      {a.type_protos_size() > 0, A::TYPE_PROTOS}};
  std::vector<A::AttributeType> result;
  for (auto [isUsed, type] : fields)
    if (isUsed)
      result.push_back(type);
  return result;
}

bool Validator::attribute(const onnx::AttributeProto &attribute, const CheckContext &place) {
  const std::string what = "attribute '" + attribute.name() + "'";
  const bool isReference = !attribute.ref_attr_name().empty();
  auto used = getUsedFields(attribute);
  std::string found;
  for (auto type : used)
    found += (found.empty() ? "" : ", ") + onnx::AttributeProto::AttributeType_Name(type);
  // Attributes of IR version 1 have no type.
  const bool hasType = attribute.has_type() && attribute.type() != onnx::AttributeProto::UNDEFINED;
  return b.require(!isReference || place.isFunction,
                   what + " refers to attribute '" + attribute.ref_attr_name() +
                       "' of a function; required: a value, outside the body of a function; set "
                       "the value") &&
         b.require(
             used.size() <= (isReference ? 0 : 1),
             what + " has several values; required: " +
                 (isReference ? "none, since it refers to an attribute of the function" : "one") +
                 "; found: " + found + "; remove the others") &&
         b.require(hasType || model.ir_version() < 2,
                   what + " has no type; required: a type, from IR version 2 on; set the type") &&
         b.require(!hasType || used.empty() || used[0] == attribute.type(),
                   what + " has a value of another type than it declares; required: " +
                       onnx::AttributeProto::AttributeType_Name(attribute.type()) +
                       "; found: " + found + "; set the attribute again");
}

} // namespace

bool validate(const onnx::ModelProto &model, StringRef path, Build &b) {
  return Validator(model, path, b).run();
}

} // namespace dlc::onnxfront
