//===- JsonSteps.cpp - normalizers, pre-tokenizers and decoders of tokenizer.json ===//
#include "runtime/text/JsonSteps.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <array>

namespace dlc::text::json {
namespace {

constexpr size_t maxDepth = 100, maxIndex = 1 << 22;

/// Decodes standard base64, without checks of its padding.
std::string fromBase64(const std::string &text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int size = 0;
  for (char c : text) {
    size_t digit = alphabet.find(c);
    if (digit == alphabet.npos)
      break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((size += 6) >= 8)
      bytes += static_cast<char>(bits >> (size -= 8) & 0xFF);
  }
  return bytes;
}

/// Reads a pattern, which is a string or an expression. Returns whether it is an expression.
bool readPattern(const Json &step, std::string &pattern) {
  const Json &value = object(step, "pattern");
  bool expression = value.contains("Regex");
  pattern = string(value, expression ? "Regex" : "String");
  return expression;
}

SplitStep::Behavior behavior(const Json &step) {
  constexpr std::array names = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                "Contiguous"};
  std::string name = string(step, "behavior");
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    refuse("behavior", name, "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
  return static_cast<SplitStep::Behavior>(found - names.begin());
}

/// The expression that ByteLevel uses with `use_regex`.
constexpr const char *gpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void readByteLevel(const Json &step, TokenizerData &data) {
  SplitStep prefix{.kind = SplitStep::Kind::ByteLevel};
  if (flag(step, "add_prefix_space", true))
    // The space belongs to the first word, so that it is added before the text is split.
    data.splits.push_back({.kind = SplitStep::Kind::PrefixSpace});
  if (flag(step, "use_regex", true))
    data.splits.push_back({.pattern = gpt2});
  data.splits.push_back(prefix);
}

void readMetaspace(const Json &step, TokenizerData &data) {
  std::string scheme =
      string(step, "prepend_scheme", flag(step, "add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    refuse("prepend_scheme", scheme, "always, first or never");
  using Prepend = SplitStep::Prepend;
  data.splits.push_back({.kind = SplitStep::Kind::Metaspace,
                         .pattern = string(step, "replacement", "\u2581"),
                         .prepend = scheme == "always"  ? Prepend::Always
                                    : scheme == "first" ? Prepend::First
                                                        : Prepend::Never,
                         .split = flag(step, "split", true)});
}

} // namespace

void refuse(const std::string &what, const std::string &found, const std::string &required) {
  runtime::fail("tokenizer.json: unsupported ", what, ": required: ", required,
                "; found: ", found.substr(0, 100), "; use a model with a supported tokenizer");
}

std::string shown(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 100);
}

void checkDepth(std::string_view text, const char *file) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > maxDepth)
      runtime::fail(file, " is nested too deeply: required: at most ", maxDepth,
                    " levels; simplify the file");
    else if (!quoted && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
}

const Json *optional(const Json &from, const char *key) {
  if (!from.is_object())
    return nullptr;
  auto found = from.find(key);
  return found == from.end() || found->is_null() ? nullptr : &*found;
}

static const Json &member(const Json &from, const char *key, Json::value_t type, const char *name) {
  const Json *found = optional(from, key);
  if (!found || found->type() != type)
    runtime::fail("tokenizer.json: invalid member '", key, "': required: ", name,
                  "; found: ", found ? shown(*found) : "nothing", "; download the file again");
  return *found;
}

const Json &object(const Json &from, const char *key) {
  return member(from, key, Json::value_t::object, "an object");
}

const Json &array(const Json &from, const char *key) {
  return member(from, key, Json::value_t::array, "an array");
}

std::string string(const Json &from, const char *key) {
  return member(from, key, Json::value_t::string, "a string").get<std::string>();
}

std::string string(const Json &from, const char *key, const char *otherwise) {
  return optional(from, key) ? string(from, key) : otherwise;
}

bool flag(const Json &from, const char *key, bool otherwise) {
  return optional(from, key)
             ? member(from, key, Json::value_t::boolean, "true or false").get<bool>()
             : otherwise;
}

size_t count(const Json &from, const char *key, size_t otherwise) {
  return optional(from, key) ? index(*optional(from, key), key) : otherwise;
}

size_t index(const Json &value, const char *what) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() >= maxIndex)
    runtime::fail("tokenizer.json: invalid number in '", what, "': required: 0 to ", maxIndex - 1,
                  "; found: ", shown(value), "; download the file again");
  return value.get<size_t>();
}

void readNormalizer(const Json &step, TokenizerData &data) {
  using Kind = NormalizerStep::Kind;
  constexpr std::array<std::pair<const char *, Kind>, 6> simple = {
      {{"NFC", Kind::Nfc},
       {"NFD", Kind::Nfd},
       {"NFKC", Kind::Nfkc},
       {"NFKD", Kind::Nfkd},
       {"Lowercase", Kind::Lowercase},
       {"StripAccents", Kind::StripAccents}}};
  std::string type = string(step, "type");
  for (auto [name, kind] : simple)
    if (type == name)
      return data.normalizer.push_back({.kind = kind});
  NormalizerStep result;
  if (type == "Sequence") {
    for (const Json &each : array(step, "normalizers"))
      readNormalizer(each, data);
    return;
  }
  if (type == "Strip") {
    result = {.kind = Kind::Strip,
              .left = flag(step, "strip_left", true),
              .right = flag(step, "strip_right", true)};
  } else if (type == "Prepend") {
    result = {.kind = Kind::Prepend, .content = string(step, "prepend")};
  } else if (type == "Replace") {
    result.kind = readPattern(step, result.pattern) ? Kind::ReplaceMatches : Kind::Replace;
    result.content = string(step, "content");
  } else if (type == "Precompiled") {
    result = {.kind = Kind::CharacterMap,
              .content = fromBase64(string(step, "precompiled_charsmap"))};
  } else if (type == "BertNormalizer") {
    bool lowercase = flag(step, "lowercase", true);
    result = {.kind = Kind::Bert,
              .cleanText = flag(step, "clean_text", true),
              .splitChinese = flag(step, "handle_chinese_chars", true),
              .stripAccents = flag(step, "strip_accents", lowercase),
              .lowercase = lowercase};
  } else {
    refuse("normalizer", type,
           "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace, "
           "Precompiled or BertNormalizer");
  }
  data.normalizer.push_back(result);
}

void readSplits(const Json &step, TokenizerData &data) {
  using Kind = SplitStep::Kind;
  using Behavior = SplitStep::Behavior;
  std::string type = string(step, "type");
  SplitStep result;
  if (type == "Sequence") {
    for (const Json &each : array(step, "pretokenizers"))
      readSplits(each, data);
    return;
  }
  if (type == "ByteLevel")
    return readByteLevel(step, data);
  if (type == "Metaspace")
    return readMetaspace(step, data);
  if (type == "Split") {
    result.kind = readPattern(step, result.pattern) ? Kind::Expression : Kind::String;
    result.behavior = behavior(step);
    result.invert = flag(step, "invert", false);
  } else if (type == "Whitespace") {
    // The library uses the crate `regex`, whose class `\w` also has Join_Control.
    result = {.pattern = R"([\w\x{200c}\x{200d}]+|[^\w\s\x{200c}\x{200d}]+)",
              .behavior = Behavior::Removed,
              .invert = true};
  } else if (type == "WhitespaceSplit") {
    result = {.pattern = R"(\s)", .behavior = Behavior::Removed};
  } else if (type == "BertPreTokenizer") {
    result.kind = Kind::Bert;
  } else if (type == "Digits") {
    result = {.kind = Kind::Digits, .split = flag(step, "individual_digits", false)};
  } else if (type == "Punctuation") {
    result = {.kind = Kind::Punctuation, .behavior = behavior(step)};
  } else {
    refuse("pre-tokenizer", type,
           "Sequence, ByteLevel, Metaspace, Split, Whitespace, WhitespaceSplit, BertPreTokenizer, "
           "Digits or Punctuation");
  }
  data.splits.push_back(result);
}

void readDecoder(const Json &step, TokenizerData &data) {
  using Decoding = TokenizerData::Decoding;
  std::string type = string(step, "type");
  if (type == "Sequence") {
    for (const Json &each : array(step, "decoders"))
      readDecoder(each, data);
  } else if (type == "ByteLevel") {
    data.decoding = Decoding::ByteLevel;
  } else if (type == "Metaspace") {
    data.decoding = Decoding::Metaspace;
    std::string scheme =
        string(step, "prepend_scheme", flag(step, "add_prefix_space", true) ? "always" : "never");
    data.stripFirstSpace = scheme != "never";
  } else if (type == "WordPiece") {
    data.decoding = Decoding::WordPiece;
    data.stripFirstSpace = true;
  } else if (type == "Replace") {
    std::string pattern;
    if (readPattern(step, pattern) || pattern != "\u2581" || string(step, "content") != " ")
      refuse("pattern of a decoder", pattern, "U+2581, replaced by a space");
    data.decoding = Decoding::Metaspace;
  } else if (type == "Strip") {
    if (string(step, "content") != " " || count(step, "start", 0) > 1 || count(step, "stop", 0))
      refuse("Strip decoder", shown(step), "one space at the start");
    data.stripFirstSpace = count(step, "start", 0) == 1;
  } else if (type != "ByteFallback" && type != "Fuse") {
    refuse("decoder", type,
           "Sequence, ByteLevel, Metaspace, WordPiece, Replace, Strip, ByteFallback or Fuse");
  }
}

} // namespace dlc::text::json
