//===- PreTokenizers.h - table of the pre-tokenizers that GGUF files name -----===//
#ifndef DLC_RUNTIME_TEXT_PRETOKENIZERS_H
#define DLC_RUNTIME_TEXT_PRETOKENIZERS_H

#include <span>
#include <string_view>
#include <vector>

namespace dlc::text {

/// Row of the table: options of the pre-tokenizers with these values of `tokenizer.ggml.pre`.
struct PreTokenizer {
  std::vector<std::string_view> names;
  /// Regular expressions that split the text, one after another.
  std::vector<std::string_view> expressions;
  bool ignoreMerges = false;
  bool addBos = false;
  /// Whether tokens are spelled in characters, with U+2581 for spaces, instead of in GPT-2's byte
  /// alphabet.
  bool characters = false;
};

/// Returns the table of the supported pre-tokenizers.
std::span<const PreTokenizer> preTokenizers();

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_PRETOKENIZERS_H
