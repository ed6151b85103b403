//===- SchemaCheck.cpp - checks nodes against their operators' schemas ----===//
#include "frontend/onnx/file/ModelFile.h"
#include "frontend/onnx/importer/Schema.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Oldest opset of the standard domain that the handlers implement.
static constexpr int64_t oldestOpset = 6;
static constexpr const char *convertHint = "; convert the model with onnx.version_converter";

/// Formats an operator version: "ai.onnx.Clip in opset 13".
static std::string formatOperatorVersion(StringRef domain, StringRef name, int64_t opset) {
  return fullName(domain, name) + " in opset " + std::to_string(opset);
}

/// Lists names, as in "axis, keepdims"; "none" for an empty list.
static std::string joinNames(ArrayRef<StringRef> names) {
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// Formats the number of values that parameters take: "1", "1 to 3" or "at least 2".
static std::string formatCount(size_t low, std::optional<size_t> high) {
  if (!high)
    return "at least " + std::to_string(low);
  return std::to_string(low) + (low == *high ? "" : " to " + std::to_string(*high));
}

static size_t minimumCount(ArrayRef<FormalParameter> parameters) {
  size_t result = 0;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    if (parameter.kind == FormalParameter::Single)
      result = i + 1;
    if (parameter.kind == FormalParameter::Variadic && parameter.minimum > 0)
      result = i + size_t(parameter.minimum);
  }
  return result;
}

static bool checkCount(const google::protobuf::RepeatedPtrField<std::string> &names,
                       ArrayRef<FormalParameter> parameters, StringRef what,
                       const std::string &version, Build &b) {
  const size_t low = minimumCount(parameters), found = size_t(names.size());
  std::optional<size_t> high = parameters.size();
  if (!parameters.empty() && parameters.back().kind == FormalParameter::Variadic)
    high = std::nullopt;
  if (!b.require(found >= low && (!high || found <= *high),
                 version + " has another number of " + what +
                     "s; required: " + formatCount(low, high) + "; found: " + Twine(found) +
                     "; give the node the " + what + "s of its opset's operator"))
    return false;
  for (auto [i, name] : llvm::enumerate(names))
    if (i < parameters.size() &&
        !b.require(parameters[i].kind != FormalParameter::Single || !name.empty(),
                   what + " " + Twine(i) + " ('" + parameters[i].name + "') of " + version +
                       " is required and missing; give it a name"))
      return false;
  return true;
}

/// Formats the opsets in which an operator has an attribute, for messages: ", which it has in
/// opsets 6 to 10". Returns an empty string if no version has it.
static std::string formatOpsetsWith(ArrayRef<Schema> versions, StringRef attribute) {
  std::string result;
  for (size_t i = 0; i < versions.size(); ++i) {
    auto has = [&](const Schema &schema) {
      return llvm::any_of(schema.attributes,
                          [&](const AttributeRule &rule) { return rule.name == attribute; });
    };
    if (!has(versions[i]))
      continue;
    size_t end = i + 1;
    while (end < versions.size() && has(versions[end]))
      ++end;
    result +=
        (result.empty() ? ", which it has in opsets " : " and ") +
        std::to_string(versions[i].since) +
        (end < versions.size() ? " to " + std::to_string(versions[end].since - 1) : " and later");
    i = end;
  }
  return result;
}

static bool checkAttributes(const onnx::NodeProto &proto, ArrayRef<Schema> versions,
                            const Schema &schema, const std::string &version, Build &b) {
  for (const auto &attribute : proto.attribute()) {
    StringRef name = attribute.name();
    // Names that begin with two underscores are private to the exporter, by ONNX's rule.
    if (name.starts_with("__"))
      continue;
    auto rule = llvm::find_if(schema.attributes,
                              [&](const AttributeRule &rule) { return rule.name == name; });
    if (rule == schema.attributes.end()) {
      auto names = llvm::map_to_vector(schema.attributes,
                                       [](const AttributeRule &rule) { return rule.name; });
      return b.require(false, "attribute '" + name + "' is unknown to " + version +
                                  "; required: " + joinNames(names) + "; found: '" + name + "'" +
                                  formatOpsetsWith(versions, name) + convertHint);
    }
    if (!b.require(attribute.type() == onnx::AttributeProto::UNDEFINED ||
                       attribute.type() == rule->type,
                   "attribute '" + name + "' of " + version + " has the wrong type; required: " +
                       onnx::AttributeProto::AttributeType_Name(rule->type) +
                       "; found: " + onnx::AttributeProto::AttributeType_Name(attribute.type()) +
                       "; set the attribute again with the required type"))
      return false;
  }
  for (const AttributeRule &rule : schema.attributes)
    if (!b.require(!rule.isRequired ||
                       llvm::any_of(proto.attribute(),
                                    [&](const auto &a) { return a.name() == rule.name; }),
                   "attribute '" + rule.name + "' of " + version +
                       " is required and missing; set the attribute"))
      return false;
  return true;
}

/// Checks the attribute names of a node whose operator has no schemas against the operator's row.
static bool checkRowAttributes(const onnx::NodeProto &proto, const Operator &op,
                               const std::string &full, Build &b) {
  SmallVector<StringRef> names;
  StringRef(op.attributes).split(names, ' ', -1, false);
  for (const auto &attribute : proto.attribute())
    if (StringRef name = attribute.name();
        !b.require(name.starts_with("__") || llvm::is_contained(names, name),
                   "attribute '" + name + "' is unknown to " + full + "; required: " +
                       joinNames(names) + "; found: '" + name + "'; remove the attribute"))
      return false;
  return true;
}

bool checkSignature(const onnx::NodeProto &proto, StringRef domain, int64_t opset, Build &b) {
  const std::string full = fullName(domain, proto.op_type()),
                    version = formatOperatorVersion(domain, proto.op_type(), opset);
  const int64_t newest = newestOpset(domain);
  if (!b.require(!newest || opset <= newest,
                 "operator " + Twine(full) + " of opset " + Twine(opset) + " is newer than opset " +
                     Twine(newest) +
                     ", the newest known; export the model with an opset that is no newer"))
    return false;
  if (!hasSchemas(domain)) {
    const Operator *op = findOperator(domain, proto.op_type());
    return !op || checkRowAttributes(proto, *op, full, b);
  }
  ArrayRef<Schema> versions = findSchemas(domain, proto.op_type());
  // An unknown operator is an error only if an output depends on it; the importer reports it then.
  if (versions.empty())
    return true;
  const Schema *schema = findSchemaForOpset(versions, opset);
  if (!b.require(schema, "operator " + Twine(full) + " is newer than the opset; required: opset " +
                             Twine(versions.front().since) + " or later; found: opset " +
                             Twine(opset) + convertHint) ||
      !b.require(!schema->isRemoved, "operator " + Twine(full) +
                                         " was removed from the opset; required: an opset "
                                         "before " +
                                         Twine(schema->since) + "; found: opset " + Twine(opset) +
                                         convertHint) ||
      !b.require(!domain.empty() || opset >= oldestOpset ||
                     schema == findSchemaForOpset(versions, oldestOpset),
                 "operator " + Twine(full) + " of opset " + Twine(opset) + " is older than opset " +
                     Twine(oldestOpset) + ", the oldest supported" + convertHint))
    return false;
  return checkAttributes(proto, versions, *schema, version, b) &&
         checkCount(proto.input(), schema->inputs, "input", version, b) &&
         checkCount(proto.output(), schema->outputs, "output", version, b);
}

/// Returns the ONNX types that an item may have.
static TypeMask getTypeMask(const GraphValue &item) {
  if (item.kind == GraphValue::Sequence)
    return sequenceType;
  if (item.kind == GraphValue::None)
    return optionalType;
  return getTypeMask(cast<RankedTensorType>(item.value.getType()).getElementType());
}

/// Formats the type of an item for messages. An element type that represents several ONNX types has
/// the name of the widest.
static std::string formatItemType(const GraphValue &item) {
  if (item.kind == GraphValue::None)
    return "an empty optional";
  TypeMask types = getTypeMask(item);
  return typeNames(types & -types);
}

/// Checks the inputs of a node whose operator has no schemas: the required ones are present, and
/// all are tensors.
static bool checkRowInputs(const Node &n, const Operator &op, Build &b) {
  for (int i = 0; i < op.required; ++i)
    if (!b.require(n.has(i), "input " + Twine(i) + " is required and missing"))
      return false;
  for (int64_t i = 0; i < n.numInputs(); ++i)
    if (!b.require(!n.has(i) || n.inputs[i].value,
                   "input " + Twine(i) +
                       " must be a tensor, and is a sequence or an empty "
                       "optional"))
      return false;
  return true;
}

bool checkInputs(const Node &n, StringRef domain, const Operator &op, Build &b) {
  ArrayRef<Schema> versions = findSchemas(domain, op.name);
  if (versions.empty())
    return checkRowInputs(n, op, b);
  const Schema &schema = *findSchemaForOpset(versions, n.opset);
  const std::string version = formatOperatorVersion(domain, op.name, n.opset);
  // Checks required attributes. In the body of a function, a node may lack one that it forwards
  // from the function's call, because the call may omit it.
  for (const AttributeRule &rule : schema.attributes)
    if (!b.require(!rule.isRequired || n.hasAttr(rule.name),
                   "attribute '" + rule.name + "' of " + version +
                       " is required and missing; give it to the call of the function"))
      return false;
  std::map<StringRef, int64_t> bound;
  for (int64_t i = 0; i < n.numInputs(); ++i) {
    const FormalParameter &parameter = schema.inputs[std::min(size_t(i), schema.inputs.size() - 1)];
    if (!n.has(i)) {
      if (!b.require(parameter.kind != FormalParameter::Single,
                     "input " + Twine(i) + " ('" + parameter.name + "') of " + version +
                         " is required and missing; give it a value"))
        return false;
      continue;
    }
    const GraphValue &item = n.inputs[i];
    if (!b.require(getTypeMask(item) & parameter.types,
                   "input " + Twine(i) + " ('" + parameter.name + "') of " + version +
                       " has the wrong type; required: " + typeNames(parameter.types) +
                       "; found: " + formatItemType(item) + "; insert a Cast node"))
      return false;
    if (!item.value || !parameter.isHomogeneous)
      continue;
    auto [first, isFirst] = bound.try_emplace(parameter.type, i);
    const GraphValue &other = n.inputs[first->second];
    if (!b.require(
            isFirst || b.elem(other.value) == b.elem(item.value),
            "inputs " + Twine(first->second) + " and " + Twine(i) + " of " + version +
                " have different types; required: one type; found: " + formatItemType(other) +
                " and " + formatItemType(item) + "; insert a Cast node"))
      return false;
  }
  return true;
}

} // namespace dlc::onnxfront
