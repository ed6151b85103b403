//===- Expression.cpp - regular expressions of tokenizers, by PCRE2 -----------===//
#include "runtime/text/Expression.h"
#include "runtime/program/Message.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace dlc::text {
namespace {

constexpr size_t maxPatternBytes = 1 << 16;
/// Members of the Unicode property White_Space. The class `\s` of PCRE2 also has U+180E.
constexpr std::string_view whitespace = "\\x09-\\x0d\\x20\\x85\\xa0\\x{1680}\\x{2000}-\\x{200a}"
                                        "\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";

/// Members of Oniguruma's class `\w`: Alphabetic, M, Nd and Pc. The class of PCRE2 before 10.43 has
/// no marks and no Pc except the underscore, and has No.
constexpr std::string_view word = "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}"
                                  "\\x{1f170}-\\x{1f189}\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}";

[[noreturn]] void refuse(std::string_view pattern, const std::string &found) {
  runtime::fail("tokenizer: unsupported regular expression '", pattern.substr(0, 200), "': ", found,
                "; use a model whose expression PCRE2 also supports");
}

/// Converts the syntax of Oniguruma into that of PCRE2: rewrites `\s`, `\S`, `\w` and
/// `\W`, and refuses operators whose meaning differs in PCRE2.
std::string toPcre2(std::string_view pattern) {
  std::string result;
  bool inClass = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      char next = pattern[++i];
      // A hyphen after a class is not the operator of ranges.
      bool hyphen = inClass && pattern.substr(i + 1, 1) == "-" && pattern.substr(i + 2, 1) != "]";
      std::string_view members = next == 's' || next == 'S' ? whitespace : word;
      if (next == 's' || next == 'w')
        result.append(inClass ? "" : "[").append(members).append(inClass ? "" : "]");
      else if (next == 'S' && inClass)
        result.append("\\S\\x{180e}");
      else if ((next == 'S' || next == 'W') && !inClass)
        result.append("[^").append(members).append("]");
      else if (next == 'W')
        refuse(pattern, "escape '\\W' in a character class");
      else if (next == 'C' || next == 'X' || next == 'h' || next == 'H' || next == 'Q' ||
               next == 'E')
        refuse(pattern, std::string("escape '\\") + next + "'");
      else
        result.append({c, next});
      if (hyphen && (next == 's' || next == 'S' || next == 'w')) {
        result += "\\-";
        ++i;
      }
      continue;
    }
    if (!inClass && c == '(' && i + 1 < pattern.size() &&
        (pattern[i + 1] == '*' || pattern.substr(i + 1, 2) == "?C"))
      refuse(pattern, "verb or callout '(" + std::string(1, pattern[i + 1]) + "'");
    if (inClass && c == '[' && pattern.substr(i, 2) != "[:")
      refuse(pattern, "nested character class");
    if (inClass && pattern.substr(i, 2) == "&&")
      refuse(pattern, "intersection of character classes '&&'");
    if (!inClass && c == '[') {
      inClass = true;
      result += c;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^')
        result += pattern[++i];
      // A bracket at the beginning of a class is a member of the class.
      if (i + 1 < pattern.size() && pattern[i + 1] == ']')
        result += pattern[++i];
      continue;
    }
    if (inClass && c == ']')
      inClass = false;
    result += c;
  }
  return result;
}

std::string errorText(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char *>(buffer);
}

} // namespace

Expression::Expression(const std::string &source) : pattern(source) {
  if (source.size() > maxPatternBytes)
    refuse(source, runtime::message("required: at most ", maxPatternBytes,
                                    " bytes; found: ", source.size()));
  std::string converted = toPcre2(source);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code *compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(converted.data()), converted.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (!compiled)
    refuse(source, errorText(error));
  code = std::shared_ptr<pcre2_real_code_8>(compiled, pcre2_code_free_8);
  // If PCRE2 has no JIT compiler for this processor, it interprets the expression.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
}

std::vector<std::pair<size_t, size_t>> Expression::matches(std::string_view text) const {
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_match_limit(context.get(), static_cast<uint32_t>(std::min<size_t>(
                                           1'000'000 + 16 * text.size(), UINT32_MAX)));
  pcre2_set_heap_limit(context.get(), 1 << 18); // in KiB
  auto match = [&](size_t offset, uint32_t options) {
    return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), offset,
                       options | PCRE2_NO_UTF_CHECK, data.get(), context.get());
  };
  std::vector<std::pair<size_t, size_t>> result;
  const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(data.get());
  for (size_t offset = 0; offset <= text.size();) {
    int status = match(offset, 0);
    if (status == PCRE2_ERROR_JIT_STACKLIMIT)
      status = match(offset, PCRE2_NO_JIT);
    if (status == PCRE2_ERROR_NOMATCH)
      break;
    if (status < 0)
      refuse(pattern, "matching failed: " + errorText(status));
    // `\K` in a lookahead can set the beginning of a match after its end.
    size_t begin = std::min(bounds[0], bounds[1]), end = bounds[1];
    if (begin < offset)
      refuse(pattern, "match that starts before the previous one ends");
    result.emplace_back(begin, end);
    offset = end;
    if (begin == end) {
      // After an empty match, continues at the next character.
      ++offset;
      while (offset < text.size() && (text[offset] & 0xC0) == 0x80)
        ++offset;
    }
  }
  return result;
}

} // namespace dlc::text
