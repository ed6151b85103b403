//===- Quantized.cpp - mutations of quantized models -------------------------------===//
#include "test/fuzz/Quantized.h"

#include "onnx.pb.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace dlc::fuzz {
namespace {

constexpr int64_t oddNumbers[] = {0,    1,         -1,        2,         3,        4,   7,
                                  8,    15,        16,        24,        32,       128, 1000,
                                  -100, INT32_MAX, INT64_MAX, INT64_MIN, 1ll << 40};
constexpr float oddFloats[] = {0.0f,
                               -0.0f,
                               1e-45f,
                               -1.0f,
                               1e38f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};

template <typename T, size_t N> T oneOf(const T (&values)[N], Engine &engine) {
  return values[below(engine, N)];
}

template <typename Field> auto *anyOf(Field *field, Engine &engine) {
  return field->empty() ? nullptr : field->Mutable(int(below(engine, size_t(field->size()))));
}

void damageType(onnx::GraphProto &graph, Engine &engine) {
  if (auto *tensor = anyOf(graph.mutable_initializer(), engine))
    tensor->set_data_type(int(below(engine, 24)));
}

void damageShape(onnx::GraphProto &graph, Engine &engine) {
  auto *tensor = anyOf(graph.mutable_initializer(), engine);
  if (!tensor)
    return;
  size_t rank = size_t(tensor->dims_size()), what = below(engine, 4);
  if (what == 0 || rank == 0)
    tensor->add_dims(oneOf(oddNumbers, engine));
  else if (what == 1)
    tensor->mutable_dims()->RemoveLast();
  else
    tensor->set_dims(int(below(engine, rank)), oneOf(oddNumbers, engine));
}

/// Mutates elements of constants: scales become zero, denormal or infinite, integers become
/// arbitrary.
void damageElements(onnx::GraphProto &graph, Engine &engine) {
  auto *tensor = anyOf(graph.mutable_initializer(), engine);
  if (!tensor)
    return;
  std::string &raw = *tensor->mutable_raw_data();
  if (tensor->data_type() == onnx::TensorProto::FLOAT && raw.size() >= sizeof(float)) {
    std::string value(sizeof(float), 0);
    float number = oneOf(oddFloats, engine);
    std::memcpy(value.data(), &number, sizeof number);
    for (size_t at = 0; at + value.size() <= raw.size(); at += value.size())
      if (below(engine, 2))
        raw.replace(at, value.size(), value);
  } else if (!raw.empty()) {
    for (size_t i = 0; i < 4; ++i)
      raw[below(engine, raw.size())] = char(below(engine, 256));
  } else if (tensor->float_data_size()) {
    tensor->set_float_data(int(below(engine, size_t(tensor->float_data_size()))),
                           oneOf(oddFloats, engine));
  } else if (tensor->int32_data_size()) {
    tensor->set_int32_data(int(below(engine, size_t(tensor->int32_data_size()))),
                           int32_t(oneOf(oddNumbers, engine)));
  }
}

void damageOperand(onnx::GraphProto &graph, Engine &engine) {
  auto *node = anyOf(graph.mutable_node(), engine);
  if (!node || node->input().empty())
    return;
  std::string &input = *anyOf(node->mutable_input(), engine);
  auto *tensor = anyOf(graph.mutable_initializer(), engine);
  auto *other = anyOf(graph.mutable_node(), engine);
  switch (below(engine, 5)) {
  case 0:
    input.clear();
    break;
  case 1:
    node->mutable_input()->RemoveLast();
    break;
  case 2:
    node->add_input(tensor ? tensor->name() : input);
    break;
  case 3:
    input = tensor ? tensor->name() : std::string("nothing");
    break;
  default:
    input = other->output().empty() ? std::string("nothing") : other->output(0);
  }
}

void damageAttribute(onnx::GraphProto &graph, Engine &engine) {
  static const char *const names[] = {"axis",     "block_size",   "bits",         "K",
                                      "N",        "group",        "num_heads",    "accuracy_level",
                                      "saturate", "output_dtype", "pads",         "strides",
                                      "transB",   "alpha",        "channels_last"};
  auto *node = anyOf(graph.mutable_node(), engine);
  if (!node)
    return;
  auto *attribute = anyOf(node->mutable_attribute(), engine);
  if (!attribute || below(engine, 4) == 0) {
    attribute = node->add_attribute();
    attribute->set_name(oneOf(names, engine));
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(oneOf(oddNumbers, engine));
    return;
  }
  switch (below(engine, 5)) {
  case 0:
    *node->add_attribute() = onnx::AttributeProto(*attribute);
    break;
  case 1:
    attribute->set_name(oneOf(names, engine));
    break;
  case 2:
    attribute->set_type(onnx::AttributeProto::AttributeType(below(engine, 8)));
    break;
  default:
    attribute->set_i(oneOf(oddNumbers, engine));
    attribute->set_f(oneOf(oddFloats, engine));
    if (attribute->ints_size())
      attribute->set_ints(int(below(engine, size_t(attribute->ints_size()))),
                          oneOf(oddNumbers, engine));
  }
}

void damageInput(onnx::GraphProto &graph, Engine &engine) {
  auto *input = anyOf(graph.mutable_input(), engine);
  if (!input)
    return;
  auto *type = input->mutable_type()->mutable_tensor_type();
  auto *dim = anyOf(type->mutable_shape()->mutable_dim(), engine);
  if (dim && below(engine, 2)) // small, because a buffer of this size is allocated
    dim->set_dim_value(int64_t(below(engine, 70)));
  else
    type->set_elem_type(int(below(engine, 24)));
}

void damageKind(onnx::GraphProto &graph, Engine &engine) {
  static const char *const kinds[] = {"QuantizeLinear", "DequantizeLinear",   "QLinearConv",
                                      "QLinearMatMul",  "MatMulInteger",      "ConvInteger",
                                      "MatMulNBits",    "QLinearAdd",         "QGemm",
                                      "QAttention",     "DynamicQuantizeLSTM"};
  auto *node = anyOf(graph.mutable_node(), engine);
  if (!node)
    return;
  node->set_op_type(oneOf(kinds, engine));
  if (below(engine, 2))
    node->set_domain(node->domain().empty() ? "com.microsoft" : "");
}

using Damage = void (*)(onnx::GraphProto &, Engine &);
constexpr Damage damages[] = {damageType,      damageShape, damageElements, damageOperand,
                              damageAttribute, damageInput, damageKind};

} // namespace

std::string damageModel(const std::string &bytes, Engine &engine) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes))
    return bytes;
  for (size_t i = 0, n = 1 + below(engine, 2); i < n; ++i)
    damages[below(engine, std::size(damages))](*model.mutable_graph(), engine);
  if (below(engine, 16) == 0 && model.opset_import_size())
    model.mutable_opset_import(0)->set_version(int64_t(below(engine, 40)));
  return model.SerializeAsString();
}

} // namespace dlc::fuzz
