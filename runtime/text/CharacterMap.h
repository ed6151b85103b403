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
  /// Replaces each longest prefix that has an entry.
  std::string apply(std::string_view text) const;

private:
  /// Length of the longest entry at the beginning of a text (0 if there is none), and its value.
  std::pair<size_t, uint32_t> longest(std::string_view text) const;

  std::vector<uint32_t> units;
  std::string strings;
};

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_CHARACTERMAP_H
