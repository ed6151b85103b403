//===- Safetensors.cpp - reads and writes .safetensors files -----------------===//
#include "runtime/program/arrays/Safetensors.h"

#include "dlc/Error.h"
#include "runtime/program/AtomicFile.h"
#include "runtime/program/MappedFile.h"
#include "runtime/program/Quoted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace dlc::runtime {

using nlohmann::json;

namespace {
/// Maximum header size in bytes, as in the reference implementation of safetensors.
constexpr uint64_t maxHeader = 100'000'000;

struct TypeName {
  DType dtype;
  const char *text;
};
constexpr TypeName names[] = {{DType::F32, "F32"},  {DType::F16, "F16"}, {DType::BF16, "BF16"},
                              {DType::F64, "F64"},  {DType::I8, "I8"},   {DType::U8, "U8"},
                              {DType::I16, "I16"},  {DType::U16, "U16"}, {DType::I32, "I32"},
                              {DType::U32, "U32"},  {DType::I64, "I64"}, {DType::U64, "U64"},
                              {DType::Bool, "BOOL"}};

[[noreturn]] void failFile(const std::string &path, const std::string &text) {
  throw Error(path + ": not a usable .safetensors file: " + text);
}

json parseHeader(const std::string &path, const char *begin, const char *end) {
  std::set<std::string> keys;
  auto unique = [&](int depth, json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !keys.insert(value.get<std::string>()).second)
      failFile(path, "each name must occur once in the header; " +
                         formatQuoted(value.get<std::string>()) + " occurs twice");
    if (depth > 3)
      failFile(path, "the header must hold objects with element type, shape and byte range; found "
                     "deeper nesting");
    return true;
  };
  try {
    return json::parse(begin, end, unique);
  } catch (const json::exception &e) {
    failFile(path, std::string("the header must be JSON; ") + e.what());
  }
}

uint64_t readUnsigned(const json &value, const std::string &path, const std::string &what) {
  if (!value.is_number_unsigned())
    failFile(path, what + " must be whole numbers of 0 or more; found " +
                       formatQuoted(value.dump(-1, ' ', false, json::error_handler_t::replace)));
  return value.get<uint64_t>();
}

const json &fieldOf(const json &entry, const char *field, const std::string &path,
                    const std::string &what) {
  auto at = entry.find(field);
  if (at == entry.end())
    failFile(path, what + " must have a field '" + field + "'; found none");
  return *at;
}

struct HeaderEntry {
  std::string name;
  FileTensor tensor;
  uint64_t begin, end;
};

HeaderEntry parseEntry(const std::string &path, const std::string &name, const json &entry) {
  std::string what = "tensor " + formatQuoted(name);
  if (!entry.is_object())
    failFile(path, what + " must be described by an object");
  HeaderEntry result{name, {}, 0, 0};
  const json &dtype = fieldOf(entry, "dtype", path, what);
  if (!dtype.is_string())
    failFile(path, what + " must have its element type as a string");
  auto known = std::find_if(std::begin(names), std::end(names), [&](const TypeName &n) {
    return dtype.get_ref<const std::string &>() == n.text;
  });
  if (known == std::end(names))
    failFile(path, what + " has the element type " + formatQuoted(dtype.get<std::string>()) +
                       ", which dlc does not support; save it as F32, F16, BF16, F64, BOOL or an "
                       "integer type");
  result.tensor.dtype = known->dtype;
  const json &shape = fieldOf(entry, "shape", path, what);
  if (!shape.is_array())
    failFile(path, what + " must have its shape as a list");
  unsigned __int128 bytes = dtypeBytes(known->dtype);
  bool empty = false;
  for (const json &dim : shape) {
    uint64_t size = readUnsigned(dim, path, "the sizes of " + what);
    if (size > uint64_t(INT64_MAX))
      failFile(path, what + " has a size beyond 2^63");
    result.tensor.shape.push_back(static_cast<int64_t>(size));
    empty |= size == 0;
    if (size != 0)
      bytes *= size;
    if (bytes > (unsigned __int128)1 << 62)
      failFile(path, what + " has more elements than memory can hold");
  }
  const json &offsets = fieldOf(entry, "data_offsets", path, what);
  if (!offsets.is_array() || offsets.size() != 2)
    failFile(path,
             what + " must have two data_offsets: the first byte, and the byte after the last");
  result.begin = readUnsigned(offsets[0], path, "the data_offsets of " + what);
  result.end = readUnsigned(offsets[1], path, "the data_offsets of " + what);
  uint64_t wanted = empty ? 0 : uint64_t(bytes);
  if (result.end < result.begin || result.end - result.begin != wanted)
    failFile(path, what + " must have " + std::to_string(wanted) +
                       " bytes, according to its shape and element type; found: bytes " +
                       std::to_string(result.begin) + " to " + std::to_string(result.end));
  return result;
}
} // namespace

TensorFile readSafetensors(const std::string &path) {
  MappedFile mapped(path);
  if (mapped.size() < 8)
    failFile(path, "it must begin with the 8 bytes of the header's length; found " +
                       std::to_string(mapped.size()) + " bytes; the file is truncated");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | mapped.data()[i];
  if (length > maxHeader || length > mapped.size() - 8)
    failFile(path,
             "the header of " + std::to_string(length) + " bytes must be inside the file of " +
                 std::to_string(mapped.size()) +
                 " bytes (and have at most 100 MB); the file is truncated, or of another format");
  const char *text = reinterpret_cast<const char *>(mapped.data()) + 8;
  json header = parseHeader(path, text, text + length);
  if (!header.is_object())
    failFile(path, "the header must be a JSON object");

  TensorFile file;
  std::vector<HeaderEntry> entries;
  for (const auto &[name, value] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(parseEntry(path, name, value));
      continue;
    }
    if (!value.is_object())
      failFile(path, "__metadata__ must be an object of strings");
    for (const auto &[key, word] : value.items()) {
      if (!word.is_string())
        failFile(path, "__metadata__ must be an object of strings; " + formatQuoted(key) +
                           " is not a string");
      file.metadata[key] = word.get<std::string>();
    }
  }
  // Check that tensors follow one another without gaps or overlaps, as the format requires. This
  // also validates every offset.
  std::sort(entries.begin(), entries.end(), [](const HeaderEntry &a, const HeaderEntry &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t at = 0, data = 8 + length;
  for (HeaderEntry &entry : entries) {
    if (entry.begin != at)
      failFile(path, "the bytes of tensors must be adjacent; " + formatQuoted(entry.name) +
                         " begins at " + std::to_string(entry.begin) +
                         "; required: " + std::to_string(at));
    at = entry.end;
    if (at > mapped.size() - data)
      failFile(path, "tensor " + formatQuoted(entry.name) + " ends at byte " + std::to_string(at) +
                         " of the data, which has " + std::to_string(mapped.size() - data) +
                         "; the file is truncated");
  }
  if (at != mapped.size() - data)
    failFile(path, "the tensors must cover all bytes of the file; found " +
                       std::to_string(mapped.size() - data - at) + " bytes after the last tensor");
  for (HeaderEntry &entry : entries) {
    Span span = mapped.slice(data + entry.begin, entry.end - entry.begin);
    // Copy the tensors of files that are not aligned, which are rare, because readers access
    // elements in place.
    if (reinterpret_cast<uintptr_t>(span.data) % dtypeBytes(entry.tensor.dtype) != 0 || !span.data)
      span = copyToOwnedSpan(span.data, span.bytes);
    entry.tensor.data = std::move(span);
    file.tensors.emplace(std::move(entry.name), std::move(entry.tensor));
  }
  return file;
}

void writeSafetensors(const std::string &path, const TensorFile &file) {
  TensorViews views{{}, file.metadata};
  for (const auto &[name, tensor] : file.tensors)
    views.tensors[name] = {tensor.dtype, tensor.shape, tensor.data.data, tensor.data.bytes};
  writeSafetensors(path, views);
}

void writeSafetensors(const std::string &path, const TensorViews &given) {
  json header = json::object();
  if (!given.metadata.empty())
    header["__metadata__"] = given.metadata;
  // Tensors are sorted by descending element size, as in the reference implementation, so that all
  // are aligned.
  std::vector<const std::pair<const std::string, TensorView> *> order;
  order.reserve(given.tensors.size());
  for (const auto &tensor : given.tensors)
    order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
    return dtypeBytes(a->second.dtype) > dtypeBytes(b->second.dtype);
  });
  uint64_t at = 0;
  for (const auto *tensor : order) {
    const TensorView &array = tensor->second;
    if (tensor->first == "__metadata__")
      throw Error(path +
                  ": the tensor name __metadata__ is reserved by the format; rename the tensor");
    if (!array.data && array.bytes)
      throw Error(path + ": tensor '" + tensor->first + "' has no elements in memory");
    auto name = std::find_if(std::begin(names), std::end(names),
                             [&](const TypeName &n) { return n.dtype == array.dtype; });
    if (name == std::end(names))
      throw Error(path + ": tensor '" + tensor->first + "' is of " +
                  std::string(dtypeName(array.dtype)) +
                  ", which the format does not support; convert it to 8 bits");
    header[tensor->first] = {
        {"dtype", name->text}, {"shape", array.shape}, {"data_offsets", {at, at + array.bytes}}};
    at += array.bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception &) {
    throw Error(path + ": names of tensors and metadata must be UTF-8");
  }
  // Pad the header with spaces so that the first tensor is aligned to 64 bytes.
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  if (text.size() > maxHeader)
    throw Error(path + ": the header would have " + std::to_string(text.size()) +
                " bytes; at most 100 MB are allowed");
  unsigned char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<unsigned char>(text.size() >> (8 * i));
  AtomicFile file(path);
  file.write(length, sizeof length);
  file.write(text.data(), text.size());
  for (const auto *tensor : order)
    file.write(tensor->second.data, tensor->second.bytes);
  file.commit();
}

} // namespace dlc::runtime
