//===- Tokenizer.cpp - converts text into token ids and back ------------------===//
#include "runtime/program/Message.h"
#include "runtime/text/AddedTokens.h"
#include "runtime/text/Model.h"
#include "runtime/text/Split.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <cmath>

namespace dlc::text {
namespace {

constexpr size_t maxTokens = 1 << 22, maxTokenBytes = 1 << 14, maxMerges = 1 << 23;

/// Begin and end offsets of the trusted ranges of a text, in ascending order and not adjacent.
using Ranges = std::vector<std::pair<size_t, size_t>>;

/// Throws dlc::Error for data that exceed a limit, and for ids that are not in the vocabulary.
void check(const TokenizerData &data) {
  auto limit = [](const char *what, size_t found, size_t required) {
    if (found > required)
      runtime::fail("tokenizer: too many ", what, ": required: at most ", required,
                    "; found: ", found, "; check the model file");
  };
  limit("tokens", data.tokens.size(), maxTokens);
  limit("merges", data.merges.size(), maxMerges);
  if (data.tokens.empty())
    runtime::fail("tokenizer: the vocabulary is empty; check the model file");
  for (const VocabularyToken &token : data.tokens) {
    limit("bytes in a token", token.text.size(), maxTokenBytes);
    if (!std::isfinite(token.score))
      runtime::fail("tokenizer: the score of the token '", token.text,
                    "' is not finite; convert the model again");
  }
  for (const auto &[left, right] : data.merges)
    limit("bytes in a merge", left.size() + right.size(), maxTokenBytes);
  auto inRange = [&](const char *what, std::optional<TokenId> id) {
    if (id && (*id < 0 || static_cast<size_t>(*id) >= data.tokens.size()))
      runtime::fail("tokenizer: the ", what, " token is not in the vocabulary: required: 0 to ",
                    data.tokens.size() - 1, "; found: ", *id, "; check the model file");
  };
  inRange("beginning-of-sequence", data.bos);
  inRange("end-of-sequence", data.eos);
  inRange("unknown", data.unknown);
  inRange("separator", data.separator);
  inRange("padding", data.pad);
  inRange("mask", data.mask);
  for (const auto &ids : {data.endOfGeneration, data.prefix, data.suffix})
    for (TokenId id : ids)
      inRange("special", id);
}

/// Returns the bytes that a token contributes to a decoded text.
std::string tokenBytes(const TokenizerData &data, const VocabularyToken &token) {
  if (isAdded(token))
    return token.text;
  using Decoding = TokenizerData::Decoding;
  switch (data.decoding) {
  case Decoding::Plain:
    return token.text;
  case Decoding::ByteLevel:
    return fromByteCharacters(token.text).value_or(token.text);
  case Decoding::Metaspace:
    return replaceAll(token.text, "\u2581", " ");
  case Decoding::WordPiece:
    if (!data.wordPrefix.empty())
      return replaceAll(token.text, data.wordPrefix, " ");
    if (token.text.starts_with(data.continuationPrefix))
      return token.text.substr(data.continuationPrefix.size());
    return " " + token.text;
  }
  return token.text;
}

} // namespace

struct Tokenizer::State {
  TokenizerData data;
  TokenIndex index;
  std::vector<std::string> bytes;
  std::vector<Normalizer> normalizer;
  std::vector<Splitter> splits;
  AddedTokens added, addedNormalized;
  std::unique_ptr<Model> model;
  std::vector<bool> ends;

  explicit State(TokenizerData source) : data(std::move(source)) {
    check(data);
    for (const NormalizerStep &step : data.normalizer)
      normalizer.push_back(makeNormalizer(step));
    for (const SplitStep &step : data.splits)
      splits.push_back(makeSplitter(step));
    addTokens();
    using Algorithm = TokenizerData::Algorithm;
    model = data.algorithm == Algorithm::Merges    ? makeMergeModel(data, index)
            : data.algorithm == Algorithm::Scores  ? makeScoreModel(data, index)
            : data.algorithm == Algorithm::Unigram ? makeUnigramModel(data, index)
                                                   : makeWordPieceModel(data, index);
  }

  /// Builds the index, the bytes of the tokens, and the tries of the added tokens.
  void addTokens() {
    index.reserve(data.tokens.size());
    ends.resize(data.tokens.size());
    for (TokenId id : data.endOfGeneration)
      ends[static_cast<size_t>(id)] = true;
    for (size_t i = 0; i < data.tokens.size(); ++i) {
      const VocabularyToken &token = data.tokens[i];
      auto id = static_cast<TokenId>(i);
      if (!token.text.empty() && !index.emplace(token.text, id).second)
        runtime::fail("tokenizer: the tokens ", index[token.text], " and ", id,
                      " have the same text '", token.text, "'; convert the model again");
      bool byte = data.byteFallback && token.text.size() == 6 && token.text.starts_with("<0x");
      if (byte && token.text == byteTokenName(byteValue(token.text)))
        bytes.emplace_back(1, static_cast<char>(byteValue(token.text)));
      else
        bytes.push_back(tokenBytes(data, token));
      if (!isAdded(token))
        continue;
      if (token.normalized && !normalizer.empty())
        addedNormalized.insert(normalized(token.text, {}), id, token);
      else
        added.insert(token.text, id, token);
    }
  }

  /// Returns the value of a byte token, whose name has the form `<0x..>`.
  static unsigned char byteValue(const std::string &name) {
    auto digit = [](char c) { return c >= 'A' ? c - 'A' + 10 : c - '0'; };
    return static_cast<unsigned char>(digit(name[3]) << 4 | (digit(name[4]) & 15));
  }

  std::string normalized(std::string text, Position position) const {
    for (const Normalizer &step : normalizer)
      text = step(std::move(text), position);
    return text;
  }

  void encodeWords(std::string text, Position position, std::vector<TokenId> &ids) const {
    Words words;
    words.push_back(std::move(text));
    for (const Splitter &split : splits)
      words = split(std::move(words), position);
    for (const std::string &word : words)
      if (!word.empty())
        model->encode(word, ids);
  }

  /// Encodes a range that contains no token of `added`. `trusted`: whether all bytes of the range
  /// are trusted.
  void encodeRange(std::string_view range, Position position, bool trusted,
                   std::vector<TokenId> &ids) const {
    std::string text = normalized(std::string(range), position);
    if (addedNormalized.empty())
      return encodeWords(std::move(text), position, ids);
    for (const Fragment &part : addedNormalized.split(text, [&](auto, auto) { return trusted; })) {
      if (part.token >= 0)
        ids.push_back(part.token);
      else
        encodeWords(text.substr(part.begin, part.end - part.begin),
                    {position.first && part.begin == 0, position.afterSpecial && part.begin == 0},
                    ids);
    }
  }

  std::vector<TokenId> encode(std::string_view text, const Ranges &ranges, bool addSpecial) const {
    auto trusted = [&](size_t begin, size_t end) {
      auto range = std::upper_bound(ranges.begin(), ranges.end(), std::pair(begin, SIZE_MAX));
      return range != ranges.begin() && std::prev(range)->second >= end;
    };
    std::vector<TokenId> ids;
    bool special = true;
    for (const Fragment &part : added.split(text, trusted)) {
      if (part.token >= 0)
        ids.push_back(part.token);
      else
        encodeRange(text.substr(part.begin, part.end - part.begin), {part.begin == 0, special},
                    trusted(part.begin, part.end), ids);
      special = part.token >= 0;
    }
    if (!addSpecial)
      return ids;
    bool doubled = data.prefix.size() == 1 && !ids.empty() && ids.front() == data.prefix[0];
    if (!doubled)
      ids.insert(ids.begin(), data.prefix.begin(), data.prefix.end());
    ids.insert(ids.end(), data.suffix.begin(), data.suffix.end());
    return ids;
  }

  /// Returns the id as an index. Throws dlc::Error if the id is not in the vocabulary.
  size_t checked(TokenId id) const {
    if (id < 0 || static_cast<size_t>(id) >= data.tokens.size())
      runtime::fail("tokenizer: invalid token id: required: 0 to ", data.tokens.size() - 1,
                    "; found: ", id, "; pass ids of this model's vocabulary");
    return static_cast<size_t>(id);
  }
};

Tokenizer::Tokenizer(TokenizerData data) : state(std::make_unique<State>(std::move(data))) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;

const TokenizerData &Tokenizer::data() const { return state->data; }

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::string valid = replaceInvalid(text);
  Ranges ranges;
  if (options.parseSpecial)
    ranges.emplace_back(0, valid.size());
  return state->encode(valid, ranges, options.addSpecial);
}

std::vector<TokenId> Tokenizer::encode(std::span<const Piece> pieces, bool addSpecial) const {
  std::string text;
  Ranges ranges;
  for (const Piece &piece : pieces) {
    size_t begin = text.size();
    // Pieces are validated one by one, so that no character spans two pieces.
    text += replaceInvalid(piece.text);
    if (!piece.trusted || text.size() == begin)
      continue;
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = text.size();
    else
      ranges.emplace_back(begin, text.size());
  }
  return state->encode(text, ranges, addSpecial);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool special) const {
  StreamDecoder decoder(*this, special, true);
  std::string text;
  for (TokenId id : ids)
    text += decoder.push(id);
  return text + decoder.finish();
}

std::string_view Tokenizer::bytes(TokenId id) const { return state->bytes[state->checked(id)]; }

bool Tokenizer::isControl(TokenId id) const {
  return !isOrdinary(state->data.tokens[state->checked(id)]);
}

bool Tokenizer::endsGeneration(TokenId id) const { return state->ends[state->checked(id)]; }

std::optional<TokenId> Tokenizer::find(std::string_view text) const {
  auto found = state->index.find(text);
  return found == state->index.end() ? std::nullopt : std::optional(found->second);
}

} // namespace dlc::text
