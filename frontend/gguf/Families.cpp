//===- Families.cpp - families of decoders, one row each ------------------===//
#include "frontend/gguf/Families.h"

#include <algorithm>

namespace dlc::gguf {

// Sources: the classes of transformers, and src/models of https://github.com/ggml-org/llama.cpp.
static constexpr Family table[] = {
    {.architecture = "llama", .modelType = "llama", .neighbourPairs = true},
    // GGUF files store Mistral models with the architecture llama and without a sliding window.
    {.architecture = "",
     .modelType = "mistral",
     .folderWindows = FolderWindows::All,
     .folderWindow = 4096},
    {.architecture = "qwen2",
     .modelType = "qwen2",
     .folderWindows = FolderWindows::Last,
     .folderWindow = 4096,
     .maxWindowLayers = 28,
     .optionalWindow = true},
    {.architecture = "qwen3",
     .modelType = "qwen3",
     .queryKeyNorms = true,
     .folderWindows = FolderWindows::Last,
     .folderWindow = 4096,
     .maxWindowLayers = 28,
     .optionalWindow = true},
    {.architecture = "gemma2",
     .modelType = "gemma2",
     .activation = GateActivation::GeluTanh,
     .postNorms = true,
     .scaledEmbedding = true,
     .normAddsOne = true,
     .window = 4096,
     .windowPeriod = 2,
     .folderWindows = FolderWindows::Periodic,
     .folderWindow = 4096,
     .attentionCap = 50,
     .finalCap = 30,
     .queryScalar = 256,
     .widthScaledLayers = 46},
    {.architecture = "gemma3",
     .modelType = "gemma3_text",
     .activation = GateActivation::GeluTanh,
     .queryKeyNorms = true,
     .postNorms = true,
     .scaledEmbedding = true,
     .normAddsOne = true,
     .windowPeriod = 6,
     .folderWindows = FolderWindows::Periodic,
     .folderWindow = 4096,
     .queryScalar = 256,
     .ropeBase = 1000000,
     .localRope = true,
     .widthScaledLayers = 62},
    {.architecture = "phi3",
     .modelType = "phi3",
     .fusedTensors = true,
     .folderWindows = FolderWindows::All},
    {.architecture = "smollm3",
     .modelType = "smollm3",
     .neighbourPairs = true,
     .folderWindows = FolderWindows::WithoutRope,
     .optionalWindow = true,
     .ropeBase = 2000000,
     .noRopePeriod = 4},
};

static const Family *find(std::string_view Family::*name, std::string_view value) {
  const auto *row = std::find_if(std::begin(table), std::end(table), [&](const Family &f) {
    return !value.empty() && f.*name == value;
  });
  return row == std::end(table) ? nullptr : row;
}

static std::string list(std::string_view Family::*name) {
  std::string text;
  for (const Family &row : table)
    if (!(row.*name).empty())
      text += (text.empty() ? "" : ", ") + std::string(row.*name);
  return text;
}

const Family *findArchitecture(std::string_view architecture) {
  return find(&Family::architecture, architecture);
}
const Family *findModelType(std::string_view modelType) {
  return find(&Family::modelType, modelType);
}
std::string listArchitectures() { return list(&Family::architecture); }
std::string listModelTypes() { return list(&Family::modelType); }

} // namespace dlc::gguf
