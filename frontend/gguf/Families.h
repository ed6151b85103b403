//===- Families.h - families of decoders, one row each --------------------===//
//
// All families are decoders with RMS norms, rotary embedding, grouped-query attention and a gated
// feed-forward network. A row lists the properties in which a family differs from the others. Sizes
// and constants are read from the metadata of a model.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_GGUF_FAMILIES_H
#define DLC_FRONTEND_GGUF_FAMILIES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace dlc::gguf {

/// Activation function of the gate in the feed-forward network.
enum class GateActivation : uint8_t { Silu, GeluTanh };

/// Layers of Hugging Face folders that have a sliding window, as transformers selects them.
enum class FolderWindows : uint8_t {
  None,        ///< no layer; `sliding_window` is ignored
  All,         ///< all layers; `layer_types` is ignored
  Periodic,    ///< by `layer_types`, `sliding_window_pattern` or Family::windowPeriod
  Last,        ///< by `layer_types`, or all layers except the first `max_window_layers`
  WithoutRope, ///< by `layer_types`, or the layers without RoPE
};

/// Properties of a family of decoders.
struct Family {
  /// Value of `general.architecture` in GGUF files; empty if GGUF files store the models of the
  /// family with the architecture of another family.
  std::string_view architecture;
  /// Value of `model_type` in the config.json of Hugging Face folders.
  std::string_view modelType;
  GateActivation activation = GateActivation::Silu;
  /// Whether RoPE rotates pairs of adjacent elements in GGUF files, because the converter permutes
  /// the rows of q and k. Otherwise, and in all Hugging Face folders, pair i consists of element i
  /// of the first half and element i of the second half of the rotated elements.
  bool neighbourPairs = false;
  /// Whether each head of q and k has an RMS norm before RoPE.
  bool queryKeyNorms = false;
  /// Whether RMS norms are applied to the results of attention and of the feed-forward network.
  bool postNorms = false;
  /// Whether token embeddings are multiplied by the square root of the embedding length.
  bool scaledEmbedding = false;
  /// Whether one tensor stores the rows of the gate and of `up`, and one the rows of q, k and v.
  bool fusedTensors = false;
  /// Whether norms multiply by 1 + weight in Hugging Face folders. GGUF files store the sum.
  bool normAddsOne = false;
  /// Default of the sliding window in GGUF files.
  int64_t window = 0;
  /// Layer l has a sliding window if l % windowPeriod < windowPeriod - 1. 0: no layer has a window
  /// in GGUF files.
  int64_t windowPeriod = 0;
  FolderWindows folderWindows = FolderWindows::None;
  /// Default of `sliding_window` in Hugging Face folders; 0: no window.
  int64_t folderWindow = 0;
  /// Default of `max_window_layers` (FolderWindows::Last).
  int64_t maxWindowLayers = 0;
  /// Whether layers of Hugging Face folders have a sliding window only if `use_sliding_window` is
  /// set.
  bool optionalWindow = false;
  /// Defaults of the soft caps of attention scores and of logits; 0: no cap.
  double attentionCap = 0, finalCap = 0;
  /// Default of `query_pre_attn_scalar` in Hugging Face folders; 0: the family has no such key.
  double queryScalar = 0;
  /// Default of `rope_theta` in Hugging Face folders.
  double ropeBase = 10000;
  /// Whether layers with a sliding window have their own RoPE base, without scaling.
  bool localRope = false;
  /// If not 0, each layer l with (l + 1) % noRopePeriod == 0 has no RoPE. Default of
  /// `no_rope_layer_interval` in Hugging Face folders.
  int64_t noRopePeriod = 0;
  /// Number of layers of the one model of the family that scales attention scores by
  /// 1 / sqrt(embedding length / heads). Other models scale by 1 / sqrt(head size). GGUF files do
  /// not store the scale, so that the number of layers identifies the model. 0: there is no such
  /// model.
  int64_t widthScaledLayers = 0;
};

/// Returns the family of a GGUF architecture or of a Hugging Face model type; null if dlc does not
/// support it.
const Family *findArchitecture(std::string_view architecture);
const Family *findModelType(std::string_view modelType);
/// Return the supported architectures or model types, separated by commas, for messages.
std::string listArchitectures();
std::string listModelTypes();

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_FAMILIES_H
