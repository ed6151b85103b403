//===- Config.h - sizes and constants of a decoder ------------------------===//
#ifndef DLC_FRONTEND_GGUF_CONFIG_H
#define DLC_FRONTEND_GGUF_CONFIG_H

#include "frontend/gguf/Families.h"
#include "runtime/program/models/ModelTable.h"

#include <cstdint>
#include <vector>

namespace dlc::gguf {

/// Limits beyond which a size indicates a damaged file.
inline constexpr int64_t maxLayers = 512, maxHeads = 4096, maxHeadSize = 4096, maxWidth = 1 << 20,
                         maxVocabulary = 1 << 22, maxContext = int64_t(1) << 31;

/// Rotary embedding of a layer: pair i of a head is rotated by the angle position * frequencies[i].
/// Elements that belong to no pair are not rotated.
struct Rope {
  /// Frequency of each pair; empty if the layer has no RoPE.
  std::vector<float> frequencies;
  /// Factor that rotated elements are multiplied by (`attention_factor`, `attn_factor`).
  double magnitude = 1;
};

/// Properties of one layer.
struct LayerConfig {
  Rope rope;
  /// Number of positions that a query attends to, including its own. 0: all positions up to
  /// its own.
  int64_t window = 0;
};

/// Sizes and constants of a decoder.
struct DecoderConfig {
  const Family *family = nullptr;
  /// Whether the tensors have the names and the layout of a Hugging Face folder.
  bool isHuggingFace = false;
  /// Context length, embedding length, length of the feed-forward network, numbers of heads and of
  /// key/value heads, and sizes of a query or key head and of a value head.
  int64_t context = 0, width = 0, hidden = 0, heads = 0, kvHeads = 0, headSize = 0, valueSize = 0;
  /// Epsilon of the RMS norms.
  double eps = 0;
  /// Factors of the attention scores and of the token embeddings.
  double attentionScale = 0, embeddingScale = 1;
  /// Soft caps of the attention scores and of the logits; 0: no cap.
  double attentionCap = 0, finalCap = 0;
  std::vector<LayerConfig> layers;

  /// Whether RoPE rotates pairs of adjacent elements.
  bool neighbourPairs() const { return family->neighbourPairs && !isHuggingFace; }
};

/// Reads the configuration of a GGUF file or of a Hugging Face folder for a cache of `capacity`
/// positions, which the frequencies of some RoPE types depend on. Throws dlc::Error if the
/// configuration is invalid or the family is not supported.
DecoderConfig readConfig(const runtime::ModelTable &table, int64_t capacity);
/// Returns the maximum number of positions that the model supports.
int64_t readContextLength(const runtime::ModelTable &table);

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_CONFIG_H
