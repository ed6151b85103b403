//===- TextFunctions.cpp - functions on text of filters and methods ------------===//
#include "runtime/program/Message.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Builtins.h"

#include <utf8proc.h>

#include <cmath>

namespace dlc::text::jinja {
namespace {

char32_t upperOf(char32_t c) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}
char32_t lowerOf(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}
bool isLetter(char32_t c) {
  utf8proc_category_t kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

/// Replaces each code point by `change(codePoint, index, previous)`, and retains the marks.
template <typename Change> Text mapped(const Text &text, Change change) {
  Text result;
  char32_t previous = ' ';
  for (size_t i = 0, count = 0; i < text.bytes.size(); ++count) {
    CodePoint c = decodeAt(text.bytes, i);
    std::string changed;
    appendUtf8(changed, change(c.value, count, previous));
    result.append(changed, text, i);
    previous = c.value;
    i += c.length;
  }
  return result;
}

/// Formats one value for a conversion such as `%-8.3f`.
Text converted(const std::string &flags, char type, const Value &value) {
  if (type == 's' || type == 'r') {
    if (!flags.empty())
      runtime::fail("the format '%", flags, type, "' is not supported; use '%", type, "'");
    return type == 's' ? toText(value) : quoted(value);
  }
  if (!value.isNumber())
    runtime::fail("the format '%", type, "' needs a number; found: ", kindName(value),
                  "; convert it with 'int' or 'float'");
  char buffer[512];
  bool integer = type == 'd' || type == 'i' || type == 'x';
  if (integer && !value.isInteger() && !(std::fabs(value.asFloat()) < 9e18))
    runtime::fail("the format '%", type, "' needs a number below 9e18; use '%f'");
  int size = integer ? std::snprintf(buffer, sizeof(buffer),
                                     ("%" + flags + "ll" + (type == 'x' ? "x" : "d")).c_str(),
                                     static_cast<long long>(value.asInt()))
                     : std::snprintf(buffer, sizeof(buffer), ("%" + flags + type).c_str(),
                                     value.asFloat());
  if (size < 0 || static_cast<size_t>(size) >= sizeof(buffer))
    runtime::fail("a formatted number is too long; use a smaller width");
  return Text(std::string_view(buffer, static_cast<size_t>(size)));
}

} // namespace

bool isSpace(char32_t c) {
  // Python's whitespace includes the separators U+001C to U+001F.
  return isWhitespace(c) || (c >= 0x1C && c <= 0x1F);
}

Text trimmed(const Text &text, const std::string *characters, bool left, bool right) {
  std::vector<size_t> begins = offsets(text.bytes);
  auto remove = [&](size_t i) {
    std::string_view one =
        std::string_view(text.bytes).substr(begins[i], begins[i + 1] - begins[i]);
    return characters ? characters->find(one) != std::string::npos
                      : isSpace(decodeAt(one, 0).value);
  };
  size_t begin = 0, end = begins.size() - 1;
  while (left && begin < end && remove(begin))
    ++begin;
  while (right && end > begin && remove(end - 1))
    --end;
  return text.slice(begins[begin], begins[end] - begins[begin]);
}

Text replaced(const Text &text, const Text &from, const Text &to, int64_t count) {
  Text result;
  size_t begin = 0;
  if (from.bytes.empty()) {
    // An empty string occurs before each character and at the end.
    std::vector<size_t> begins = offsets(text.bytes);
    for (size_t i = 0; i + 1 < begins.size() && count != 0; ++i, count -= count > 0) {
      result += to;
      result += text.slice(begin = begins[i], begins[i + 1] - begins[i]);
      begin = begins[i + 1];
    }
    if (count != 0)
      result += to;
    return result += text.slice(begin);
  }
  for (size_t at; count != 0 && (at = text.bytes.find(from.bytes, begin)) != std::string::npos;
       count -= count > 0) {
    result += text.slice(begin, at - begin);
    result += to;
    begin = at + from.bytes.size();
  }
  return result += text.slice(begin);
}

Text upper(const Text &text) {
  return mapped(text, [](char32_t c, size_t, char32_t) { return upperOf(c); });
}
Text lower(const Text &text) {
  return mapped(text, [](char32_t c, size_t, char32_t) { return lowerOf(c); });
}
Text capitalized(const Text &text) {
  return mapped(text,
                [](char32_t c, size_t i, char32_t) { return i == 0 ? upperOf(c) : lowerOf(c); });
}
Text title(const Text &text) {
  return mapped(text, [](char32_t c, size_t, char32_t previous) {
    return isLetter(previous) ? lowerOf(c) : upperOf(c);
  });
}

Text formatted(const Text &format, const List &values) {
  Text result;
  size_t next = 0;
  const std::string &bytes = format.bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '%') {
      result.append(bytes.substr(i, 1), format, i);
      continue;
    }
    size_t begin = ++i;
    auto skip = [&](std::string_view characters) {
      while (i < bytes.size() && i - begin < 8 && characters.find(bytes[i]) != characters.npos)
        ++i;
    };
    // Flags, width and precision.
    skip("-+ #0");
    skip("0123456789");
    if (i < bytes.size() && bytes[i] == '.') {
      ++i;
      skip("0123456789");
    }
    char type = i < bytes.size() ? bytes[i] : ' ';
    if (type == '%' && i == begin) {
      result.append("%", format, i);
      continue;
    }
    if (std::string_view("srdixfFgGeE").find(type) == std::string::npos)
      runtime::fail("the format '%", replaceInvalid(bytes.substr(begin, i + 1 - begin)),
                    "' is not supported; use '%s' or '%d'");
    if (next >= values.size())
      runtime::fail("the format needs more values; found: ", values.size(), "; pass more values");
    result += converted(bytes.substr(begin, i - begin), type, values[next++]);
  }
  if (next < values.size())
    runtime::fail("the format has fewer conversions than values: required: ", next,
                  "; found: ", values.size(), "; remove values");
  return result;
}

} // namespace dlc::text::jinja
