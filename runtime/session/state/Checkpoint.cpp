//===- Checkpoint.cpp - checkpoints, with one part per rank if sharded -------===//
#include "runtime/session/state/Checkpoint.h"

#include "runtime/program/Message.h"
#include "runtime/program/Node.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace dlc::runtime {

using nlohmann::json;

namespace {

uint64_t countElements(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<uint64_t>(size);
  return count;
}

SharedMetadata parseShared(const std::string &path, const std::string &text) {
  try {
    const json shared = json::parse(text);
    SharedMetadata result;
    result.files = shared.at("files").get<std::vector<std::string>>();
    for (const auto &[name, tensor] : shared.at("tensors").items()) {
      auto dtype = parseDType(tensor.at("dtype").get<std::string>());
      auto shape = tensor.at("shape").get<std::vector<int64_t>>();
      uint64_t bytes = dtype ? dtypeBytes(*dtype) : 0;
      for (int64_t size : shape)
        if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) ||
            bytes > kMaxBytes)
          bytes = 0;
      if (bytes == 0)
        fail(path, ": '", name, "' is listed as ", tensor.dump(),
             ", which does not describe a tensor");
      result.tensors[name] = {*dtype, std::move(shape)};
    }
    for (const std::string &file : result.files)
      if (file.empty() || file.find('/') != std::string::npos)
        fail(path, ": '", file, "' is listed as a part; required: a file in the same folder");
    return result;
  } catch (const json::exception &error) {
    fail(path, ": the list of its parts is not readable: ", error.what());
  }
}

void addPartFile(const std::string &path, const SharedMetadata &shared, Checkpoint &into) {
  TensorFile part = readSafetensors(path);
  for (auto &[name, piece] : part.tensors) {
    auto known = shared.tensors.find(name);
    auto said = part.metadata.find(kBeginKey + name);
    if (known == shared.tensors.end() || said == part.metadata.end() ||
        known->second.dtype != piece.dtype)
      fail(path, ": its tensor '", name, "' is not part of this checkpoint; the file was replaced");
    uint64_t begin = 0;
    const std::string &text = said->second;
    if (auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), begin);
        error != std::errc() || end != text.data() + text.size())
      fail(path, ": the offset of '", name, "' is '", text, "'; required: a number");
    into.tensors[name].pieces.push_back({begin, countElements(piece.shape), std::move(piece.data)});
  }
}

} // namespace

std::string SharedMetadata::text() const {
  json all = json::object();
  for (const auto &[name, tensor] : tensors)
    all[name] = {{"dtype", dtypeName(tensor.dtype)}, {"shape", tensor.shape}};
  return json{{"files", files}, {"tensors", all}}.dump();
}

void SavedTensor::read(uint64_t begin, uint64_t count, void *to) const {
  const uint64_t size = dtypeBytes(dtype), end = begin + count;
  for (const Piece &piece : pieces) {
    uint64_t first = std::max(begin, piece.begin), last = std::min(end, piece.begin + piece.count);
    if (first < last)
      std::memcpy(static_cast<char *>(to) + (first - begin) * size,
                  static_cast<const char *>(piece.data.data) + (first - piece.begin) * size,
                  (last - first) * size);
  }
}

Checkpoint readCheckpoint(const std::string &path) {
  TensorFile file = readSafetensors(path);
  Checkpoint result;
  result.metadata = std::move(file.metadata);
  for (auto &[name, tensor] : file.tensors)
    result.tensors[name] = {
        tensor.dtype, tensor.shape, {{0, countElements(tensor.shape), std::move(tensor.data)}}};
  auto said = result.metadata.find(kSharedKey);
  if (said == result.metadata.end())
    return result;
  SharedMetadata shared = parseShared(path, said->second);
  for (const auto &[name, tensor] : shared.tensors)
    if (!result.tensors.emplace(name, SavedTensor{tensor.dtype, tensor.shape, {}}).second)
      fail(path, ": contains '", name, "' both directly and in its parts");
  const auto folder = std::filesystem::path(path).parent_path();
  for (const std::string &name : shared.files)
    addPartFile((folder / name).string(), shared, result);
  for (const auto &[name, tensor] : shared.tensors) {
    auto &pieces = result.tensors[name].pieces;
    std::sort(pieces.begin(), pieces.end(),
              [](const auto &a, const auto &b) { return a.begin < b.begin; });
    uint64_t at = 0;
    for (const auto &piece : pieces)
      at = piece.begin == at ? at + piece.count : UINT64_MAX;
    if (at != countElements(tensor.shape))
      fail(path, ": its parts do not contain all of '", name,
           "'; required in the same folder: ", formatList(shared.files));
  }
  return result;
}

} // namespace dlc::runtime
