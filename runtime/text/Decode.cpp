//===- Decode.cpp - text of generated tokens, and stop strings ----------------===//
#include "runtime/text/Utf8.h"

#include "dlc/text.hpp"

#include <algorithm>
#include <utility>

namespace dlc::text {

std::string StreamDecoder::push(TokenId id) {
  bool control = tokenizer->isControl(id);
  if (control && !special)
    return {};
  std::string_view bytes = tokenizer->bytes(id);
  if (first && !control && tokenizer->data().stripFirstSpace && bytes.starts_with(' '))
    bytes.remove_prefix(1);
  first = false;
  pending += bytes;
  return takeComplete(pending, false);
}

std::string StreamDecoder::finish() { return takeComplete(pending, true); }

StopFilter::StopFilter(std::vector<std::string> list) : stops(std::move(list)) {
  std::erase(stops, "");
}

std::string StopFilter::push(std::string_view text) {
  if (found)
    return {};
  pending += text;
  size_t end = pending.npos;
  for (const std::string &stop : stops)
    end = std::min(end, pending.find(stop));
  if (end != pending.npos) {
    found = true;
    pending.resize(end);
    return std::exchange(pending, {});
  }
  // Withholds the longest suffix of the text that is a prefix of a stop string.
  size_t withheld = 0;
  for (const std::string &stop : stops)
    for (size_t size = std::min(stop.size(), pending.size()); size > withheld; --size)
      if (std::string_view(pending).ends_with(std::string_view(stop).substr(0, size)))
        withheld = size;
  std::string shown = pending.substr(0, pending.size() - withheld);
  pending.erase(0, shown.size());
  return shown;
}

std::string StopFilter::finish() { return std::exchange(pending, {}); }

} // namespace dlc::text
