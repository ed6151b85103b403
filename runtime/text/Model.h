//===- Model.h - segmentation of words into tokens -----------------------------===//
#ifndef DLC_RUNTIME_TEXT_MODEL_H
#define DLC_RUNTIME_TEXT_MODEL_H

#include "dlc/text.hpp"

#include <functional>
#include <queue>
#include <unordered_map>

namespace dlc::text {

/// Index of the tokens by their text. The keys refer to the texts in `TokenizerData::tokens`.
using TokenIndex = std::unordered_map<std::string_view, TokenId>;

/// Returns whether models produce a token. Control tokens and the unknown token do not result from
/// ordinary text that spells them.
inline bool isOrdinary(const VocabularyToken &token) {
  return token.kind != TokenKind::Control && token.kind != TokenKind::Unknown;
}

/// Returns whether a token is searched in the text before models segment it.
inline bool isAdded(const VocabularyToken &token) {
  return !isOrdinary(token) || token.kind == TokenKind::UserDefined;
}

/// Returns the token with this text that models produce, or -1.
inline TokenId findOrdinary(const TokenizerData &data, const TokenIndex &index,
                            std::string_view text) {
  auto found = index.find(text);
  bool ordinary =
      found != index.end() && isOrdinary(data.tokens[static_cast<size_t>(found->second)]);
  return ordinary ? found->second : -1;
}

/// Segments words into tokens.
class Model {
public:
  virtual ~Model() = default;
  /// Appends the tokens of a word, which is valid UTF-8.
  virtual void encode(std::string_view word, std::vector<TokenId> &tokens) const = 0;
};

// Models for the algorithms of TokenizerData. They refer to the data and the index.
std::unique_ptr<Model> makeMergeModel(const TokenizerData &data, const TokenIndex &index);
std::unique_ptr<Model> makeScoreModel(const TokenizerData &data, const TokenIndex &index);
std::unique_ptr<Model> makeUnigramModel(const TokenizerData &data, const TokenIndex &index);
std::unique_ptr<Model> makeWordPieceModel(const TokenizerData &data, const TokenIndex &index);

/// Tokens that represent the parts of a word which are not in the vocabulary.
class Fallback {
public:
  Fallback(const TokenizerData &data, const TokenIndex &index);
  /// Appends the byte tokens of a text; without byte fallback, the unknown token if there is one.
  /// `previous`: whether the previous part of the word was unknown. Returns whether this text is
  /// unknown.
  bool append(std::string_view text, bool previous, std::vector<TokenId> &tokens) const;

private:
  /// The token of each byte; empty without byte fallback.
  std::vector<TokenId> bytes;
  std::optional<TokenId> unknown;
  /// Whether adjacent unknown parts get one unknown token.
  bool fuse;
};

/// Returns the name of the token that represents a byte, such as `<0x0A>`.
std::string byteTokenName(unsigned char byte);

/// Prefix tree of texts. Node 0 is the root.
class Trie {
public:
  /// Adds a text, and returns its node.
  size_t insert(std::string_view text) {
    size_t node = 0;
    for (char c : text)
      node = edges.emplace(key(node, c), size()).first->second;
    return node;
  }
  /// Returns 0 if the node has no such child.
  size_t child(size_t node, char c) const {
    auto found = edges.find(key(node, c));
    return found == edges.end() ? 0 : found->second;
  }
  size_t size() const { return edges.size() + 1; }

private:
  static uint64_t key(size_t node, char c) {
    return static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(c);
  }
  std::unordered_map<uint64_t, size_t> edges;
};

/// Merge of two adjacent symbols. Merges with low priority numbers are applied first.
struct Merge {
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t priority = none;
  /// Id of the merged symbol.
  int32_t result = -1;
};

/// Characters and merged pieces of a word, as a doubly linked list in a vector. A symbol that was
/// merged into its predecessor has the size 0.
struct Symbols {
  struct Symbol {
    uint32_t begin, size;
    int32_t previous, next;
    int32_t id;
    /// Merge with the next symbol.
    Merge merge;
  };
  std::vector<Symbol> list;
  /// Divides a word into characters.
  explicit Symbols(std::string_view word);
  /// Appends the next symbol to this one.
  void merge(Symbol &left);
};

/// Merges adjacent symbols by priority and then from the left, until no merge applies.
/// `find(left, right)` returns the merge of two symbols.
template <typename Find> void mergeSymbols(Symbols &symbols, Find find) {
  auto at = [&](int32_t i) -> Symbols::Symbol & { return symbols.list[static_cast<size_t>(i)]; };
  // An entry is the priority of a merge and the index of its left symbol. It is obsolete if the
  // symbol has another merge now.
  std::vector<uint64_t> entries;
  auto update = [&](int32_t left) {
    if (left < 0)
      return false;
    Symbols::Symbol &symbol = at(left);
    symbol.merge = symbol.next < 0 ? Merge() : find(symbol, at(symbol.next));
    return symbol.merge.priority != Merge::none;
  };
  auto entry = [&](int32_t left) {
    return static_cast<uint64_t>(at(left).merge.priority) << 32 | static_cast<uint32_t>(left);
  };
  for (int32_t i = 0; i < static_cast<int32_t>(symbols.list.size()); ++i)
    if (update(i))
      entries.push_back(entry(i));
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> queue(std::greater<>(),
                                                                             std::move(entries));
  while (!queue.empty()) {
    uint64_t next = queue.top();
    queue.pop();
    auto left = static_cast<int32_t>(next & UINT32_MAX);
    Symbols::Symbol &symbol = at(left);
    if (symbol.size == 0 || symbol.merge.priority != next >> 32)
      continue;
    symbol.id = symbol.merge.result;
    symbols.merge(symbol);
    for (int32_t each : {symbol.previous, left})
      if (update(each))
        queue.push(entry(each));
  }
}

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_MODEL_H
