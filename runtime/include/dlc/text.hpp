//===- text.hpp - tokenizers and chat templates of language models -----------===//
//
//   auto tokenizer = dlc::text::Tokenizer(dlc::text::tokenizerFromJson(json, config));
//   auto ids = tokenizer.encode("Hello", {.parseSpecial = false});
//   auto chat = dlc::text::ChatTemplate(source);
//   auto prompt = tokenizer.encode(chat.render(R"({"messages": [...]})"));
//
// Needs libdlc_text (dlc::text in CMake). Errors are dlc::Error.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_TEXT_HPP
#define DLC_TEXT_HPP

#include "dlc/Error.h"
#include "dlc/Export.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dlc::text {

using TokenId = int32_t;

/// Kind of a vocabulary entry. The values are those of the GGUF key `tokenizer.ggml.token_type`.
enum class TokenKind : uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

/// Entry of a vocabulary.
struct VocabularyToken {
  std::string text;
  float score = 0;
  TokenKind kind = TokenKind::Normal;
  /// Whether an added token includes the whitespace before or after it (`lstrip`, `rstrip`).
  bool stripLeft = false, stripRight = false;
  /// Whether an added token matches only between word boundaries (`single_word`).
  bool singleWord = false;
  /// Whether an added token is searched in the normalized text instead of the input text.
  bool normalized = false;
};

/// One step of the normalization of a text.
struct NormalizerStep {
  enum class Kind {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Lowercase,
    StripAccents,
    /// Removes whitespace at the beginning if `left` is set, and at the end if `right` is set.
    Strip,
    /// Prepends `content` to a text that is not empty.
    Prepend,
    /// Prepends `content` at the beginning of the input and after special tokens.
    PrependAfterSpecial,
    /// Replaces the string `pattern` by `content`.
    Replace,
    /// Replaces the matches of the regular expression `pattern` by `content`.
    ReplaceMatches,
    /// BertNormalizer of the `tokenizers` library, with the options `cleanText` to `lowercase`.
    Bert,
    /// Precompiled character map of SentencePiece in `content`.
    CharacterMap,
    /// SentencePiece's `remove_extra_whitespaces`.
    MergeSpaces,
  };
  Kind kind = Kind::Nfc;
  std::string pattern = {}, content = {};
  bool left = true, right = true;
  bool cleanText = true, splitChinese = true, stripAccents = true, lowercase = true;
};

/// One step that splits a text into words (a pre-tokenizer of the `tokenizers` library).
struct SplitStep {
  enum class Kind {
    /// Splits at the matches of the regular expression `pattern`.
    Expression,
    /// Splits at the occurrences of the string `pattern`.
    String,
    /// Replaces each byte by the printable character of GPT-2's alphabet.
    ByteLevel,
    /// Adds a space before a text that does not start with one.
    PrefixSpace,
    /// Replaces spaces by `pattern` (U+2581) and optionally prepends it.
    Metaspace,
    /// Splits at whitespace and around punctuation like BERT.
    Bert,
    /// Splits at numeric characters.
    Digits,
    /// Splits at punctuation.
    Punctuation,
  };
  /// Treatment of the delimiters, with the names of the `tokenizers` library.
  enum class Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
  enum class Prepend { Never, First, Always };
  Kind kind = Kind::Expression;
  std::string pattern = {};
  Behavior behavior = Behavior::Isolated;
  /// Exchanges the delimiters with the text between them.
  bool invert = false;
  /// Metaspace: words to which `pattern` is prepended, unless they start with it.
  Prepend prepend = Prepend::Never;
  /// Metaspace: whether each replaced space starts a new word. Digits: whether each digit is a
  /// word.
  bool split = true;
};

/// Complete description of a tokenizer, which the readers of model files return.
struct TokenizerData {
  enum class Algorithm {
    /// Byte pair encoding (BPE). Pairs are merged in the order of `merges`.
    Merges,
    /// SentencePiece's BPE. Pairs are merged in the order of the scores of the merged tokens.
    Scores,
    /// SentencePiece's unigram model: the segmentation with the maximal sum of scores.
    Unigram,
    /// Longest match from the left of each word.
    WordPiece,
  };
  /// Conversion of the text of a token into bytes.
  enum class Decoding { Plain, ByteLevel, Metaspace, WordPiece };
  Algorithm algorithm = Algorithm::Merges;
  Decoding decoding = Decoding::Plain;
  std::vector<VocabularyToken> tokens;
  std::vector<std::pair<std::string, std::string>> merges;
  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> splits;

  /// Whether a word that is a token is encoded without merges (`ignore_merges`).
  bool ignoreMerges = false;
  /// Whether unknown characters are encoded by the tokens `<0x00>` to `<0xFF>`.
  bool byteFallback = false;
  /// Whether adjacent unknown characters are encoded by one unknown token (`fuse_unk`).
  bool fuseUnknown = false;
  /// WordPiece: prefix of the first piece of a word, and of the following pieces.
  std::string wordPrefix, continuationPrefix;
  /// WordPiece: maximum number of characters of a known word. 0 means no limit.
  size_t maxWordCharacters = 0;
  /// Whether decoding removes the space that encoding adds before the first word.
  bool stripFirstSpace = false;

  std::optional<TokenId> bos, eos, unknown, separator, pad, mask;
  /// Tokens that end a generated text.
  std::vector<TokenId> endOfGeneration;
  /// Tokens added before and after a text.
  std::vector<TokenId> prefix, suffix;
  /// Source of the chat template; empty if the model has none.
  std::string chatTemplate;
  /// Problems that do not prevent tokenization.
  std::vector<std::string> warnings;
};

/// Value of a GGUF key. Integers are widened to 64 bits, and numbers in arrays to double.
using MetadataValue =
    std::variant<bool, int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;
using Metadata = std::map<std::string, MetadataValue, std::less<>>;

/// Reads the keys `tokenizer.*` of a GGUF file.
DLC_EXPORT TokenizerData tokenizerFromGguf(const Metadata &metadata);
/// Reads `tokenizer.json`, and, if it is not empty, `tokenizer_config.json` of a Hugging Face
/// model.
DLC_EXPORT TokenizerData tokenizerFromJson(std::string_view tokenizer,
                                           std::string_view config = {});

/// Part of a prompt. Special tokens are recognized only in trusted pieces.
struct Piece {
  std::string text;
  bool trusted = false;
};

struct EncodeOptions {
  /// Adds the tokens that the model expects before and after a text, such as BOS. A BOS token
  /// that the text already starts with is not added again.
  bool addSpecial = true;
  /// Recognizes control tokens in the text. Has no effect on pieces that are not trusted.
  bool parseSpecial = false;
};

/// Converts text into token ids and back. Immutable, so that threads can share it.
class DLC_EXPORT Tokenizer {
public:
  explicit Tokenizer(TokenizerData data);
  ~Tokenizer();
  Tokenizer(Tokenizer &&) noexcept;
  Tokenizer &operator=(Tokenizer &&) noexcept;

  const TokenizerData &data() const;
  size_t size() const { return data().tokens.size(); }

  /// Returns the tokens of a text. Each byte that is not part of valid UTF-8 becomes U+FFFD.
  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;
  /// Encodes the concatenation of the pieces. A control token is recognized only if all of its
  /// bytes are in trusted pieces.
  std::vector<TokenId> encode(std::span<const Piece> pieces, bool addSpecial = true) const;
  /// Returns the text of the tokens. Control tokens are omitted unless `special` is set.
  std::string decode(std::span<const TokenId> ids, bool special = false) const;
  /// Returns the bytes of one token, which may be part of a UTF-8 character.
  std::string_view bytes(TokenId id) const;
  /// Returns whether the token is a control token or the unknown token.
  bool isControl(TokenId id) const;
  /// Returns whether the token is in `TokenizerData::endOfGeneration`.
  bool endsGeneration(TokenId id) const;
  /// Returns the token with this text, or std::nullopt.
  std::optional<TokenId> find(std::string_view text) const;

private:
  struct State;
  std::unique_ptr<const State> state;
};

/// Decodes a stream of tokens into whole UTF-8 characters. The tokenizer must outlive the decoder.
class DLC_EXPORT StreamDecoder {
public:
  /// `special`: whether control tokens are decoded. `first`: whether the stream starts a text, so
  /// that the space that encoding adds before the first word is removed.
  explicit StreamDecoder(const Tokenizer &tokenizer, bool special = false, bool first = false)
      : tokenizer(&tokenizer), special(special), first(first) {}
  /// Returns the characters completed by this token. Bytes that are not UTF-8 become U+FFFD.
  std::string push(TokenId id);
  /// Returns the pending bytes as text. An incomplete character becomes U+FFFD.
  std::string finish();

private:
  const Tokenizer *tokenizer;
  bool special, first;
  std::string pending;
};

/// Withholds text that may be the beginning of a stop string.
class DLC_EXPORT StopFilter {
public:
  explicit StopFilter(std::vector<std::string> stops);
  /// Returns the text that can be shown. No part of a stop string is returned.
  std::string push(std::string_view text);
  /// Returns the withheld text, which does not contain a whole stop string.
  std::string finish();
  /// Returns whether a stop string was found.
  bool stopped() const { return found; }

private:
  std::vector<std::string> stops;
  std::string pending;
  bool found = false;
};

/// Limits for the execution of a chat template.
struct TemplateLimits {
  /// Maximum number of steps: executed statements and expressions, plus a part of the bytes and
  /// elements of their results.
  size_t steps = 10'000'000;
  /// Maximum number of bytes of the rendered text.
  size_t outputBytes = 64u << 20;
};

/// Chat template in the subset of Jinja2 that models use. The constructor throws dlc::Error, with
/// the name and the line, for tags, filters, tests and methods that are not supported.
class DLC_EXPORT ChatTemplate {
public:
  explicit ChatTemplate(std::string_view source, TemplateLimits limits = {});
  ~ChatTemplate();
  ChatTemplate(ChatTemplate &&) noexcept;
  ChatTemplate &operator=(ChatTemplate &&) noexcept;
  /// Renders the template. `input`: a JSON object with the template's variables, whose strings are
  /// not trusted. `trusted`: a JSON object whose strings are trusted, such as `bos_token`. Its
  /// variables replace those of `input` with the same names. The text of numbers is trusted.
  std::vector<Piece> render(std::string_view input, std::string_view trusted = "{}") const;

private:
  struct State;
  std::unique_ptr<const State> state;
};

} // namespace dlc::text

#endif // DLC_TEXT_HPP
