//===- GgufFile.h - metadata of GGUF files for the tests of tokenizers --------===//
#ifndef DLC_TEST_RUNTIME_TEXT_GGUFFILE_H
#define DLC_TEST_RUNTIME_TEXT_GGUFFILE_H

#include "dlc/text.hpp"

#include <cstring>
#include <fstream>
#include <sstream>

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    throw dlc::Error("cannot read '" + path + "'; check the path");
  return text.str();
}

/// Reads the key-value section of a GGUF file. Does not check the file, which must be valid.
class GgufFile {
public:
  explicit GgufFile(const std::string &path) : bytes(readFile(path)) {}

  dlc::text::Metadata metadata() {
    at = 16; // magic, version and number of tensors
    dlc::text::Metadata result;
    for (auto count = get<uint64_t>(); count > 0; --count) {
      std::string key = text();
      result[key] = value(get<uint32_t>());
    }
    return result;
  }

private:
  template <typename T> T get() {
    T value;
    if (at + sizeof(value) > bytes.size())
      throw dlc::Error("the GGUF file is too short; download the file again");
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    at += sizeof(value);
    return value;
  }
  std::string text() {
    auto size = get<uint64_t>();
    std::string result = bytes.substr(at, size);
    at += size;
    return result;
  }
  double number(uint32_t type) {
    switch (type) {
    case 0:
    case 7:
      return get<uint8_t>();
    case 1:
      return get<int8_t>();
    case 2:
      return get<uint16_t>();
    case 3:
      return get<int16_t>();
    case 4:
      return get<uint32_t>();
    case 5:
      return get<int32_t>();
    case 6:
      return get<float>();
    case 10:
      return static_cast<double>(get<uint64_t>());
    case 11:
      return static_cast<double>(get<int64_t>());
    default:
      return get<double>();
    }
  }
  dlc::text::MetadataValue value(uint32_t type) {
    if (type == 8)
      return text();
    if (type == 7)
      return number(type) != 0;
    if (type != 9)
      return static_cast<int64_t>(number(type));
    auto element = get<uint32_t>();
    auto count = get<uint64_t>();
    if (element == 8) {
      std::vector<std::string> texts;
      for (; count > 0; --count)
        texts.push_back(text());
      return texts;
    }
    std::vector<double> numbers;
    for (; count > 0; --count)
      numbers.push_back(number(element));
    return numbers;
  }

  std::string bytes;
  size_t at = 0;
};

inline dlc::text::Metadata readMetadata(const std::string &path) {
  return GgufFile(path).metadata();
}

#endif // DLC_TEST_RUNTIME_TEXT_GGUFFILE_H
