//===- Utf8.cpp - reads and writes UTF-8 --------------------------------------===//
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace dlc::text {
namespace {

/// Smallest and largest second byte after a given first byte (Unicode, table 3-7).
std::pair<unsigned char, unsigned char> secondRange(unsigned char first) {
  switch (first) {
  case 0xE0:
    return {0xA0, 0xBF};
  case 0xED:
    return {0x80, 0x9F};
  case 0xF0:
    return {0x90, 0xBF};
  case 0xF4:
    return {0x80, 0x8F};
  default:
    return {0x80, 0xBF};
  }
}

/// Number of bytes at `offset` that are the beginning of a valid sequence, and the length of that
/// sequence; {0, 1} for a byte that begins no sequence.
std::pair<size_t, size_t> validBytes(std::string_view text, size_t offset) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  unsigned char first = byte(0);
  if (first < 0x80)
    return {1, 1};
  if (first < 0xC2 || first > 0xF4)
    return {0, 1};
  size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  size_t present = std::min(length, text.size() - offset), valid = 1;
  auto [low, high] = secondRange(first);
  if (present > 1 && byte(1) >= low && byte(1) <= high)
    for (valid = 2; valid < present && (byte(valid) & 0xC0) == 0x80;)
      ++valid;
  return {valid, length};
}

} // namespace

size_t announcedLength(char first) {
  auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

CodePoint decodeAt(std::string_view text, size_t offset) {
  auto [valid, length] = validBytes(text, offset);
  if (valid != length)
    return {};
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  if (length == 1)
    return {byte(0), 1, true};
  char32_t value = byte(0) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i)
    value = value << 6 | (byte(i) & 0x3F);
  return {value, length, true};
}

size_t characterBefore(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && (text[begin] & 0xC0) == 0x80)
    --begin;
  return begin;
}

void appendUtf8(std::string &text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::u32string toCodePoints(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    CodePoint c = decodeAt(text, i);
    result += c.value;
    i += c.length;
  }
  return result;
}

std::string replaceInvalid(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    CodePoint c = decodeAt(text, i);
    if (c.valid)
      result.append(text, i, c.length);
    else
      appendUtf8(result, 0xFFFD);
    i += c.length;
  }
  return result;
}

std::string takeComplete(std::string &pending, bool last) {
  std::string result;
  size_t i = 0;
  while (i < pending.size()) {
    auto [valid, length] = validBytes(pending, i);
    if (valid == length) {
      result.append(pending, i, length);
    } else if (!last && valid > 0 && i + valid == pending.size()) {
      break;
    } else {
      appendUtf8(result, 0xFFFD);
      valid = std::max<size_t>(valid, 1);
    }
    i += valid;
  }
  pending.erase(0, i);
  return result;
}

bool isWhitespace(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

} // namespace dlc::text
