//===- Families.h - families of decoders, one row each --------------------===//
//
// All families are decoders with RMS norms, rotary embedding, grouped-query attention and a gated
// feed-forward network. A row states what distinguishes a family; sizes and constants are read from
// the metadata of a model.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_GGUF_FAMILIES_H
#define DLC_FRONTEND_GGUF_FAMILIES_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlc::gguf {

enum class GateActivation : uint8_t { Silu, GeluTanh };

struct Family {
  /// Value of `general.architecture` in GGUF files; empty if no file of llama.cpp has the family.
  std::string_view architecture;
  /// Value of `model_type` in the config.json of Hugging Face folders.
  std::string_view modelType;
  GateActivation activation = GateActivation::Silu;
  /// Whether RoPE rotates pairs of neighbouring elements in GGUF files (their converter permutes
  /// the rows of q and k). Otherwise, and in all Hugging Face folders, it rotates pairs of an
  /// element of the first half and one of the second half.
  bool neighbourPairs = false;
  /// Whether q and k have an RMS norm per head before RoPE.
  bool queryKeyNorms = false;
  /// Whether the results of attention and of the feed-forward network have RMS norms.
  bool postNorms = false;
  /// Whether token embeddings are multiplied by the square root of the embedding length.
  bool scaledEmbedding = false;
  /// Whether one tensor has the rows of q, k and v, and one the rows of the gate and of `up`.
  bool fusedTensors = false;
  /// Whether norms multiply by 1 + weight in Hugging Face folders. GGUF files have the sum.
  bool normAddsOne = false;
  /// Default of the sliding window in GGUF files.
  int64_t window = 0;
  /// Layer l has a sliding window if l % windowPeriod < windowPeriod - 1. 0: no layer has a window
  /// in GGUF files, and all layers have one in Hugging Face folders that specify a window.
  int64_t windowPeriod = 0;
  /// Defaults of the soft caps of attention scores and of logits; 0: no cap.
  double attentionCap = 0, finalCap = 0;
  /// Whether layers with a sliding window have their own RoPE base, without scaling.
  bool localRope = false;
  /// If not 0, each layer l with (l + 1) % noRopePeriod == 0 has no RoPE.
  int64_t noRopePeriod = 0;
  /// Number of layers of the one model that scales attention by 1 / sqrt(embedding length / heads),
  /// because GGUF files do not store the scale. Other models scale by 1 / sqrt(head size).
  int64_t widthScaledLayers = 0;
};

/// Returns all families.
std::span<const Family> families();
/// Returns the family of a GGUF architecture or of a Hugging Face model type; null if dlc does not
/// support it.
const Family *findArchitecture(std::string_view architecture);
const Family *findModelType(std::string_view modelType);
/// Lists the supported architectures or model types for messages.
std::string listArchitectures();
std::string listModelTypes();

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_FAMILIES_H
