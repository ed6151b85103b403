//===- Split.cpp - division of text into words ---------------------------------===//
#include "runtime/text/Split.h"
#include "runtime/program/Message.h"
#include "runtime/text/Expression.h"
#include "runtime/text/Utf8.h"

#include <utf8proc.h>

#include <array>

namespace dlc::text {
namespace {

using Behavior = SplitStep::Behavior;

/// Range of a word, and whether the range is a delimiter.
struct Part {
  size_t begin, end;
  bool delimiter;
};

/// Returns the parts of a text, given the ranges of the delimiters.
std::vector<Part> partition(size_t size, const std::vector<std::pair<size_t, size_t>> &matches,
                            bool invert) {
  std::vector<Part> parts;
  size_t end = 0;
  for (auto [from, to] : matches) {
    if (from > end)
      parts.push_back({end, from, invert});
    parts.push_back({from, to, !invert});
    end = to;
  }
  if (end < size)
    parts.push_back({end, size, invert});
  return parts;
}

/// Appends the parts of a text as words, with the given treatment of the delimiters.
void appendParts(Words &words, const std::string &text, const std::vector<Part> &parts,
                 Behavior behavior) {
  auto add = [&](size_t begin, size_t end) {
    if (begin < end)
      words.push_back(text.substr(begin, end - begin));
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    auto [begin, end, delimiter] = parts[i];
    switch (behavior) {
    case Behavior::Removed:
      if (!delimiter)
        add(begin, end);
      break;
    case Behavior::Isolated:
      add(begin, end);
      break;
    case Behavior::MergedWithPrevious:
      if (!delimiter && i + 1 < parts.size() && parts[i + 1].delimiter)
        end = parts[++i].end;
      add(begin, end);
      break;
    case Behavior::MergedWithNext:
      if (delimiter && i + 1 < parts.size() && !parts[i + 1].delimiter)
        end = parts[++i].end;
      add(begin, end);
      break;
    case Behavior::Contiguous:
      while (i + 1 < parts.size() && parts[i + 1].delimiter == delimiter)
        end = parts[++i].end;
      add(begin, end);
      break;
    }
  }
}

/// Returns a splitter whose delimiters are the ranges that `find` returns.
template <typename Find> Splitter splitter(const Find &find, Behavior behavior, bool invert) {
  return [=](const Words &words, Position) {
    Words result;
    result.reserve(words.size());
    for (const std::string &word : words)
      appendParts(result, word, partition(word.size(), find(word), invert), behavior);
    return result;
  };
}

/// Returns a function that finds the code points with a property.
template <typename Property> auto codePoints(Property property) {
  return [=](std::string_view text) {
    std::vector<std::pair<size_t, size_t>> result;
    for (size_t i = 0; i < text.size();) {
      CodePoint c = decodeAt(text, i);
      if (property(c.value))
        result.emplace_back(i, i + c.length);
      i += c.length;
    }
    return result;
  };
}

/// Returns a function that finds the occurrences of a string.
auto occurrences(const std::string &pattern) {
  if (pattern.empty())
    runtime::fail("tokenizer: a pre-tokenizer splits at an empty string; remove this step");
  return [pattern](std::string_view text) {
    std::vector<std::pair<size_t, size_t>> result;
    for (size_t at = 0; (at = text.find(pattern, at)) != text.npos; at += pattern.size())
      result.emplace_back(at, at + pattern.size());
    return result;
  };
}

bool isNumeric(char32_t c) {
  utf8proc_category_t kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

/// Returns whether `prepend` applies to the word with this index.
bool prepends(SplitStep::Prepend prepend, size_t index, Position position) {
  return prepend == SplitStep::Prepend::Always ||
         (prepend == SplitStep::Prepend::First && index == 0 && position.first);
}

Words byteLevel(Words words, Position) {
  for (std::string &word : words) {
    std::string mapped;
    mapped.reserve(word.size() * 3 / 2);
    for (char c : word)
      appendByteCharacter(mapped, static_cast<unsigned char>(c));
    word = std::move(mapped);
  }
  return words;
}

Words prefixSpace(Words words, Position) {
  for (std::string &word : words)
    if (!word.starts_with(' '))
      word.insert(0, 1, ' ');
  return words;
}

Splitter metaspace(const SplitStep &step) {
  auto find = occurrences(step.pattern);
  return [=](Words words, Position position) {
    Words result;
    for (size_t i = 0; i < words.size(); ++i) {
      std::string word = replaceAll(words[i], " ", step.pattern);
      if (prepends(step.prepend, i, position) && !word.starts_with(step.pattern))
        word.insert(0, step.pattern);
      if (step.split)
        appendParts(result, word, partition(word.size(), find(word), false),
                    Behavior::MergedWithNext);
      else
        result.push_back(std::move(word));
    }
    return result;
  };
}

Splitter bert() {
  Splitter spaces = splitter(codePoints(isWhitespace), Behavior::Removed, false);
  Splitter punctuation = splitter(codePoints(isPunctuation), Behavior::Isolated, false);
  return [=](Words words, Position position) {
    return punctuation(spaces(std::move(words), position), position);
  };
}

/// Tables of GPT-2's byte alphabet. Printable characters of Latin-1 represent their own bytes. The
/// other bytes are represented by U+0100 and the characters that follow it.
struct Alphabet {
  std::array<char32_t, 256> characters;
  std::array<int, 0x180> bytes;
  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      characters[b] = printable ? b : next++;
      bytes[characters[b]] = static_cast<int>(b);
    }
  }
};

const Alphabet &alphabet() {
  static const Alphabet table;
  return table;
}

} // namespace

void appendByteCharacter(std::string &text, unsigned char byte) {
  appendUtf8(text, alphabet().characters[byte]);
}

std::optional<std::string> fromByteCharacters(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    CodePoint c = decodeAt(text, i);
    int byte = c.value < alphabet().bytes.size() ? alphabet().bytes[c.value] : -1;
    if (byte < 0)
      return std::nullopt;
    result += static_cast<char>(byte);
    i += c.length;
  }
  return result;
}

Splitter makeSplitter(const SplitStep &step) {
  using Kind = SplitStep::Kind;
  switch (step.kind) {
  case Kind::Expression:
    return splitter([expression = Expression(step.pattern)](
                        std::string_view text) { return expression.matches(text); },
                    step.behavior, step.invert);
  case Kind::String:
    return splitter(occurrences(step.pattern), step.behavior, step.invert);
  case Kind::ByteLevel:
    return byteLevel;
  case Kind::PrefixSpace:
    return prefixSpace;
  case Kind::Metaspace:
    return metaspace(step);
  case Kind::Bert:
    return bert();
  case Kind::Digits:
    return splitter(codePoints(isNumeric), step.split ? Behavior::Isolated : Behavior::Contiguous,
                    false);
  case Kind::Punctuation:
    return splitter(codePoints(isPunctuation), step.behavior, step.invert);
  }
  runtime::fail("tokenizer: unknown kind of pre-tokenizer ", static_cast<int>(step.kind),
                "; use a member of SplitStep::Kind");
}

} // namespace dlc::text
