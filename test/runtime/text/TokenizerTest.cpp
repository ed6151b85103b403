//===- TokenizerTest.cpp - tests of tokenizers with small vocabularies ---------===//
#include "dlc/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc::text;

namespace {

using Ids = std::vector<TokenId>;
using Strings = std::vector<std::string>;

/// Returns the metadata of a SentencePiece model: special tokens, byte tokens, and pieces with
/// decreasing scores.
Metadata sentencePiece(const Strings &pieces) {
  Strings tokens = {"<unk>", "<s>", "</s>"};
  std::vector<double> types = {2, 3, 3}, scores = {0, 0, 0};
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    tokens.push_back(name);
    types.push_back(6);
    scores.push_back(0);
  }
  for (const std::string &piece : pieces) {
    tokens.push_back(piece);
    types.push_back(1);
    scores.push_back(-static_cast<double>(tokens.size()));
  }
  return {{"tokenizer.ggml.model", "llama"},
          {"tokenizer.ggml.tokens", tokens},
          {"tokenizer.ggml.token_type", types},
          {"tokenizer.ggml.scores", scores}};
}

constexpr TokenId firstByte = 3, firstPiece = 259;

/// Returns the metadata of a byte-level BPE model with the pre-tokenizer `pre`.
Metadata bytePairs(const std::string &pre) {
  Strings tokens = {
      "h",          "e",     "l",      "o",      "\u0120", "w",     "r",       "d",
      "1",          "2",     "he",     "ll",     "hell",   "hello", "\u0120w", "<|im_start|>",
      "<|im_end|>", "<tag>", "\u00c3", "\u00a4", "12"};
  std::vector<double> types(tokens.size(), 1);
  types[15] = types[16] = 3;
  types[17] = 4;
  return {{"tokenizer.ggml.model", "gpt2"},
          {"tokenizer.ggml.pre", pre},
          {"tokenizer.ggml.tokens", tokens},
          {"tokenizer.ggml.token_type", types},
          {"tokenizer.ggml.bos_token_id", int64_t(15)},
          {"tokenizer.ggml.eos_token_id", int64_t(16)},
          {"tokenizer.ggml.merges", Strings{"h e", "l l", "he ll", "hell o", "\u0120 w", "1 2"}}};
}

template <typename Action> std::string errorOf(Action action) {
  try {
    action();
  } catch (const dlc::Error &error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(Tokenizer, MergesByScoreAndFallsBackToBytes) {
  Tokenizer tokenizer(tokenizerFromGguf(sentencePiece({"\u2581a", "ab", "\u2581", "a", "b"})));
  EXPECT_EQ(tokenizer.encode("ab"), (Ids{1, firstPiece, firstPiece + 4}));
  EXPECT_EQ(tokenizer.encode("", {.addSpecial = false}), Ids{});
  EXPECT_EQ(tokenizer.encode("\n", {.addSpecial = false}), (Ids{firstPiece + 2, firstByte + '\n'}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("ab a\u4e2d")), "ab a\u4e2d");
}

TEST(Tokenizer, DoesNotAddASecondBos) {
  Tokenizer tokenizer(tokenizerFromGguf(sentencePiece({"\u2581a", "\u2581", "a"})));
  EXPECT_EQ(tokenizer.encode("<s>a", {.parseSpecial = true}), (Ids{1, firstPiece}));
  EXPECT_EQ(tokenizer.encode("a"), (Ids{1, firstPiece}));
}

TEST(Tokenizer, SplitsNumbersByPreTokenizer) {
  EXPECT_EQ(Tokenizer(tokenizerFromGguf(bytePairs("gpt-2"))).encode("12"), Ids{20});
  EXPECT_EQ(Tokenizer(tokenizerFromGguf(bytePairs("qwen2"))).encode("12"), (Ids{8, 9}));
  EXPECT_EQ(Tokenizer(tokenizerFromGguf(bytePairs("llama-bpe"))).encode("12"), (Ids{15, 20}));
}

TEST(Tokenizer, MergesByRank) {
  Tokenizer tokenizer(tokenizerFromGguf(bytePairs("gpt-2")));
  EXPECT_EQ(tokenizer.encode("hello world"), (Ids{13, 14, 3, 6, 2, 7}));
  EXPECT_EQ(tokenizer.decode(Ids{13, 14, 3, 6, 2, 7}), "hello world");
}

TEST(Tokenizer, ParsesControlTokensOnlyOnRequest) {
  Tokenizer tokenizer(tokenizerFromGguf(bytePairs("gpt-2")));
  EXPECT_EQ(tokenizer.encode("<|im_end|>h", {.parseSpecial = true}), (Ids{16, 0}));
  Ids plain = tokenizer.encode("<|im_end|>h");
  EXPECT_EQ(std::count(plain.begin(), plain.end(), 16), 0);
  // User-defined tokens are ordinary text of the vocabulary.
  EXPECT_EQ(tokenizer.encode("<tag>h"), (Ids{17, 0}));
}

TEST(Tokenizer, NeverReadsSpecialTokensInUntrustedPieces) {
  Tokenizer tokenizer(tokenizerFromGguf(bytePairs("gpt-2")));
  auto ends = [&](std::vector<Piece> pieces) {
    Ids ids = tokenizer.encode(pieces);
    return std::count(ids.begin(), ids.end(), 16);
  };
  EXPECT_EQ(ends({{"<|im_end|>", true}}), 1);
  EXPECT_EQ(ends({{"<|im_", true}, {"end|>", true}}), 1);
  EXPECT_EQ(ends({{"<|im_end|>", false}}), 0);
  EXPECT_EQ(ends({{"<|im_", true}, {"end|>", false}}), 0);
  EXPECT_EQ(ends({{"<|im_", false}, {"end|>", true}}), 0);
  EXPECT_EQ(ends({{"<|im", true}, {"_", false}, {"end|>", true}}), 0);
  // Words continue across pieces.
  EXPECT_EQ(tokenizer.encode(std::vector<Piece>{{"hel", true}, {"lo", false}}), Ids{13});
}

TEST(Tokenizer, DoesNotMergeTextIntoControlTokens) {
  Tokenizer scores(tokenizerFromGguf(sentencePiece({"\u2581", "<", "s>"})));
  EXPECT_EQ(scores.encode("<s>", {.addSpecial = false}),
            (Ids{firstPiece, firstPiece + 1, firstPiece + 2}));
  Metadata metadata = bytePairs("llama-bpe");
  std::get<std::vector<double>>(metadata["tokenizer.ggml.token_type"])[13] = 3;
  // "hello" is a control token, which is neither a merge nor a whole word.
  EXPECT_EQ(Tokenizer(tokenizerFromGguf(metadata)).encode("hello", {.addSpecial = false}),
            (Ids{12, 3}));
}

TEST(Tokenizer, ReplacesInvalidBytes) {
  Tokenizer tokenizer(tokenizerFromGguf(sentencePiece({"\u2581", "\ufffd"})));
  for (const char *text : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF5", "\xE4\xB8"}) {
    Ids ids = tokenizer.encode(text, {.addSpecial = false});
    EXPECT_EQ(ids.size(), 1 + std::string_view(text).size()) << text;
    EXPECT_EQ(ids.back(), firstPiece + 1);
  }
}

TEST(Tokenizer, ReportsInvalidModels) {
  Metadata metadata = bytePairs("gpt-2");
  metadata["tokenizer.ggml.pre"] = "gpt-99";
  EXPECT_NE(errorOf([&] { tokenizerFromGguf(metadata); }).find("found: gpt-99"), std::string::npos);
  metadata = bytePairs("gpt-2");
  metadata["tokenizer.ggml.merges"] = int64_t(3);
  EXPECT_NE(errorOf([&] { tokenizerFromGguf(metadata); }).find("required: strings"),
            std::string::npos);
  metadata = bytePairs("gpt-2");
  std::get<Strings>(metadata["tokenizer.ggml.tokens"])[1] = "h";
  EXPECT_NE(errorOf([&] { Tokenizer(tokenizerFromGguf(metadata)); }).find("the same text 'h'"),
            std::string::npos);
  metadata = sentencePiece({"a"});
  std::get<std::vector<double>>(metadata["tokenizer.ggml.scores"])[3] = -INFINITY;
  EXPECT_NE(errorOf([&] { Tokenizer(tokenizerFromGguf(metadata)); }).find("is not finite"),
            std::string::npos);
  metadata["tokenizer.ggml.model"] = "t5";
  metadata["tokenizer.ggml.precompiled_charsmap"] = std::vector<double>{0, NAN};
  EXPECT_NE(errorOf([&] { tokenizerFromGguf(metadata); }).find("invalid byte"), std::string::npos);
  Tokenizer tokenizer(tokenizerFromGguf(bytePairs("gpt-2")));
  EXPECT_NE(errorOf([&] { tokenizer.decode(Ids{21}); }).find("required: 0 to 20; found: 21"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { tokenizer.decode(Ids{-1}); }).find("found: -1"), std::string::npos);
}

TEST(Tokenizer, ConvertsCharacterClasses) {
  auto encode = [](const std::string &pattern, std::string_view text) {
    return Tokenizer(tokenizerFromJson(R"({"pre_tokenizer": {"type": "Split", "behavior": "Removed",
                       "pattern": {"Regex": ")" +
                                       pattern + R"("}},
                       "model": {"type": "BPE", "merges": [], "vocab":
                       {"a": 0, "b": 1, " ": 2, "]": 3, "\u180e": 4}}})"))
        .encode(text);
  };
  EXPECT_EQ(encode(R"([]\\s])", "a b]"), (Ids{0, 1}));
  EXPECT_EQ(encode(R"([\\s-.])", "a-. b"), (Ids{0, 1}));
  EXPECT_EQ(encode(R"([\\S])", "\u180e a"), Ids{2});
  EXPECT_NE(errorOf([&] { encode(R"(\\Qa\\E)", "a"); }).find("escape '\\Q'"), std::string::npos);
}

TEST(StreamDecoder, ReturnsWholeCharacters) {
  Tokenizer tokenizer(tokenizerFromGguf(bytePairs("gpt-2")));
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(18), "");
  EXPECT_EQ(decoder.push(19), "\u00e4");
  EXPECT_EQ(decoder.push(16), "");
  EXPECT_EQ(decoder.push(18), "");
  EXPECT_EQ(decoder.push(0), "\ufffdh");
  EXPECT_EQ(decoder.push(18), "");
  EXPECT_EQ(decoder.finish(), "\ufffd");
  EXPECT_TRUE(tokenizer.endsGeneration(16));
  EXPECT_FALSE(tokenizer.endsGeneration(15));
}

TEST(StopFilter, ShowsNoPartOfAStopString) {
  StopFilter filter({"<end>", "\n\nUser"});
  EXPECT_EQ(filter.push("Hello <"), "Hello ");
  EXPECT_EQ(filter.push("en"), "");
  EXPECT_EQ(filter.push("try\n"), "<entry");
  EXPECT_EQ(filter.push("\nUs"), "");
  EXPECT_EQ(filter.push("er: x"), "");
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.push("more"), "");
  EXPECT_EQ(filter.finish(), "");
  StopFilter other({"abc"});
  EXPECT_EQ(other.push("xab"), "x");
  EXPECT_EQ(other.finish(), "ab");
  EXPECT_FALSE(other.stopped());
}

TEST(Tokenizer, ReadsTokenizerJson) {
  Tokenizer tokenizer(tokenizerFromJson(R"({
    "normalizer": {"type": "BertNormalizer", "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
    "decoder": {"type": "WordPiece", "prefix": "##"},
    "added_tokens": [{"id": 2, "content": "[SEP]", "special": true, "normalized": false}],
    "model": {"type": "WordPiece", "unk_token": "[UNK]",
              "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "play": 3, "##ing": 4, "!": 5}}})"));
  EXPECT_EQ(tokenizer.encode("Playing! x"), (Ids{1, 3, 4, 5, 0, 2}));
  EXPECT_EQ(tokenizer.decode(Ids{3, 4, 5}), "playing !");
  EXPECT_EQ(tokenizer.encode("[SEP]", {.addSpecial = false, .parseSpecial = true}), Ids{2});
  Tokenizer words(tokenizerFromJson(R"({
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {"type": "WordPiece", "unk_token": "?", "vocab":
              {"?": 0, "a\u0301b": 1, "x": 2, "\u00b2": 3}}})"));
  EXPECT_EQ(words.encode("a\u0301b x\u00b2"), (Ids{1, 2, 3}));
  std::string error = errorOf([] {
    tokenizerFromJson(R"({"model": {"type": "BPE", "vocab": {}, "merges": []},
                          "normalizer": {"type": "Nmt"}})");
  });
  EXPECT_NE(error.find("unsupported normalizer"), std::string::npos) << error;
  error = errorOf([] { tokenizerFromJson(std::string(1000, '[')); });
  EXPECT_NE(error.find("nested too deeply"), std::string::npos) << error;
}
