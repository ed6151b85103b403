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
/// Elements that belong to no pair are not rotated. No frequencies: the layer has no RoPE.
struct Rope {
  std::vector<float> frequencies;
  /// Factor of the rotated elements.
  double magnitude = 1;
};

struct LayerConfig {
  Rope rope;
  /// Number of positions that a query attends to, including its own. 0: all earlier positions.
  int64_t window = 0;
};

struct DecoderConfig {
  const Family *family = nullptr;
  /// Whether the tensors have the names and the layout of a Hugging Face folder.
  bool isHuggingFace = false;
  int64_t context = 0, width = 0, hidden = 0, heads = 0, kvHeads = 0, headSize = 0, valueSize = 0;
  double eps = 0;
  /// Factors of the attention scores and of the token embeddings.
  double attentionScale = 0, embeddingScale = 1;
  /// Soft caps of the attention scores and of the logits; 0: no cap.
  double attentionCap = 0, finalCap = 0;
  std::vector<LayerConfig> layers;

  /// Whether RoPE rotates pairs of neighbouring elements.
  bool neighbourPairs() const { return family->neighbourPairs && !isHuggingFace; }
};

/// Reads the configuration of a GGUF file or of a Hugging Face folder for a cache of `capacity`
/// positions, which some forms of RoPE depend on. Throws dlc::Error, also for models of other
/// families.
DecoderConfig readConfig(const runtime::ModelTable &table, int64_t capacity);
/// Returns the maximum number of positions that the model supports.
int64_t readContextLength(const runtime::ModelTable &table);

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_CONFIG_H
