//===- WordPieceModel.cpp - longest match from the left of each word ----------===//
#include "runtime/text/Model.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace dlc::text {
namespace {

class WordPieceModel : public Model {
public:
  WordPieceModel(const TokenizerData &data, const TokenIndex &index) : data(data), index(index) {
    for (const VocabularyToken &token : data.tokens)
      longest = std::max(longest, token.text.size());
  }

  void encode(std::string_view word, std::vector<TokenId> &tokens) const override {
    size_t before = tokens.size();
    bool tooLong = data.maxWordCharacters != 0 && word.size() > data.maxWordCharacters &&
                   toCodePoints(word).size() > data.maxWordCharacters;
    std::string text = data.wordPrefix + std::string(word), piece;
    bool known = !tooLong;
    for (size_t begin = 0; known && begin < text.size();) {
      size_t end = std::min(text.size(), begin + longest);
      for (known = false; end > begin; --end) {
        // A token does not end inside a character.
        if (end < text.size() && (text[end] & 0xC0) == 0x80)
          continue;
        piece = begin == 0 ? "" : data.continuationPrefix;
        piece.append(text, begin, end - begin);
        if (TokenId id = findOrdinary(data, index, piece); id >= 0) {
          tokens.push_back(id);
          begin = end;
          known = true;
          break;
        }
      }
    }
    if (known && tokens.size() != before)
      return;
    tokens.resize(before);
    if (data.unknown)
      tokens.push_back(*data.unknown);
  }

private:
  const TokenizerData &data;
  const TokenIndex &index;
  /// Number of bytes of the longest token.
  size_t longest = 0;
};

} // namespace

std::unique_ptr<Model> makeWordPieceModel(const TokenizerData &data, const TokenIndex &index) {
  return std::make_unique<WordPieceModel>(data, index);
}

} // namespace dlc::text
