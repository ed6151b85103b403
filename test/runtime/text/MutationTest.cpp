//===- MutationTest.cpp - error messages for mutated tokenizers and templates ---===//
#include "dlc/text.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace dlc::text;

namespace {

const char *const templates[] = {
    "{%- for m in messages %}{%- if loop.first and m['role'] != 'system' %}{{- 'sys' }}{% endif %}"
    "{{- '<|im_start|>' + m.role + '\\n' + m.content | trim + '<|im_end|>' }}{%- endfor %}",
    "{% set ns = namespace(a=[], b={'x': 1.5}) %}{% macro f(x, y=2) %}{{ x | tojson(indent=2) }}"
    "{% endmacro %}{% for k, v in ns.b.items() if v > 1 %}{{ f(k, y=v) ~ loop.index0 }}{% else %}"
    "{{ raise_exception('none') }}{% endfor %}{% set ns.a = ns.a + [1] %}{{ ns.a[-1:] }}",
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join(', ') }}"
    "{{ 'a,b'.split(',')[::-1] | list }}{{ '%5.2f|%s' % (1.5, 'x') }}{{ range(3, 9, 2) | sum }}"
    "{% filter indent(3, true) %}a\nb{% endfilter %}{% set x %}c{% endset %}{{ x is string }}"};

const char *const tokenizer = R"({
  "added_tokens": [{"id": 9, "content": "<s>", "special": true, "lstrip": true}],
  "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"},
     {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "  "}, {"type": "Lowercase"}]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
     {"type": "Split", "pattern": {"Regex": "(?i:'s)|\\p{N}{1,3}|\\s+(?!\\S)|[^\\s\\p{L}]+"},
      "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": true}]},
  "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}},
     {"Sequence": {"id": "A"}}], "special_tokens": {"<s>": {"ids": [9]}}},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "byte_fallback": true, "unk_token": "a", "vocab":
     {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "Ġ": 5, "Ġa": 6, "1": 7, "11": 8},
     "merges": ["a b", ["ab", "c"], "Ġ a", "1 1"]}})";

/// Changes, deletes, duplicates or inserts parts of a text.
std::string mutated(std::string text, std::mt19937 &random) {
  constexpr std::string_view inserted[] = {
      "{{", "}}", "{%", "%}",   "\"",       "[",   "]", "-1", "99999999999", "null", "\\",
      "(",  "|",  "{",  "\xff", "\xe4\xb8", "(?=", "*", "+",  "1e999",       ".",    ":"};
  for (int count = 1 + static_cast<int>(random() % 4); count > 0 && !text.empty(); --count) {
    size_t at = random() % text.size(), size = 1 + random() % 12;
    switch (random() % 5) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, size);
      break;
    case 2:
      text.insert(random() % text.size(), text.substr(at, size));
      break;
    case 3:
      text.insert(at, inserted[random() % std::size(inserted)]);
      break;
    default:
      text.resize(at);
    }
  }
  return text;
}

/// Runs an action, and returns whether it succeeded. Expects messages of 11 to 1999 bytes.
template <typename Action> bool succeeds(Action action) {
  try {
    action();
    return true;
  } catch (const dlc::Error &error) {
    EXPECT_GT(std::string_view(error.what()).size(), 10u);
    EXPECT_LT(std::string_view(error.what()).size(), 2000u);
    return false;
  }
}

} // namespace

TEST(Mutation, Templates) {
  std::mt19937 random(1);
  TemplateLimits limits{.steps = 20000, .outputBytes = 1 << 16};
  int successes = 0, failures = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string source = mutated(templates[random() % std::size(templates)], random);
    bool good = succeeds([&] {
      ChatTemplate(source, limits)
          .render(
              R"({"messages": [{"role": "user", "content": "a"}, {"role": "b", "content": ""}]})");
    });
    ++(good ? successes : failures);
  }
  EXPECT_GT(successes, 100);
  EXPECT_GT(failures, 100);
}

TEST(Mutation, TokenizerJson) {
  std::mt19937 random(2);
  int successes = 0, failures = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string source = mutated(tokenizer, random);
    bool good = succeeds([&] {
      Tokenizer made(tokenizerFromJson(source));
      made.decode(made.encode("abc ab's 111 <s> \xff", {.parseSpecial = true}), true);
    });
    ++(good ? successes : failures);
  }
  EXPECT_GT(successes, 100);
  EXPECT_GT(failures, 100);
}

TEST(Mutation, GgufMetadata) {
  std::mt19937 random(3);
  using Strings = std::vector<std::string>;
  for (int i = 0; i < 3000; ++i) {
    Metadata metadata = {
        {"tokenizer.ggml.tokens", Strings{"<unk>", "<s>", "a", "b", "ab", "\u2581", "\u2581a"}},
        {"tokenizer.ggml.token_type", std::vector<double>{2, 3, 1, 1, 1, 1, 1}},
        {"tokenizer.ggml.scores", std::vector<double>{0, 0, -1, -2, -3, -4, -5}},
        {"tokenizer.ggml.merges", Strings{"a b", "\u2581 a"}},
        {"tokenizer.ggml.pre", "gpt-2"},
        {"tokenizer.ggml.bos_token_id", int64_t(1)}};
    constexpr const char *models[] = {"llama", "gpt2", "bert", "t5", "gemma4"};
    metadata["tokenizer.ggml.model"] = models[random() % 5];
    auto entry = std::next(metadata.begin(), static_cast<long>(random() % metadata.size()));
    MetadataValue values[] = {true,
                              int64_t(-1),
                              1e300,
                              mutated("gpt-2", random),
                              std::vector<double>{1, -1e300, 1.0 / 3},
                              Strings{"a", "", "a b"},
                              Strings{mutated("a b", random), "\xff\xfe", "x y"}};
    if (random() % 4)
      entry->second = values[random() % std::size(values)];
    else
      metadata.erase(entry);
    succeeds([&] {
      Tokenizer made(tokenizerFromGguf(metadata));
      made.decode(made.encode("ab a<s>\xff", {.parseSpecial = true}));
    });
  }
}

TEST(Mutation, CharacterMaps) {
  std::mt19937 random(4);
  for (int i = 0; i < 5000; ++i) {
    TokenizerData data;
    data.tokens = {{"a"}};
    std::string map = {64, 0, 0, 0};
    while (map.size() < 68)
      map += static_cast<char>(random() % 3 ? random() : 'a');
    map += std::string("x\0yy", 4);
    data.normalizer.push_back({.kind = NormalizerStep::Kind::CharacterMap, .content = map});
    succeeds([&] { Tokenizer(std::move(data)).encode("abc \u00e4\u4e2d"); });
  }
}
