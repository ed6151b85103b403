//===- Mutate.cpp - random mutations of files ------------------------------------===//
#include "test/fuzz/Mutate.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace dlc::fuzz {
namespace {

/// Values at which sizes and offsets overflow, wrap around or vanish.
const int64_t figures[] = {
    0,         1,         -1,        2,        7,         127,       128,          255,
    256,       32767,     65535,     65536,    INT32_MAX, INT32_MIN, 0xffffffffll, 0x100000000ll,
    INT64_MAX, INT64_MIN, 1ll << 40, 1ll << 62};

void damage(std::string &bytes, const std::vector<std::string> &others, Engine &engine) {
  size_t n = bytes.size(), at = below(engine, n),
         length = 1 + below(engine, std::min<size_t>(n, 64));
  switch (below(engine, 10)) {
  case 0:
    if (n)
      bytes[at] = char(bytes[at] ^ (1 << below(engine, 8)));
    break;
  case 1:
    if (n)
      bytes[at] = char(engine());
    break;
  case 2: // truncate the file
    bytes.resize(at);
    break;
  case 3:
    bytes.erase(at, length);
    break;
  case 4: // duplicate some bytes
    bytes.insert(at, bytes.substr(at, length));
    break;
  case 5: { // overwrite with a little-endian integer of any width
    int64_t figure = figures[below(engine, std::size(figures))];
    size_t width = size_t(1) << below(engine, 4);
    if (at + width <= n)
      std::memcpy(bytes.data() + at, &figure, width);
    break;
  }
  case 6: // random bytes
    for (size_t i = at; i < std::min(n, at + length); ++i)
      bytes[i] = char(engine());
    break;
  case 7: // a protobuf varint that is larger than the remaining data
    bytes.replace(at, std::min<size_t>(length, 3), "\xff\xff\xff\xff\x07");
    break;
  case 8: { // insert a piece of another file
    const std::string &other = others[below(engine, others.size())];
    size_t from = below(engine, other.size());
    bytes.replace(at, length, other.substr(from, 1 + below(engine, 256)));
    break;
  }
  case 9:
    std::swap_ranges(bytes.begin() + at, bytes.begin() + at + std::min(length, (n - at) / 2),
                     bytes.begin() + at + (n - at) / 2);
    break;
  }
}

std::vector<std::string> wordsOf(const std::string &text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    size_t j = i + 1;
    auto isWord = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    };
    if (isWord(text[i]))
      while (j < text.size() && isWord(text[j]))
        ++j;
    words.push_back(text.substr(i, j - i));
    i = j;
  }
  return words;
}

} // namespace

std::string mutateBytes(std::string bytes, const std::vector<std::string> &others, Engine &engine) {
  for (size_t i = 0, n = 1 + below(engine, 4); i < n; ++i)
    damage(bytes, others, engine);
  return bytes;
}

std::string mutateText(std::string text, const std::vector<std::string> &others, Engine &engine) {
  if (below(engine, 4) == 0)
    return mutateBytes(text, others, engine);
  std::vector<std::string> words = wordsOf(text);
  std::vector<std::string> foreign = wordsOf(others[below(engine, others.size())]);
  for (size_t i = 0, n = 1 + below(engine, 4); i < n && !words.empty(); ++i) {
    size_t at = below(engine, words.size());
    switch (below(engine, 6)) {
    case 0:
      words.erase(words.begin() + at);
      break;
    case 1: {
      std::string copy = words[at];
      words.insert(words.begin() + at, copy);
      break;
    }
    case 2:
      std::swap(words[at], words[below(engine, words.size())]);
      break;
    case 3:
      if (!foreign.empty())
        words[at] = foreign[below(engine, foreign.size())];
      break;
    case 4: // replace a number
      for (size_t k = 0; k < words.size(); ++k) {
        std::string &word = words[(at + k) % words.size()];
        if (std::isdigit(static_cast<unsigned char>(word[0]))) {
          word = std::to_string(figures[below(engine, std::size(figures))]) +
                 (word.find('x') == std::string::npos ? "" : word.substr(word.find('x')));
          break;
        }
      }
      break;
    case 5:
      words.resize(at);
      break;
    }
  }
  std::string result;
  for (const std::string &word : words)
    result += word;
  return result;
}

} // namespace dlc::fuzz
