//===- Split.h - division of text into words -----------------------------------===//
#ifndef DLC_RUNTIME_TEXT_SPLIT_H
#define DLC_RUNTIME_TEXT_SPLIT_H

#include "runtime/text/Normalize.h"

namespace dlc::text {

using Words = std::vector<std::string>;
/// Function that splits each word into shorter words.
using Splitter = std::function<Words(Words, Position)>;

Splitter makeSplitter(const SplitStep &step);

/// Appends the character of GPT-2's printable alphabet that represents a byte.
void appendByteCharacter(std::string &text, unsigned char byte);
/// Converts text in GPT-2's alphabet into bytes. Returns std::nullopt if a character is not in it.
std::optional<std::string> fromByteCharacters(std::string_view text);

} // namespace dlc::text

#endif // DLC_RUNTIME_TEXT_SPLIT_H
