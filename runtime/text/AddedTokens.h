//===- AddedTokens.h - tokens that are found before the text is split ---------===//
#ifndef DLC_RUNTIME_TEXT_ADDEDTOKENS_H
#define DLC_RUNTIME_TEXT_ADDEDTOKENS_H

#include "dlc/text.hpp"

#include <array>
#include <functional>
#include <unordered_map>

namespace dlc::text {

/// Part of a text: a token, or a range without added tokens.
struct Fragment {
  TokenId token;
  size_t begin, end;
};

/// Finds control tokens and user-defined tokens: at each position from the left, the longest.
class AddedTokens {
public:
  void insert(std::string_view text, TokenId id, const VocabularyToken &token);
  bool empty() const { return edges.empty(); }
  /// `trusted(begin, end)`: whether control tokens are recognized in a range.
  std::vector<Fragment> split(std::string_view text,
                              const std::function<bool(size_t, size_t)> &trusted) const;

private:
  struct Node {
    TokenId token = -1;
    const VocabularyToken *entry = nullptr;
  };
  /// Returns the end and the node of the longest token at a position; node 0 if there is none.
  std::pair<size_t, size_t> longest(std::string_view text, size_t begin,
                                    const std::function<bool(size_t, size_t)> &trusted) const;

  std::vector<Node> nodes{1};
  std::unordered_map<uint64_t, size_t> edges;
  /// Whether a token starts with a byte.
  std::array<bool, 256> starts{};
};

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_ADDEDTOKENS_H
