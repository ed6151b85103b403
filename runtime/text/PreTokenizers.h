//===- PreTokenizers.h - table of the pre-tokenizers that GGUF files name -----===//
#ifndef DLC_RUNTIME_TEXT_PRETOKENIZERS_H
#define DLC_RUNTIME_TEXT_PRETOKENIZERS_H

#include <span>
#include <string_view>
#include <vector>

namespace dlc::text {

/// Row of the table: what a value of `tokenizer.ggml.pre` means.
struct PreTokenizer {
  std::vector<std::string_view> names;
  /// Expressions that split the text, one after another.
  std::vector<std::string_view> expressions;
  bool ignoreMerges = false;
  bool addBos = false;
  /// Tokens consist of characters, with U+2581 for spaces, instead of GPT-2's alphabet.
  bool characters = false;
};

std::span<const PreTokenizer> preTokenizers();

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_PRETOKENIZERS_H
