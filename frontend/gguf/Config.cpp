//===- Config.cpp - sizes and constants of a decoder ----------------------===//
#include "frontend/gguf/Config.h"

#include "frontend/gguf/Rope.h"

#include <algorithm>
#include <cmath>

namespace dlc::gguf {

using runtime::MetaValue;
using runtime::ModelTable;

namespace {

constexpr double maxNumber = 1e9;

/// Reads a size that is one value or a list of equal values, one per layer.
int64_t uniform(const ModelTable &table, const std::string &key, int64_t layers, int64_t high,
                std::optional<int64_t> fallback = {}) {
  const MetaValue *value = table.find(key);
  if (!value || !value->isList)
    return table.integer(key, 1, high, fallback);
  std::vector<int64_t> list = *table.integers(key, uint64_t(layers), 1, high);
  if (std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) != list.end())
    table.fail("metadata key '" + key +
               "': required: the same size in each layer; found: different sizes");
  return list.front();
}

/// Returns which layers have a property that every `period`-th layer lacks; 0: all layers have it.
std::vector<bool> skipEvery(int64_t period, int64_t layers) {
  std::vector<bool> has(size_t(layers), true);
  for (int64_t l = 0; l < layers && period > 0; ++l)
    has[size_t(l)] = (l + 1) % period != 0;
  return has;
}

/// Checks the relations between sizes that GGUF files and Hugging Face folders must satisfy.
void checkSizes(const ModelTable &table, const DecoderConfig &c) {
  if (c.heads % c.kvHeads != 0)
    table.fail("required: a number of attention heads that is a multiple of the number of key "
               "heads; found: " +
               std::to_string(c.heads) + " and " + std::to_string(c.kvHeads));
  if (c.headSize <= 0 || c.headSize % 2 != 0)
    table.fail("required: an even size of attention heads; found: " + std::to_string(c.headSize));
}

double defaultAttentionScale(const DecoderConfig &c, int64_t layers) {
  bool byWidth = c.family->widthScaledLayers && layers == c.family->widthScaledLayers;
  return 1 / std::sqrt(double(byWidth ? c.width / c.heads : c.headSize));
}

/// Returns the layers. Those with a window have the `local` RoPE, the others the `global` one.
std::vector<LayerConfig> makeLayers(const std::vector<bool> &roped,
                                    const std::vector<bool> &windowed, int64_t window,
                                    const Rope &global, const Rope &local) {
  std::vector<LayerConfig> layers(roped.size());
  for (size_t l = 0; l < layers.size(); ++l) {
    layers[l].window = windowed[l] ? window : 0;
    if (roped[l])
      layers[l].rope = windowed[l] ? local : global;
  }
  return layers;
}

//===--- GGUF -------------------------------------------------------------===//

const Family &familyOfGguf(const ModelTable &table) {
  std::string architecture = table.string("general.architecture");
  const Family *family = findArchitecture(architecture);
  if (!family)
    table.fail("required: one of the architectures " + listArchitectures() + "; found: '" +
               architecture + "'; use a model of one of these families");
  return *family;
}

/// Returns which layers have a sliding window. The metadata key is a list of bools or a period; the
/// default is the family's period.
std::vector<bool> readGgufWindows(const ModelTable &table, const std::string &prefix,
                                  const Family &family, int64_t layers) {
  const std::string key = prefix + "attention.sliding_window_pattern";
  const MetaValue *pattern = table.find(key);
  if (!pattern || !pattern->isList)
    return skipEvery(table.integer(key, 1, maxLayers, family.windowPeriod), layers);
  std::vector<int64_t> list = *table.integers(key, uint64_t(layers), 0, 1);
  return {list.begin(), list.end()};
}

void readGgufLayers(const ModelTable &table, const std::string &prefix, int64_t layers,
                    int64_t capacity, DecoderConfig &c) {
  const Family &family = *c.family;
  const int64_t rotated = table.integer(prefix + "rope.dimension_count", 2, c.headSize, c.headSize);
  int64_t window = 0;
  std::vector<bool> windowed(size_t(layers), false);
  if (family.windowPeriod)
    window = table.integer(prefix + "attention.sliding_window", 0, maxContext, family.window);
  if (window)
    windowed = readGgufWindows(table, prefix, family, layers);
  Rope global = readGgufRope(table, prefix, rotated, capacity, false), local = global;
  if (family.localRope)
    local = readGgufRope(table, prefix, rotated, capacity, true);
  const std::vector<bool> roped = skipEvery(family.noRopePeriod, layers);
  c.layers = makeLayers(roped, windowed, window, global, local);
}

DecoderConfig readGgufConfig(const ModelTable &table, int64_t capacity) {
  DecoderConfig c;
  c.family = &familyOfGguf(table);
  const std::string prefix = table.string("general.architecture") + ".";
  const std::string attention = prefix + "attention.";
  if (table.integer(prefix + "expert_count", 0, maxNumber, 0) != 0)
    table.fail("mixtures of experts (" + prefix + "expert_count) are not supported");
  if (!table.boolean(attention + "causal", true))
    table.fail("metadata key '" + attention +
               "causal': required: true; found: false; use a model "
               "with causal attention");
  const int64_t layers = table.integer(prefix + "block_count", 1, maxLayers);
  c.context = table.integer(prefix + "context_length", 1, maxContext);
  c.width = table.integer(prefix + "embedding_length", 1, maxWidth);
  c.hidden = uniform(table, prefix + "feed_forward_length", layers, maxWidth);
  c.heads = uniform(table, attention + "head_count", layers, maxHeads);
  c.kvHeads = uniform(table, attention + "head_count_kv", layers, maxHeads, c.heads);
  c.headSize = table.integer(attention + "key_length", 1, maxHeadSize, c.width / c.heads);
  checkSizes(table, c);
  // The default does not depend on key_length, as the specification of GGUF requires.
  c.valueSize = table.integer(attention + "value_length", 1, maxHeadSize, c.width / c.heads);
  c.eps = table.real(attention + "layer_norm_rms_epsilon", 0, 1);
  c.attentionScale = table.real(attention + "scale", 0, maxNumber, 0);
  if (c.attentionScale == 0)
    c.attentionScale = defaultAttentionScale(c, layers);
  c.embeddingScale = c.family->scaledEmbedding ? std::sqrt(double(c.width)) : 1;
  // As in llama.cpp, only families with a default soft cap of attention have one.
  if (c.family->attentionCap)
    c.attentionCap =
        table.real(prefix + "attn_logit_softcapping", 0, maxNumber, c.family->attentionCap);
  c.finalCap = table.real(prefix + "final_logit_softcapping", 0, maxNumber, c.family->finalCap);
  readGgufLayers(table, prefix, layers, capacity, c);
  return c;
}

//===--- Hugging Face folders ---------------------------------------------===//

const Family &familyOfFolder(const ModelTable &table) {
  std::string modelType = table.string("model_type");
  const Family *family = findModelType(modelType);
  if (!family)
    table.fail("required: one of the model types " + listModelTypes() + "; found: '" + modelType +
               "'; use a model of one of these families");
  return *family;
}

/// Reads a number that is 0 if the value of the key is null.
double readOptional(const ModelTable &table, const std::string &key, double fallback) {
  return table.real(key, 0, maxNumber, table.nulls.contains(key) ? 0 : fallback);
}

/// Reads which layers have a sliding window from `layer_types`, a list with a string per layer.
std::vector<bool> readLayerTypes(const ModelTable &table, const MetaValue &types, int64_t layers) {
  if (types.kind != runtime::MetaKind::String || types.size() != uint64_t(layers))
    table.fail("metadata key 'layer_types': required: a string for each of " +
               std::to_string(layers) + " layers");
  std::vector<bool> windowed;
  for (std::string_view type : types.strings) {
    if (type != "sliding_attention" && type != "full_attention")
      table.fail("metadata key 'layer_types': required: full_attention or sliding_attention; "
                 "found: '" +
                 std::string(type.substr(0, 40)) + "'");
    windowed.push_back(type == "sliding_attention");
  }
  return windowed;
}

/// Returns which layers have a sliding window, according to Family::folderWindows. `roped`: the
/// layers that have RoPE.
std::vector<bool> readFolderWindows(const ModelTable &table, const Family &family,
                                    std::vector<bool> roped) {
  const auto layers = int64_t(roped.size());
  const MetaValue *types = table.find("layer_types");
  if (types && family.folderWindows != FolderWindows::All)
    return readLayerTypes(table, *types, layers);
  if (family.folderWindows == FolderWindows::Periodic)
    return skipEvery(table.integer("sliding_window_pattern", 1, maxLayers, family.windowPeriod),
                     layers);
  if (family.folderWindows == FolderWindows::WithoutRope) {
    roped.flip();
    return roped;
  }
  std::vector<bool> windowed(roped.size(), true);
  if (family.folderWindows == FolderWindows::Last) {
    int64_t first = table.integer("max_window_layers", 0, maxNumber, family.maxWindowLayers);
    std::fill_n(windowed.begin(), std::min(first, layers), false);
  }
  return windowed;
}

/// Returns the size of the sliding window; 0 if no layer has one.
int64_t readFolderWindow(const ModelTable &table, const Family &family) {
  if (family.folderWindows == FolderWindows::None)
    return 0;
  if (family.optionalWindow && !table.boolean("use_sliding_window", false))
    return 0;
  const char *key = "sliding_window";
  return table.integer(key, 0, maxContext, table.nulls.contains(key) ? 0 : family.folderWindow);
}

/// Returns which layers have RoPE.
std::vector<bool> readRopedLayers(const ModelTable &table, const Family &family, int64_t layers) {
  if (!family.noRopePeriod)
    return skipEvery(0, layers);
  if (auto list = table.integers("no_rope_layers", uint64_t(layers), 0, 1))
    return {list->begin(), list->end()};
  return skipEvery(table.integer("no_rope_layer_interval", 1, maxLayers, family.noRopePeriod),
                   layers);
}

void readFolderLayers(const ModelTable &table, int64_t layers, int64_t capacity, DecoderConfig &c) {
  const Family &family = *c.family;
  const std::vector<bool> roped = readRopedLayers(table, family, layers);
  const int64_t window = readFolderWindow(table, family);
  std::vector<bool> windowed(size_t(layers), false);
  if (window)
    windowed = readFolderWindows(table, family, roped);
  Rope global = readHuggingFaceRope(table, c, capacity, false), local = global;
  if (family.localRope)
    local = readHuggingFaceRope(table, c, capacity, true);
  c.layers = makeLayers(roped, windowed, window, global, local);
}

/// Checks that the activation function is the family's.
void checkActivation(const ModelTable &table, const Family &family) {
  const char *expected = family.activation == GateActivation::Silu ? "silu" : "gelu_pytorch_tanh";
  const char *key = table.find("hidden_activation") ? "hidden_activation" : "hidden_act";
  std::string found = table.string(key, expected);
  if (found != expected)
    table.fail("metadata key '" + std::string(key) + "': required: " + expected + "; found: '" +
               found + "'");
}

DecoderConfig readFolderConfig(const ModelTable &table, int64_t capacity) {
  DecoderConfig c;
  c.isHuggingFace = true;
  c.family = &familyOfFolder(table);
  checkActivation(table, *c.family);
  if (table.boolean("use_bidirectional_attention", false))
    table.fail("metadata key 'use_bidirectional_attention': required: false; found: true; use a "
               "model with causal attention");
  const int64_t layers = table.integer("num_hidden_layers", 1, maxLayers);
  c.context = table.integer("max_position_embeddings", 1, maxContext);
  c.width = table.integer("hidden_size", 1, maxWidth);
  c.hidden = table.integer("intermediate_size", 1, maxWidth);
  c.heads = table.integer("num_attention_heads", 1, maxHeads);
  c.kvHeads = table.integer("num_key_value_heads", 1, maxHeads, c.heads);
  c.headSize = table.integer("head_dim", 1, maxHeadSize, c.width / c.heads);
  checkSizes(table, c);
  c.valueSize = c.headSize;
  c.eps = table.real("rms_norm_eps", 0, 1);
  const Family &family = *c.family;
  auto scaled = double(c.headSize);
  if (family.queryScalar)
    scaled = table.real("query_pre_attn_scalar", 0.001, maxNumber, family.queryScalar);
  c.attentionScale = 1 / std::sqrt(scaled);
  c.embeddingScale = c.family->scaledEmbedding ? std::sqrt(double(c.width)) : 1;
  c.attentionCap = readOptional(table, "attn_logit_softcapping", family.attentionCap);
  c.finalCap = readOptional(table, "final_logit_softcapping", family.finalCap);
  readFolderLayers(table, layers, capacity, c);
  return c;
}

bool isFolder(const ModelTable &table) { return table.format == runtime::ModelFormat::HuggingFace; }

} // namespace

DecoderConfig readConfig(const ModelTable &table, int64_t capacity) {
  return isFolder(table) ? readFolderConfig(table, capacity) : readGgufConfig(table, capacity);
}

int64_t readContextLength(const ModelTable &table) {
  if (isFolder(table)) {
    familyOfFolder(table);
    return table.integer("max_position_embeddings", 1, maxContext);
  }
  familyOfGguf(table);
  return table.integer(table.string("general.architecture") + ".context_length", 1, maxContext);
}

} // namespace dlc::gguf
