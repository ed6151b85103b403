//===- CharacterMap.h - precompiled character maps of SentencePiece -----------===//
#ifndef DLC_RUNTIME_TEXT_CHARACTERMAP_H
#define DLC_RUNTIME_TEXT_CHARACTERMAP_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::text {

/// Character map of SentencePiece (`precompiled_charsmap`): a double-array trie of the Darts-clone
/// library whose values are offsets of replacement strings.
class CharacterMap {
public:
  /// `bytes`: the 32-bit size of the trie in bytes, the trie, and null-terminated strings.
  explicit CharacterMap(std::string_view bytes);
  /// Replaces, from left to right, the longest entry at each position. Returns valid UTF-8.
  std::string apply(std::string_view text) const;

private:
  /// Returns the length of the longest entry at the beginning of a text, or 0, and its value.
  std::pair<size_t, uint32_t> longest(std::string_view text) const;

  std::vector<uint32_t> units;
  std::string strings;
};

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_CHARACTERMAP_H
