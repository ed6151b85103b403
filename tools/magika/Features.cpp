//===- Features.cpp - feature extraction: the bytes of a file as network input ----------------===//
#include "tools/magika/Features.h"

#include "dlc/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace magika {
namespace {

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string readAt(std::ifstream &file, int64_t offset, int64_t size) {
  std::string bytes(size_t(size), '\0');
  file.seekg(offset);
  file.read(bytes.data(), size);
  bytes.resize(size_t(file.gcount()));
  return bytes;
}

} // namespace

bool isUtf8(const std::string &bytes) {
  for (size_t i = 0; i < bytes.size();) {
    auto at = [&](size_t k) {
      return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u;
    };
    unsigned lead = at(i);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0)
      return false;
    for (size_t k = 1; k < length; ++k)
      if ((at(i + k) & 0xc0) != 0x80)
        return false;
    // Rejects overlong encodings, surrogates, and code points above U+10FFFF.
    if ((lead == 0xe0 && at(i + 1) < 0xa0) || (lead == 0xed && at(i + 1) > 0x9f) ||
        (lead == 0xf0 && at(i + 1) < 0x90) || (lead == 0xf4 && at(i + 1) > 0x8f))
      return false;
    i += length;
  }
  return true;
}

FileFeatures readFeatures(const std::string &path, const FeatureSizes &sizes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  int64_t size = file ? int64_t(file.tellg()) : -1;
  if (size < 0)
    throw dlc::Error(path + ": cannot be read: " + std::strerror(errno));
  if (size == 0)
    return {{}, "empty"};
  int64_t block = std::min(size, sizes.block);
  std::string first = readAt(file, 0, block), last = readAt(file, size - block, block);
  auto simple = [&] { return FileFeatures{{}, isUtf8(first) ? "txt" : "unknown"}; };
  if (size < sizes.least)
    return simple();

  std::string begin(std::find_if_not(first.begin(), first.end(), isSpace), first.end());
  std::string end(last.begin(), std::find_if_not(last.rbegin(), last.rend(), isSpace).base());
  if (int64_t(begin.size()) < sizes.least)
    return simple();
  FileFeatures features;
  features.tokens.assign(size_t(sizes.begin + sizes.end), int32_t(sizes.padding));
  auto token = [](char c) { return int32_t(static_cast<unsigned char>(c)); };
  size_t n = std::min(begin.size(), size_t(sizes.begin)),
         m = std::min(end.size(), size_t(sizes.end));
  std::transform(begin.begin(), begin.begin() + n, features.tokens.begin(), token);
  std::transform(end.end() - m, end.end(), features.tokens.end() - m, token);
  return features;
}

} // namespace magika
