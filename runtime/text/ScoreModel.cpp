//===- ScoreModel.cpp - SentencePiece's byte pair encoding by scores ----------===//
#include "runtime/text/Model.h"

#include <bit>

namespace dlc::text {
namespace {

class ScoreModel : public Model {
public:
  ScoreModel(const TokenizerData &data, const TokenIndex &index)
      : data(data), index(index), fallback(data, index) {
    for (const VocabularyToken &token : data.tokens) {
      if (token.text.size() >= lengths.size())
        lengths.resize(token.text.size() + 1);
      lengths[token.text.size()] = true;
    }
  }

  void encode(std::string_view word, std::vector<TokenId> &tokens) const override {
    Symbols symbols(word);
    mergeSymbols(symbols, [&](const auto &left, const auto &right) {
      uint32_t size = left.size + right.size;
      if (size >= lengths.size() || !lengths[size])
        return Merge();
      TokenId id = findOrdinary(data, index, word.substr(left.begin, size));
      return id < 0 ? Merge() : Merge{priority(data.tokens[static_cast<size_t>(id)].score), id};
    });
    bool unknown = false;
    for (const auto &symbol : symbols.list) {
      if (symbol.size == 0)
        continue;
      std::string_view text = word.substr(symbol.begin, symbol.size);
      TokenId id = findOrdinary(data, index, text);
      if (id >= 0)
        tokens.push_back(id);
      unknown = id < 0 && fallback.append(text, unknown, tokens);
    }
  }

private:
  /// Returns the priority of a score: higher scores have lower numbers.
  static uint32_t priority(float score) {
    auto bits = std::bit_cast<uint32_t>(score == 0 ? 0.0f : score);
    return bits >> 31 ? bits : 0x7FFFFFFF - bits;
  }

  const TokenizerData &data;
  const TokenIndex &index;
  Fallback fallback;
  /// Whether a token with a given number of bytes exists.
  std::vector<bool> lengths;
};

} // namespace

std::unique_ptr<Model> makeScoreModel(const TokenizerData &data, const TokenIndex &index) {
  return std::make_unique<ScoreModel>(data, index);
}

} // namespace dlc::text
