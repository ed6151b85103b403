//===- CharacterMap.cpp - precompiled character maps of SentencePiece ---------===//
#include "runtime/text/CharacterMap.h"
#include "runtime/program/Message.h"
#include "runtime/text/Utf8.h"

#include <cstring>

namespace dlc::text {
namespace {

// A unit of the trie. Bits 0 to 7: label. Bit 8: a child holds a value. Bits 10 to 30: offset of
// the children, shifted left by 8 if bit 9 is set. Bit 31: the unit is a value.
uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
bool hasLeaf(uint32_t unit) { return unit >> 8 & 1; }
uint32_t offset(uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }
uint32_t value(uint32_t unit) { return unit & ((1u << 31) - 1); }

} // namespace

CharacterMap::CharacterMap(std::string_view bytes) {
  uint32_t size = 0;
  if (bytes.size() >= sizeof(size))
    std::memcpy(&size, bytes.data(), sizeof(size));
  if (bytes.size() < sizeof(size) || size > bytes.size() - sizeof(size) || size % 4 || size == 0)
    runtime::fail("tokenizer: invalid precompiled character map: required: a trie of at most ",
                  bytes.size(), " bytes; found: ", size, "; convert the model again");
  units.resize(size / 4);
  std::memcpy(units.data(), bytes.data() + sizeof(size), size);
  strings = bytes.substr(sizeof(size) + size);
  // Terminates the last string, so that replacements end inside the map.
  strings += '\0';
}

std::pair<size_t, uint32_t> CharacterMap::longest(std::string_view text) const {
  std::pair<size_t, uint32_t> best{0, 0};
  size_t node = offset(units[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    node ^= c;
    if (c == 0 || node >= units.size() || label(units[node]) != c)
      break;
    bool leaf = hasLeaf(units[node]);
    node ^= offset(units[node]);
    if (leaf && node < units.size())
      best = {i + 1, value(units[node])};
  }
  return best;
}

std::string CharacterMap::apply(std::string_view text) const {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    auto [length, at] = longest(text.substr(i));
    if (length == 0) {
      length = decodeAt(text, i).length;
      result.append(text, i, length);
    } else if (at < strings.size()) {
      result += strings.c_str() + at;
    } else {
      runtime::fail("tokenizer: invalid precompiled character map: required: offsets below ",
                    strings.size(), "; found: ", at, "; convert the model again");
    }
    i += length;
  }
  // PCRE2 reads the result without a check, and the replacements may be invalid UTF-8.
  return replaceInvalid(result);
}

} // namespace dlc::text
