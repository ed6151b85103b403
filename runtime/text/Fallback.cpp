//===- Fallback.cpp - lists of symbols, and tokens for unknown text -----------===//
#include "runtime/program/Message.h"
#include "runtime/text/Model.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <limits>

namespace dlc::text {

std::string byteTokenName(unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
}

Fallback::Fallback(const TokenizerData &data, const TokenIndex &index)
    : unknown(data.unknown), fuse(data.fuseUnknown) {
  if (!data.byteFallback)
    return;
  for (unsigned byte = 0; byte < 256; ++byte) {
    auto found = index.find(byteTokenName(static_cast<unsigned char>(byte)));
    // An incomplete set of byte tokens is not used.
    if (found == index.end()) {
      bytes.clear();
      return;
    }
    bytes.push_back(found->second);
  }
}

bool Fallback::append(std::string_view text, bool previous, std::vector<TokenId> &tokens) const {
  if (!bytes.empty()) {
    for (char c : text)
      tokens.push_back(bytes[static_cast<unsigned char>(c)]);
    return false;
  }
  if (unknown && !(fuse && previous))
    tokens.push_back(*unknown);
  return true;
}

Symbols::Symbols(std::string_view word) {
  if (word.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    runtime::fail("tokenizer: the text is too long: required: at most 2147483647 bytes; found: ",
                  word.size(), "; split the text");
  list.reserve(word.size());
  for (size_t i = 0; i < word.size();) {
    size_t size = std::min(announcedLength(word[i]), word.size() - i);
    auto at = static_cast<int32_t>(list.size());
    list.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(size), at - 1, at + 1, -1, {}});
    i += size;
  }
  if (!list.empty())
    list.back().next = -1;
}

void Symbols::merge(Symbol &left) {
  Symbol &right = list[static_cast<size_t>(left.next)];
  if (right.next >= 0)
    list[static_cast<size_t>(right.next)].previous = right.previous;
  left.size += right.size;
  left.next = right.next;
  right.size = 0;
}

} // namespace dlc::text
