//===- AddedTokens.h - tokens that are found before the text is split ---------===//
#ifndef DLC_RUNTIME_TEXT_ADDEDTOKENS_H
#define DLC_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/Model.h"

#include <array>

namespace dlc::text {

/// Part of a text: an added token, or a range without added tokens (`token` is -1).
struct Fragment {
  TokenId token;
  size_t begin, end;
};

/// Finds the control tokens and user-defined tokens of a text from left to right. If several tokens
/// match at a position, the longest one is used.
class AddedTokens {
public:
  void insert(std::string_view text, TokenId id, const VocabularyToken &token);
  bool empty() const { return nodes.size() == 1; }
  /// Divides a text into fragments. `trusted(begin, end)`: whether control tokens are recognized in
  /// a range.
  std::vector<Fragment> split(std::string_view text,
                              const std::function<bool(size_t, size_t)> &trusted) const;

private:
  /// Node of the trie of the tokens. `entry` is null if no token ends here.
  struct Node {
    TokenId token = -1;
    const VocabularyToken *entry = nullptr;
  };
  /// Returns the end and the node of the longest token at a position; node 0 if there is none.
  std::pair<size_t, size_t> longest(std::string_view text, size_t begin,
                                    const std::function<bool(size_t, size_t)> &trusted) const;

  Trie trie;
  std::vector<Node> nodes{1};
  /// Whether at least one token starts with a given byte.
  std::array<bool, 256> starts{};
};

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_ADDEDTOKENS_H
