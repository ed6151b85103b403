//===- Normalize.h - normalization of text before tokenization ----------------===//
#ifndef DLC_RUNTIME_TEXT_NORMALIZE_H
#define DLC_RUNTIME_TEXT_NORMALIZE_H

#include "dlc/text.hpp"

#include <functional>

namespace dlc::text {

/// Position of a text relative to the input and its special tokens.
struct Position {
  /// Whether the text is at the beginning of the input.
  bool first = false;
  /// Whether the text is at the beginning of the input or follows a special token.
  bool afterSpecial = false;
};

using Normalizer = std::function<std::string(std::string, Position)>;

/// Returns a function that normalizes valid UTF-8.
Normalizer makeNormalizer(const NormalizerStep &step);

/// Replaces all occurrences of `pattern`, which is not empty.
std::string replaceAll(std::string_view text, std::string_view pattern, std::string_view content);
/// Returns whether BERT treats the code point as punctuation: ASCII symbols, and category P.
bool isPunctuation(char32_t codePoint);

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_NORMALIZE_H
