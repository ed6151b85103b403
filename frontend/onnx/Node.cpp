//===- Node.cpp - reads a node's attributes -------------------------------===//
#include "frontend/onnx/Node.h"

#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc::onnxfront {

const onnx::TensorProto *Node::initializer(int64_t i) const {
  if (!has(i))
    return nullptr;
  for (const Scope *at = &scope; at; at = at->outer) {
    if (auto it = at->tensors.find(proto.input(int(i))); it != at->tensors.end())
      return it->second;
    if (at->names.count(proto.input(int(i))))
      return nullptr;
  }
  return nullptr;
}

const llvm::fltSemantics *Node::smallFloat(int64_t i) const {
  const onnx::TensorProto *tensor = initializer(i);
  return tensor ? toSmallFloat(tensor->data_type()) : nullptr;
}

void Node::set(int64_t i, GraphValue item) {
  if (int64_t(outputs.size()) <= i)
    outputs.resize(i + 1);
  outputs[i] = std::move(item);
}

const onnx::AttributeProto *Node::find(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (attribute.name() != name)
      continue;
    if (attribute.ref_attr_name().empty())
      return &attribute;
    auto it = frame.attributes.find(attribute.ref_attr_name());
    return it == frame.attributes.end() ? nullptr : it->second;
  }
  return nullptr;
}

/// Returns whether an attribute may have the given type. Files of old IR versions omit the type, so
/// that any of the attribute's fields may be used.
static bool isOfType(const onnx::AttributeProto &attribute,
                     onnx::AttributeProto::AttributeType type) {
  return !attribute.has_type() || attribute.type() == type ||
         attribute.type() == onnx::AttributeProto::UNDEFINED;
}

static const onnx::AttributeProto *checked(const Node &n, Build &b, StringRef name,
                                           onnx::AttributeProto::AttributeType type) {
  const onnx::AttributeProto *attribute = n.find(name);
  if (attribute && !isOfType(*attribute, type)) {
    b.error("attribute '" + name + "' must be of type " +
            onnx::AttributeProto::AttributeType_Name(type) + ", and is " +
            onnx::AttributeProto::AttributeType_Name(attribute->type()));
    return nullptr;
  }
  return attribute;
}

int64_t Node::integer(StringRef name, int64_t otherwise) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

bool Node::flag(StringRef name, bool otherwise) {
  int64_t value = integer(name, otherwise);
  if (value != 0 && value != 1)
    unsupported(name, Twine(value), "0, 1");
  return value == 1;
}

double Node::real(StringRef name, double otherwise) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::FLOAT);
  return attribute ? double(attribute->f()) : otherwise;
}

std::string Node::string(StringRef name, StringRef otherwise) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::STRING);
  return attribute ? attribute->s() : otherwise.str();
}

Dims Node::integers(StringRef name, Dims otherwise) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::INTS);
  return attribute ? Dims(attribute->ints().begin(), attribute->ints().end())
                   : std::move(otherwise);
}

Dims Node::integers(StringRef name, int64_t number, int64_t each) {
  Dims values = integers(name, Dims(number, each));
  if (int64_t(values.size()) != number) {
    b.error("attribute '" + name + "' must have " + Twine(number) + " elements, and has " +
            Twine(values.size()));
    return Dims(number, each);
  }
  return values;
}

std::vector<double> Node::reals(StringRef name) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::FLOATS);
  return attribute ? std::vector<double>(attribute->floats().begin(), attribute->floats().end())
                   : std::vector<double>();
}

std::vector<std::string> Node::strings(StringRef name) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::STRINGS);
  return attribute
             ? std::vector<std::string>(attribute->strings().begin(), attribute->strings().end())
             : std::vector<std::string>();
}

const onnx::GraphProto *Node::graph(StringRef name) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::GRAPH);
  if (attribute && attribute->has_g())
    return &attribute->g();
  b.error("attribute '" + name + "' must be a graph");
  return nullptr;
}

Value Node::tensor(StringRef name) {
  auto *attribute = checked(*this, b, name, onnx::AttributeProto::TENSOR);
  if (!attribute || !attribute->has_t())
    return b.error("attribute '" + name + "' must be a tensor");
  return tensor(attribute->t(), name);
}

Value Node::tensor(const onnx::TensorProto &value, StringRef name) {
  std::string reason;
  auto result = importer.file().tensor(value, b.context, reason);
  if (failed(result))
    return b.error("attribute '" + name + "': " + reason);
  return b.constant(*result, proto.output_size() ? StringRef(proto.output(0)) : name);
}

Type Node::dataType(StringRef name, int32_t otherwise) {
  int64_t value = integer(name, otherwise);
  Type type = value == int32_t(value) ? toElementType(int32_t(value), b.context) : Type();
  if (!type) {
    b.error(
        "attribute '" + name + "' names the element type " + dataTypeName(int32_t(value)) +
        ", which is not supported; dlc has f16, bf16, f32, f64, bool and integers of 8 to 64 bits");
    return b.f32;
  }
  return type;
}

const llvm::fltSemantics *Node::smallFloat(StringRef name) {
  int64_t value = integer(name, 0);
  return value == int32_t(value) ? toSmallFloat(int32_t(value)) : nullptr;
}

void Node::unsupported(StringRef name, const Twine &value, StringRef supported) {
  b.error("attribute '" + name + "'=" + value + " is not supported; supported: " + supported);
}

} // namespace dlc::onnxfront
