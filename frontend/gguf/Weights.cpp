//===- Weights.cpp - constants of a decoder from the tensors of a file ----===//
#include "frontend/gguf/Weights.h"
#include "ir/dlc/Shape.h"

#include <algorithm>

using namespace mlir;

namespace dlc::gguf {

using runtime::BlockFormat;
using runtime::ModelTensor;

namespace {

/// Names of a tensor in GGUF files and in Hugging Face folders.
struct TensorName {
  std::string_view gguf, folder;
};
/// Tensors of the model, and tensors of a layer without the prefix of the layer.
constexpr TensorName modelNames[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr TensorName layerNames[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_qkv", "self_attn.qkv_proj"},  {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_down", "mlp.down_proj"},
};
/// Norms whose folder names depend on Family::postNorms.
constexpr TensorName plainNames[] = {{"ffn_norm", "post_attention_layernorm"}};
constexpr TensorName postNormNames[] = {{"post_attention_norm", "post_attention_layernorm"},
                                        {"ffn_norm", "pre_feedforward_layernorm"},
                                        {"post_ffw_norm", "post_feedforward_layernorm"}};

std::string_view findName(std::span<const TensorName> names, std::string_view gguf) {
  for (const TensorName &row : names)
    if (row.gguf == gguf)
      return row.folder;
  return {};
}

std::string shapeText(const Dims &shape) {
  std::string text;
  for (int64_t d : shape)
    text += (text.empty() ? "" : "x") + std::to_string(d);
  return text;
}

} // namespace

std::string Weights::fileName(const std::string &name) const {
  if (!config.isHuggingFace)
    return name;
  // "blk.3.attn_q.weight" has the prefix "blk.3.", the stem "attn_q" and the suffix ".weight".
  size_t suffix = name.rfind('.');
  std::string stem = name.substr(0, suffix), end = name.substr(suffix);
  if (stem.rfind("blk.", 0) != 0) {
    std::string_view found = findName(modelNames, stem);
    return found.empty() ? "" : std::string(found) + end;
  }
  size_t layer = stem.find('.', 4);
  std::string prefix = "model.layers." + stem.substr(4, layer - 4) + ".";
  stem = stem.substr(layer + 1);
  std::string_view found = findName(layerNames, stem);
  if (found.empty() && stem == "ffn_up")
    found = config.family->fusedTensors ? "mlp.gate_up_proj" : "mlp.up_proj";
  if (found.empty())
    found = config.family->postNorms ? findName(postNormNames, stem) : findName(plainNames, stem);
  return found.empty() ? "" : prefix + std::string(found) + end;
}

Value Weights::read(const std::string &name, const Dims &shape, bool addOne) {
  std::string file = fileName(name);
  const ModelTensor *tensor = table.findTensor(file);
  if (!b.require(tensor, "required: a tensor '" + Twine(file.empty() ? name : file) +
                             "'; found none; the file is incomplete, or of another family"))
    return {};
  used.insert(file);
  if (!b.require(tensor->shape == shape,
                 "tensor '" + Twine(file) + "': required: the shape " + shapeText(shape) +
                     ", according to the metadata; found: " + shapeText(tensor->shape)))
    return {};
  auto type = makeTensorType(shape, b.f32);
  if (tensor->format == BlockFormat::F32 && !addOne)
    return b.constant(ref::Tensor::borrow(type, tensor->data.data, tensor->data.owner), file);
  ref::Tensor values = ref::Tensor::empty(type);
  auto *elements = reinterpret_cast<float *>(values.mutableData());
  uint64_t blocks = uint64_t(values.size()) / runtime::blockFormatInfo(tensor->format).elements;
  runtime::dequantize(tensor->format, tensor->data.data, blocks, elements);
  for (int64_t i = 0; addOne && i < values.size(); ++i)
    elements[i] += 1;
  return b.constant(values, file);
}

Value Weights::get(const std::string &name, const Dims &shape) { return read(name, shape, false); }

Value Weights::getNorm(const std::string &name, int64_t size) {
  return read(name, {size}, config.isHuggingFace && config.family->normAddsOne);
}

int64_t Weights::rows(const std::string &name) {
  std::string file = fileName(name);
  const ModelTensor *tensor = table.findTensor(file);
  if (!b.require(tensor && tensor->shape.size() == 2,
                 "required: a matrix '" + Twine(file) + "'; found none; the file is incomplete"))
    return 0;
  return tensor->shape[0];
}

bool Weights::hasOutput() const {
  if (config.isHuggingFace && table.boolean("tie_word_embeddings", !has("output.weight")))
    return false;
  return has("output.weight") || config.isHuggingFace;
}

void Weights::checkAllUsed() {
  for (const auto &[name, tensor] : table.tensors) {
    // readConfig() reads the tensors of RoPE divisors. Hugging Face folders may store RoPE
    // frequencies, which are not needed, and a copy of the token embedding as the output matrix.
    bool isRope = StringRef(name).starts_with("rope_") || StringRef(name).ends_with("inv_freq");
    if (used.count(name) || isRope || (config.isHuggingFace && name == "lm_head.weight"))
      continue;
    b.error("tensor '" + Twine(name) + "' is not part of the family " +
            (config.isHuggingFace ? config.family->modelType : config.family->architecture) +
            "; required: a model without it");
    return;
  }
}

} // namespace dlc::gguf
