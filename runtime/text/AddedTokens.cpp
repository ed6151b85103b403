//===- AddedTokens.cpp - tokens that are found before the text is split -------===//
#include "runtime/text/AddedTokens.h"
#include "runtime/text/Utf8.h"

#include <utf8proc.h>

namespace dlc::text {
namespace {

bool isWordCharacter(char32_t c) {
  utf8proc_category_t kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == '_' || (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NO);
}

/// Returns whether no word character is adjacent to the range.
bool atWordBoundaries(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !isWordCharacter(decodeAt(text, characterBefore(text, begin)).value)) &&
         (end == text.size() || !isWordCharacter(decodeAt(text, end).value));
}

} // namespace

void AddedTokens::insert(std::string_view text, TokenId id, const VocabularyToken &token) {
  if (text.empty())
    return;
  size_t node = trie.insert(text);
  nodes.resize(trie.size());
  nodes[node] = {id, &token};
  starts[static_cast<unsigned char>(text[0])] = true;
}

std::pair<size_t, size_t>
AddedTokens::longest(std::string_view text, size_t begin,
                     const std::function<bool(size_t, size_t)> &trusted) const {
  std::pair<size_t, size_t> best{begin, 0};
  size_t node = 0;
  for (size_t end = begin; end < text.size() && (node = trie.child(node, text[end])) != 0;) {
    ++end;
    const VocabularyToken *entry = nodes[node].entry;
    if (!entry || (entry->singleWord && !atWordBoundaries(text, begin, end)))
      continue;
    if (entry->kind == TokenKind::UserDefined || trusted(begin, end))
      best = {end, node};
  }
  return best;
}

std::vector<Fragment> AddedTokens::split(std::string_view text,
                                         const std::function<bool(size_t, size_t)> &trusted) const {
  std::vector<Fragment> fragments;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    auto [end, node] = starts[static_cast<unsigned char>(text[at])] ? longest(text, at, trusted)
                                                                    : std::pair(at, size_t(0));
    if (node == 0) {
      ++at;
      continue;
    }
    const VocabularyToken &entry = *nodes[node].entry;
    while (entry.stripLeft && at > begin &&
           isWhitespace(decodeAt(text, characterBefore(text, at)).value))
      at = characterBefore(text, at);
    if (at > begin)
      fragments.push_back({-1, begin, at});
    while (entry.stripRight && end < text.size() && isWhitespace(decodeAt(text, end).value))
      end += decodeAt(text, end).length;
    fragments.push_back({nodes[node].token, at, end});
    begin = at = end;
  }
  if (begin < text.size())
    fragments.push_back({-1, begin, text.size()});
  return fragments;
}

} // namespace dlc::text
