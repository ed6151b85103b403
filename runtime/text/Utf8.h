//===- Utf8.h - reads and writes UTF-8 ----------------------------------------===//
#ifndef DLC_RUNTIME_TEXT_UTF8_H
#define DLC_RUNTIME_TEXT_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace dlc::text {

/// Code point at an offset of a text. Invalid bytes are U+FFFD with a length of one byte.
struct CodePoint {
  char32_t value = 0xFFFD;
  size_t length = 1;
  bool valid = false;
};

/// Returns the length of a UTF-8 sequence by its first byte, and 1 for continuation bytes.
size_t announcedLength(char first);
/// Decodes the code point at `offset`, which is less than the size of the text.
CodePoint decodeAt(std::string_view text, size_t offset);
/// Returns the offset of the character that ends at `end`, which is greater than 0.
size_t characterBefore(std::string_view text, size_t end);
void appendUtf8(std::string &text, char32_t codePoint);
std::u32string toCodePoints(std::string_view text);
/// Replaces each byte that is not part of valid UTF-8 by U+FFFD.
std::string replaceInvalid(std::string_view text);
/// Moves the complete characters at the beginning of `pending` to the result. An invalid sequence
/// becomes one U+FFFD; an incomplete one at the end is retained unless `last` is set.
std::string takeComplete(std::string &pending, bool last);
/// Returns whether the code point has the Unicode property White_Space.
bool isWhitespace(char32_t codePoint);

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_UTF8_H
