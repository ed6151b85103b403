//===- GgufTokenizer.cpp - tokenizers from the metadata of GGUF files ---------===//
#include "runtime/program/Message.h"
#include "runtime/text/PreTokenizers.h"

#include "dlc/text.hpp"

#include <algorithm>
#include <array>

namespace dlc::text {
namespace {

constexpr std::string_view lowerBlock = "\u2581";
/// Texts of the tokens that end a generated text or a turn of a conversation.
constexpr std::array endTexts = {"<|eot_id|>",
                                 "<|im_end|>",
                                 "<|end|>",
                                 "<|return|>",
                                 "<|call|>",
                                 "<|calls|>",
                                 "<|flush|>",
                                 "<end_of_turn>",
                                 "<|endoftext|>",
                                 "</s>",
                                 "<|eom_id|>",
                                 "<EOT>",
                                 "_<EOT>",
                                 "[EOT]",
                                 "[EOS]",
                                 "<|end_of_text|>",
                                 "<turn|>",
                                 "<end_of_utterance>",
                                 "<｜end▁of▁sentence｜>"};

/// Reads typed values of `tokenizer.` keys.
class Keys {
public:
  explicit Keys(const Metadata &metadata) : metadata(metadata) {}

  /// Returns a null pointer if the key is missing. Throws dlc::Error for another type.
  template <typename T> const T *get(std::string_view key, const char *type) const {
    auto found = metadata.find(key);
    if (found == metadata.end())
      return nullptr;
    const T *value = std::get_if<T>(&found->second);
    if (!value)
      runtime::fail("tokenizer: invalid type of the GGUF key '", key, "': required: ", type,
                    "; convert the model again");
    return value;
  }
  const std::string *text(std::string_view key) const { return get<std::string>(key, "string"); }
  bool flag(std::string_view key, bool otherwise) const {
    const bool *value = get<bool>(key, "bool");
    return value ? *value : otherwise;
  }

private:
  const Metadata &metadata;
};

/// Fills TokenizerData. The default ids are those of llama.cpp for each tokenizer model.
class Reader {
public:
  explicit Reader(const Metadata &metadata) : keys(metadata) {}

  TokenizerData read() {
    const std::string *model = keys.text("tokenizer.ggml.model");
    if (!model)
      runtime::fail("tokenizer: the GGUF key 'tokenizer.ggml.model' is missing; use a model file "
                    "with a tokenizer");
    readTokens();
    if (*model == "llama")
      readScores();
    else if (*model == "gpt2" || *model == "gemma4")
      readMerges(*model);
    else if (*model == "bert")
      readWordPiece();
    else if (*model == "t5")
      readUnigram();
    else
      runtime::fail("tokenizer: unsupported tokenizer model: required: llama, gpt2, gemma4, bert "
                    "or t5; found: ",
                    *model, "; convert the model with a supported tokenizer");
    readSpecial();
    return std::move(data);
  }

private:
  void readTokens() {
    const auto *texts = keys.get<std::vector<std::string>>("tokenizer.ggml.tokens", "strings");
    if (!texts)
      runtime::fail("tokenizer: the GGUF key 'tokenizer.ggml.tokens' is missing; use a model file "
                    "with a tokenizer");
    data.tokens.resize(texts->size());
    for (size_t i = 0; i < texts->size(); ++i)
      // An empty text cannot be a key of the index of tokens.
      data.tokens[i].text = (*texts)[i].empty() ? "[EMPTY_" + std::to_string(i) + "]" : (*texts)[i];
    auto each = [&](std::string_view key, auto set) {
      const auto *values = keys.get<std::vector<double>>(key, "array of numbers");
      if (values && values->size() < data.tokens.size())
        runtime::fail("tokenizer: the GGUF key '", key,
                      "' is too short: required: ", data.tokens.size(),
                      " values; found: ", values->size(), "; convert the model again");
      for (size_t i = 0; values && i < data.tokens.size(); ++i)
        set(data.tokens[i], (*values)[i]);
    };
    each("tokenizer.ggml.scores",
         [](VocabularyToken &token, double value) { token.score = static_cast<float>(value); });
    each("tokenizer.ggml.token_type", [](VocabularyToken &token, double value) {
      bool known = value >= 1 && value <= 6;
      token.kind = known ? static_cast<TokenKind>(static_cast<int>(value)) : TokenKind::Normal;
    });
  }

  /// Reads a SentencePiece BPE model. The key `add_space_prefix` controls the space before the
  /// first word.
  void readScores() {
    data.algorithm = TokenizerData::Algorithm::Scores;
    data.decoding = TokenizerData::Decoding::Metaspace;
    data.byteFallback = true;
    data.bos = 1;
    data.eos = 2;
    data.unknown = 0;
    addBos = true;
    data.stripFirstSpace = keys.flag("tokenizer.ggml.add_space_prefix", true);
    if (data.stripFirstSpace)
      data.normalizer.push_back(
          {.kind = NormalizerStep::Kind::PrependAfterSpecial, .content = " "});
    escapeSpaces();
  }

  /// Replaces spaces by U+2581.
  void escapeSpaces() {
    data.normalizer.push_back({.kind = NormalizerStep::Kind::Replace,
                               .pattern = " ",
                               .content = std::string(lowerBlock)});
  }

  void readMerges(const std::string &model) {
    const auto *merges = keys.get<std::vector<std::string>>("tokenizer.ggml.merges", "strings");
    if (!merges)
      runtime::fail("tokenizer: the GGUF key 'tokenizer.ggml.merges' is missing; convert the "
                    "model again");
    for (const std::string &merge : *merges) {
      size_t space = merge.find(' ', 1);
      if (space == merge.npos)
        runtime::fail("tokenizer: invalid merge: required: two pieces with a space between them; "
                      "found: '",
                      merge, "'; convert the model again");
      data.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
    }
    const std::string *name = keys.text("tokenizer.ggml.pre");
    if (model == "gpt2" && (!name || name->empty()))
      data.warnings.push_back("the model file does not name its pre-tokenizer, so that 'default' "
                              "is used and answers may be worse; convert the model again");
    const PreTokenizer &pre = preTokenizer(model == "gemma4"        ? model
                                           : name && !name->empty() ? *name
                                                                    : "default");
    data.ignoreMerges = pre.ignoreMerges;
    addBos = pre.addBos;
    if (model == "gpt2")
      data.bos = data.eos = 11;
    for (std::string_view expression : pre.expressions)
      data.splits.push_back({.pattern = std::string(expression)});
    data.byteFallback = pre.characters;
    data.decoding =
        pre.characters ? TokenizerData::Decoding::Metaspace : TokenizerData::Decoding::ByteLevel;
    if (pre.characters)
      escapeSpaces();
    else
      data.splits.push_back({.kind = SplitStep::Kind::ByteLevel});
  }

  static const PreTokenizer &preTokenizer(std::string_view name) {
    for (const PreTokenizer &row : preTokenizers())
      if (std::find(row.names.begin(), row.names.end(), name) != row.names.end())
        return row;
    std::string known;
    for (const PreTokenizer &row : preTokenizers())
      for (std::string_view each : row.names)
        known.append(known.empty() ? "" : ", ").append(each);
    runtime::fail("tokenizer: unsupported pre-tokenizer: required: ", known, "; found: ", name,
                  "; convert the model with a supported tokenizer");
  }

  void readWordPiece() {
    data.algorithm = TokenizerData::Algorithm::WordPiece;
    data.decoding = TokenizerData::Decoding::WordPiece;
    data.wordPrefix = lowerBlock;
    data.bos = 101;
    data.unknown = 100;
    data.separator = 102;
    data.pad = 0;
    data.mask = 103;
    addBos = addSeparator = true;
    data.stripFirstSpace = true;
    bool lowercase = keys.flag("tokenizer.ggml.normalizer.lowercase", true);
    data.normalizer.push_back(
        {.kind = NormalizerStep::Kind::Bert,
         .stripAccents = keys.flag("tokenizer.ggml.normalizer.strip_accents", lowercase),
         .lowercase = lowercase});
    data.splits.push_back({.kind = SplitStep::Kind::Bert});
  }

  void readUnigram() {
    data.algorithm = TokenizerData::Algorithm::Unigram;
    data.decoding = TokenizerData::Decoding::Metaspace;
    data.fuseUnknown = true;
    data.eos = 1;
    data.unknown = 2;
    data.pad = 0;
    addEos = true;
    const auto *map = keys.get<std::vector<double>>("tokenizer.ggml.precompiled_charsmap", "bytes");
    if (map && !map->empty()) {
      std::string bytes;
      for (double byte : *map) {
        if (!(byte >= -128 && byte <= 255))
          runtime::fail("tokenizer: invalid byte in the GGUF key "
                        "'tokenizer.ggml.precompiled_charsmap': required: -128 to 255; found: ",
                        byte, "; convert the model again");
        bytes += static_cast<char>(static_cast<int>(byte));
      }
      data.normalizer.push_back({.kind = NormalizerStep::Kind::CharacterMap, .content = bytes});
    }
    if (keys.flag("tokenizer.ggml.remove_extra_whitespaces", false))
      data.normalizer.push_back({.kind = NormalizerStep::Kind::MergeSpaces});
    data.stripFirstSpace = keys.flag("tokenizer.ggml.add_space_prefix", false);
    if (data.stripFirstSpace)
      data.normalizer.push_back({.kind = NormalizerStep::Kind::Prepend, .content = " "});
    escapeSpaces();
  }

  void readSpecial() {
    auto id = [&](const char *name, std::optional<TokenId> &to) {
      std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
      const int64_t *value = keys.get<int64_t>(key, "integer");
      auto size = static_cast<int64_t>(data.tokens.size());
      if (to && *to >= size)
        to.reset();
      if (value && *value >= 0 && *value < size)
        to = static_cast<TokenId>(*value);
      else if (value)
        data.warnings.push_back(runtime::message("the key ", key, " is ignored: required: 0 to ",
                                                 size - 1, "; found: ", *value));
    };
    std::optional<TokenId> turn, message;
    id("bos", data.bos);
    id("eos", data.eos);
    id("eot", turn);
    id("eom", message);
    id("unknown", data.unknown);
    id("seperator", data.separator); // the spelling of the format
    id("padding", data.pad);
    id("mask", data.mask);
    if (keys.flag("tokenizer.ggml.add_bos_token", addBos) && data.bos)
      data.prefix.push_back(*data.bos);
    if (keys.flag("tokenizer.ggml.add_sep_token", addSeparator) && data.separator)
      data.suffix.push_back(*data.separator);
    if (keys.flag("tokenizer.ggml.add_eos_token", addEos) && data.eos)
      data.suffix.push_back(*data.eos);
    for (auto end : {data.eos, turn, message})
      if (end)
        data.endOfGeneration.push_back(*end);
    readEnds();
    const std::string *name = keys.text("general.name");
    if (name && (name->find("hi-3") != name->npos || name->find("hi3") != name->npos))
      stripAfterSpecial();
    if (const std::string *source = keys.text("tokenizer.chat_template"))
      data.chatTemplate = *source;
  }

  /// Finds the tokens of `endTexts`, makes them control tokens, and adds them to `endOfGeneration`.
  void readEnds() {
    std::vector<TokenId> &ends = data.endOfGeneration;
    for (size_t i = 0; i < data.tokens.size(); ++i)
      if (std::find(endTexts.begin(), endTexts.end(), data.tokens[i].text) != endTexts.end()) {
        data.tokens[i].kind = TokenKind::Control;
        ends.push_back(static_cast<TokenId>(i));
      }
    // In gpt-oss, `<|end|>` only ends a message.
    auto has = [&](std::string_view text) {
      return std::any_of(ends.begin(), ends.end(), [&](TokenId id) {
        return data.tokens[static_cast<size_t>(id)].text == text;
      });
    };
    if ((has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>")))
      std::erase_if(
          ends, [&](TokenId id) { return data.tokens[static_cast<size_t>(id)].text == "<|end|>"; });
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }

  /// Phi-3 removes the whitespace after its special tokens. GGUF has no key for that.
  void stripAfterSpecial() {
    for (VocabularyToken &token : data.tokens)
      token.stripRight =
          (token.kind == TokenKind::Control || token.kind == TokenKind::UserDefined) &&
          token.text != "<unk>" && token.text != "<s>" && token.text != "<|endoftext|>";
  }

  Keys keys;
  TokenizerData data;
  bool addBos = false, addEos = false, addSeparator = false;
};

} // namespace

TokenizerData tokenizerFromGguf(const Metadata &metadata) { return Reader(metadata).read(); }

} // namespace dlc::text
