//===- Normalize.cpp - normalization of text before tokenization --------------===//
#include "runtime/text/Normalize.h"
#include "runtime/program/Message.h"
#include "runtime/text/CharacterMap.h"
#include "runtime/text/Expression.h"
#include "runtime/text/Utf8.h"

#include <utf8proc.h>

#include <cstdlib>

namespace dlc::text {
namespace {

/// Returns a Unicode normalization form of a text. `options` are those of utf8proc_map.
std::string unicodeForm(const std::string &text, int options) {
  utf8proc_uint8_t *result = nullptr;
  utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &result,
                                       static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
  if (size < 0)
    runtime::fail("tokenizer: normalizing a text failed: ", utf8proc_errmsg(size),
                  "; split the text");
  std::string copy(reinterpret_cast<const char *>(result), static_cast<size_t>(size));
  std::free(result);
  return copy;
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

/// Calls `change(result, codePoint)` for each code point of the text.
template <typename Change> std::string mapped(std::string_view text, Change change) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    CodePoint c = decodeAt(text, i);
    change(result, c.value);
    i += c.length;
  }
  return result;
}

std::string lowercase(std::string_view text) {
  return mapped(text, [](std::string &result, char32_t c) {
    // The only code point whose lowercase mapping has two code points.
    if (c == 0x130)
      result += "i\u0307";
    else
      appendUtf8(result, static_cast<char32_t>(utf8proc_tolower(static_cast<int32_t>(c))));
  });
}

/// Removes the code points of the categories from Mn to `last`.
std::string removeMarks(std::string_view text, utf8proc_category_t last) {
  return mapped(text, [=](std::string &result, char32_t c) {
    if (category(c) < UTF8PROC_CATEGORY_MN || category(c) > last)
      appendUtf8(result, c);
  });
}

bool isChinese(char32_t c) {
  // As in the `tokenizers` library, the range of extension E starts at U+2B920, not at U+2B820.
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Removes control characters and replaces whitespace by spaces (BertNormalizer's `clean_text`).
std::string cleaned(std::string_view text) {
  return mapped(text, [](std::string &result, char32_t c) {
    utf8proc_category_t kind = category(c);
    bool line = c == '\t' || c == '\n' || c == '\r';
    bool control = kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
                   kind == UTF8PROC_CATEGORY_CS || kind == UTF8PROC_CATEGORY_CO;
    if (c == 0 || c == 0xFFFD || (control && !line))
      return;
    if (isWhitespace(c))
      result += ' ';
    else
      appendUtf8(result, c);
  });
}

std::string bert(std::string text, const NormalizerStep &step) {
  if (step.cleanText)
    text = cleaned(text);
  if (step.splitChinese)
    text = mapped(text, [](std::string &result, char32_t c) {
      if (isChinese(c))
        result += ' ';
      appendUtf8(result, c);
      if (isChinese(c))
        result += ' ';
    });
  if (step.stripAccents)
    text = removeMarks(unicodeForm(text, UTF8PROC_DECOMPOSE), UTF8PROC_CATEGORY_MN);
  return step.lowercase ? lowercase(text) : text;
}

std::string stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty()) {
    CodePoint c = decodeAt(text, 0);
    if (!isWhitespace(c.value))
      break;
    text.remove_prefix(c.length);
  }
  while (right && !text.empty()) {
    size_t begin = characterBefore(text, text.size());
    if (!isWhitespace(decodeAt(text, begin).value))
      break;
    text.remove_suffix(text.size() - begin);
  }
  return std::string(text);
}

/// Removes spaces at both ends, and replaces each other run of spaces by one space.
std::string mergeSpaces(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != ' ' || (!result.empty() && result.back() != ' '))
      result += c;
  if (!result.empty() && result.back() == ' ')
    result.pop_back();
  return result;
}

Normalizer replaceMatches(const NormalizerStep &step) {
  return
      [expression = Expression(step.pattern), content = step.content](std::string text, Position) {
        std::string result;
        size_t end = 0;
        for (auto [from, to] : expression.matches(text)) {
          result.append(text, end, from - end).append(content);
          end = to;
        }
        return result.append(text, end);
      };
}

Normalizer form(int options) {
  return [options](std::string text, Position) { return unicodeForm(text, options); };
}

} // namespace

std::string replaceAll(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string result;
  size_t begin = 0;
  for (size_t at; (at = text.find(pattern, begin)) != text.npos; begin = at + pattern.size())
    result.append(text, begin, at - begin).append(content);
  return result.append(text, begin);
}

bool isPunctuation(char32_t c) {
  if (c < 0x80)
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

Normalizer makeNormalizer(const NormalizerStep &step) {
  using Kind = NormalizerStep::Kind;
  switch (step.kind) {
  case Kind::Nfc:
    return form(UTF8PROC_COMPOSE);
  case Kind::Nfd:
    return form(UTF8PROC_DECOMPOSE);
  case Kind::Nfkc:
    return form(UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  case Kind::Nfkd:
    return form(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  case Kind::Lowercase:
    return [](std::string text, Position) { return lowercase(text); };
  case Kind::StripAccents:
    return [](std::string text, Position) { return removeMarks(text, UTF8PROC_CATEGORY_ME); };
  case Kind::Strip:
    return [step](std::string text, Position) { return stripped(text, step.left, step.right); };
  case Kind::Prepend:
    return [step](std::string text, Position) { return text.empty() ? text : step.content + text; };
  case Kind::PrependAfterSpecial:
    return [step](std::string text, Position position) {
      return position.afterSpecial && !text.empty() ? step.content + text : text;
    };
  case Kind::Replace:
    if (step.pattern.empty())
      runtime::fail("tokenizer: a normalizer replaces an empty string; remove this step");
    return
        [step](std::string text, Position) { return replaceAll(text, step.pattern, step.content); };
  case Kind::ReplaceMatches:
    return replaceMatches(step);
  case Kind::Bert:
    return [step](std::string text, Position) { return bert(std::move(text), step); };
  case Kind::CharacterMap:
    return
        [map = CharacterMap(step.content)](std::string text, Position) { return map.apply(text); };
  case Kind::MergeSpaces:
    return [](std::string text, Position) { return mergeSpaces(text); };
  }
  runtime::fail("tokenizer: unknown kind of normalizer ", static_cast<int>(step.kind),
                "; use a member of NormalizerStep::Kind");
}

} // namespace dlc::text
