//===- UnigramModel.cpp - segmentation with the maximal sum of scores ---------===//
#include "runtime/text/Model.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <limits>

namespace dlc::text {
namespace {

/// SentencePiece's difference between the score of the unknown token and the lowest score.
constexpr double unknownPenalty = 10;

class UnigramModel : public Model {
public:
  UnigramModel(const TokenizerData &data, const TokenIndex &index)
      : data(data), fallback(data, index) {
    double lowest = 0;
    for (size_t id = 0; id < data.tokens.size(); ++id) {
      const VocabularyToken &token = data.tokens[id];
      if (token.kind == TokenKind::Normal)
        lowest = std::min(lowest, static_cast<double>(token.score));
      if (token.kind == TokenKind::Normal || token.kind == TokenKind::UserDefined ||
          token.kind == TokenKind::Unused)
        insert(token.text, static_cast<TokenId>(id));
    }
    unknownScore = lowest - unknownPenalty;
  }

  void encode(std::string_view word, std::vector<TokenId> &tokens) const override {
    std::vector<Step> best(word.size() + 1);
    best[0].score = 0;
    for (size_t from = 0; from < word.size();) {
      size_t length = std::min(announcedLength(word[from]), word.size() - from);
      // Whether a token equals the character at `from`.
      bool whole = false;
      size_t node = 0;
      for (size_t to = from; to < word.size() && (node = trie.child(node, word[to])) != 0;) {
        ++to;
        if (nodes[node] < 0)
          continue;
        whole |= to - from == length;
        improve(best, from, to, nodes[node], score(nodes[node]));
      }
      if (!whole)
        improve(best, from, from + length, -1, unknownScore);
      from += length;
    }
    append(word, best, tokens);
  }

private:
  /// Best segmentation of the text up to a position: its last token (-1: unknown) and its score.
  struct Step {
    double score = -std::numeric_limits<double>::infinity();
    size_t from = 0;
    TokenId token = -1;
  };

  double score(TokenId id) const {
    const VocabularyToken &token = data.tokens[static_cast<size_t>(id)];
    return token.kind == TokenKind::UserDefined ? 0 : token.score;
  }
  static void improve(std::vector<Step> &best, size_t from, size_t to, TokenId token,
                      double score) {
    if (double sum = best[from].score + score; sum > best[to].score)
      best[to] = {sum, from, token};
  }
  void append(std::string_view word, const std::vector<Step> &best,
              std::vector<TokenId> &tokens) const {
    std::vector<size_t> ends;
    for (size_t end = word.size(); end > 0; end = best[end].from)
      ends.push_back(end);
    bool unknown = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Step &step = best[*end];
      if (step.token >= 0)
        tokens.push_back(step.token);
      unknown = step.token < 0 &&
                fallback.append(word.substr(step.from, *end - step.from), unknown, tokens);
    }
  }

  void insert(std::string_view text, TokenId id) {
    size_t node = trie.insert(text);
    nodes.resize(trie.size(), -1);
    if (node != 0)
      nodes[node] = id;
  }

  const TokenizerData &data;
  Fallback fallback;
  double unknownScore = 0;
  Trie trie;
  /// The token of each node of the trie, or -1.
  std::vector<TokenId> nodes{-1};
};

} // namespace

std::unique_ptr<Model> makeUnigramModel(const TokenizerData &data, const TokenIndex &index) {
  return std::make_unique<UnigramModel>(data, index);
}

} // namespace dlc::text
