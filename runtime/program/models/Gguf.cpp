//===- Gguf.cpp - reads GGUF files -------------------------------------------===//
#include "runtime/program/models/Gguf.h"

#include "runtime/program/MappedFile.h"
#include "runtime/program/Message.h"
#include "runtime/program/Quoted.h"

#include <cstring>

namespace dlc::runtime {

namespace {

/// Limits beyond which a header indicates a damaged file.
constexpr uint64_t maxKeys = 1 << 16, maxTensors = 1 << 17, maxName = 1 << 10, maxLength = 1 << 30,
                   maxAlignment = 1 << 20, maxParts = 4096;
constexpr uint32_t maxRank = 4;

/// Value types of GGUF metadata (`gguf_type`).
enum : uint32_t { TypeString = 8, TypeArray = 9 };
struct NumberType {
  MetaKind kind;
  uint32_t bytes;
};
/// Properties of value types, indexed by `gguf_type`. String and Array have no fixed size: 0 bytes.
constexpr NumberType numberTypes[] = {
    {MetaKind::Unsigned, 1}, {MetaKind::Integer, 1},  {MetaKind::Unsigned, 2},
    {MetaKind::Integer, 2},  {MetaKind::Unsigned, 4}, {MetaKind::Integer, 4},
    {MetaKind::Real, 4},     {MetaKind::Bool, 1},     {MetaKind::String, 0},
    {MetaKind::String, 0},   {MetaKind::Unsigned, 8}, {MetaKind::Integer, 8},
    {MetaKind::Real, 8}};

/// Reads the header of one file. Each read is checked against the end of the file.
class HeaderReader {
public:
  HeaderReader(const MappedFile &file)
      : path(file.path()), begin(file.data()), at(begin), end(begin + file.size()) {}

  [[noreturn]] void fail(const std::string &text) const {
    throw Error(path + ": not a usable GGUF file: " + text);
  }
  uint64_t position() const { return uint64_t(at - begin); }

  const uint8_t *bytes(uint64_t count, const char *what) {
    if (count > uint64_t(end - at))
      fail(message(what, " at byte ", position(), " has ", count, " bytes; found: ", end - at,
                   " bytes up to the end of the file; the file is truncated or damaged"));
    const uint8_t *start = at;
    at += count;
    return start;
  }
  template <typename T> T number(const char *what) {
    T value;
    std::memcpy(&value, bytes(sizeof(T), what), sizeof(T));
    return value;
  }
  uint64_t limited(uint64_t limit, const char *what) {
    uint64_t value = number<uint64_t>(what);
    if (value > limit)
      fail(message(what, " at byte ", position() - 8, ": required: at most ", limit,
                   "; found: ", value));
    return value;
  }
  std::string_view text(uint64_t limit, const char *what) {
    uint64_t length = limited(limit, what);
    return {reinterpret_cast<const char *>(bytes(length, what)), length};
  }
  MetaValue value(std::string_view key);

private:
  void fillList(MetaValue &value, uint32_t type, uint64_t count, std::string_view key);

  std::string path;
  const uint8_t *begin, *at, *end;
};

void HeaderReader::fillList(MetaValue &value, uint32_t type, uint64_t count, std::string_view key) {
  if (type >= std::size(numberTypes) || type == TypeArray)
    fail(message("the value of ", formatQuoted(key), " has the type ", type,
                 "; required: a number, a bool, a string, or a list of these"));
  value.kind = numberTypes[type].kind;
  if (type == TypeString) {
    // Each string begins with a length field of 8 bytes, so that the size of the file bounds the
    // count, and with it the memory of the list.
    if (count > uint64_t(end - at) / 8)
      fail(message("the list ", formatQuoted(key), " has ", count,
                   " strings, more than fit in the file; the file is truncated or damaged"));
    value.strings.reserve(count);
    for (uint64_t i = 0; i < count; ++i)
      value.strings.push_back(text(maxLength, "a string"));
    return;
  }
  value.elementBytes = numberTypes[type].bytes;
  value.count = count;
  value.numbers = bytes(count * value.elementBytes, "a value");
  if (value.kind == MetaKind::Bool)
    for (uint64_t i = 0; i < count; ++i)
      if (value.numbers[i] > 1)
        fail(message("the bool ", formatQuoted(key), " has the value ", int(value.numbers[i]),
                     "; required: 0 or 1"));
}

MetaValue HeaderReader::value(std::string_view key) {
  MetaValue value;
  auto type = number<uint32_t>("the type of a value");
  uint64_t count = 1;
  if (type == TypeArray) {
    value.isList = true;
    type = number<uint32_t>("the element type of a list");
    count = limited(maxLength, "the length of a list");
  }
  fillList(value, type, count, key);
  return value;
}

struct TensorRecord {
  std::string name;
  ModelTensor tensor;
  uint64_t offset = 0, bytes = 0;
};

TensorRecord readTensorRecord(HeaderReader &in) {
  TensorRecord record;
  record.name = in.text(maxName, "the name of a tensor");
  std::string what = "tensor " + formatQuoted(record.name);
  auto rank = in.number<uint32_t>("the rank of a tensor");
  if (rank > maxRank)
    in.fail(message(what, ": required: at most ", maxRank, " dimensions; found: ", rank));
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    auto size = in.number<uint64_t>("a dimension of a tensor");
    if (size == 0 || size > uint64_t(INT64_MAX) / 8 / elements)
      in.fail(message(
          what, ": required: dimensions of at least 1 whose product fits in memory; found: ", size,
          " as dimension ", i));
    elements *= size;
    // GGUF files list the contiguous dimension first.
    record.tensor.shape.insert(record.tensor.shape.begin(), int64_t(size));
  }
  auto type = in.number<uint32_t>("the type of a tensor");
  const BlockFormatInfo *format = findBlockFormat(type);
  if (!format) {
    std::string known;
    for (const BlockFormatInfo &row : blockFormats())
      known += std::string(known.empty() ? "" : ", ") + row.name;
    in.fail(message(what, ": required: one of the formats ", known, "; found: ", ggufTypeName(type),
                    " (type ", type, "); convert the model to one of them"));
  }
  record.tensor.format = format->format;
  uint64_t row = record.tensor.shape.empty() ? 1 : uint64_t(record.tensor.shape.back());
  if (row % format->elements != 0)
    in.fail(message(what, ": required: rows of a multiple of ", format->elements, " elements (",
                    format->name, "); found: ", row));
  record.bytes = elements / format->elements * format->bytes;
  record.offset = in.number<uint64_t>("the offset of a tensor");
  return record;
}

void readHeaderStart(HeaderReader &in) {
  if (std::memcmp(in.bytes(4, "the magic number"), "GGUF", 4) != 0)
    in.fail("required: the magic number GGUF at the start; the file has another format");
  auto version = in.number<uint32_t>("the version");
  if (version != 0 && (version & 0xffff) == 0)
    in.fail("required: little-endian numbers; found: a big-endian file; convert the model for x86");
  if (version != 2 && version != 3)
    in.fail(message("required: version 2 or 3; found: ", version,
                    "; convert the model again with a current converter"));
}

uint64_t readAlignment(const HeaderReader &in, const ModelTable &table) {
  const MetaValue *value = table.find("general.alignment");
  if (!value)
    return 32;
  std::optional<int64_t> alignment = value->isList ? std::nullopt : value->integer(0);
  if (!alignment || *alignment <= 0 || uint64_t(*alignment) > maxAlignment ||
      (*alignment & (*alignment - 1)) != 0)
    in.fail(message("'general.alignment': required: a power of two up to ", maxAlignment,
                    "; found: ", alignment ? std::to_string(*alignment) : "another value"));
  return uint64_t(*alignment);
}

/// Reads one file, which may be a part of a split model.
ModelTable readPart(const std::string &path) {
  MappedFile file(path);
  HeaderReader in(file);
  ModelTable table;
  table.path = path;
  readHeaderStart(in);
  uint64_t tensors = in.limited(maxTensors, "the number of tensors");
  uint64_t keys = in.limited(maxKeys, "the number of metadata keys");
  table.owners.push_back(file.slice(0, file.size()).owner);
  for (uint64_t i = 0; i < keys; ++i) {
    std::string key(in.text(maxName, "a metadata key"));
    MetaValue value = in.value(key);
    if (!table.metadata.emplace(key, std::move(value)).second)
      in.fail("each metadata key must occur once; " + formatQuoted(key) + " occurs twice");
  }
  std::vector<TensorRecord> records;
  records.reserve(tensors);
  for (uint64_t i = 0; i < tensors; ++i)
    records.push_back(readTensorRecord(in));
  uint64_t alignment = readAlignment(in, table);
  auto padded = [&](uint64_t offset) { return (offset + alignment - 1) / alignment * alignment; };
  // The data of a tensor follows that of the previous tensor, padded to the alignment. Each offset
  // is compared with the size of the file before the next one is computed, so that none overflows.
  uint64_t data = padded(in.position()), expected = 0;
  for (TensorRecord &record : records) {
    std::string what = "tensor " + formatQuoted(record.name);
    if (record.offset != expected)
      in.fail(message(what, ": required: the offset ", expected, "; found: ", record.offset,
                      "; the file is damaged"));
    if (data > file.size() || record.bytes > file.size() - data ||
        expected > file.size() - data - record.bytes)
      in.fail(message(what, ": required: ", record.bytes, " bytes at offset ", expected,
                      " of the data; found: a file of ", file.size(),
                      " bytes; the file is truncated; download it again"));
    record.tensor.data = file.slice(data + expected, record.bytes);
    expected = padded(expected + record.bytes);
    if (!table.tensors.emplace(record.name, std::move(record.tensor)).second)
      in.fail("each tensor must occur once; " + formatQuoted(record.name) + " occurs twice");
  }
  return table;
}

/// Returns the path of a part of a split model, such as PREFIX-00001-of-00003.gguf for part 0 of 3.
std::string partPath(const std::string &prefix, uint64_t part, uint64_t parts) {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "-%05u-of-%05u.gguf", unsigned(part + 1), unsigned(parts));
  return prefix + suffix;
}

/// Adds the tensors of another part of a split model.
void mergePart(ModelTable &table, ModelTable &&part, uint64_t number, uint64_t parts) {
  if (part.integer("split.count", 0, maxParts) != int64_t(parts) ||
      part.integer("split.no", 0, maxParts) != int64_t(number))
    part.fail(message("required: part ", number + 1, " of ", parts,
                      " of a split model; found: another part; give the files the names that "
                      "the converter chose"));
  for (auto &[name, tensor] : part.tensors)
    if (!table.tensors.emplace(name, std::move(tensor)).second)
      part.fail("each tensor must occur in one part; " + formatQuoted(name) +
                " is also in an earlier part");
  table.owners.insert(table.owners.end(), part.owners.begin(), part.owners.end());
}

} // namespace

ModelTable readGguf(const std::string &path) {
  ModelTable opened = readPart(path);
  auto parts = uint64_t(opened.integer("split.count", 0, maxParts, 0));
  if (parts <= 1)
    return opened;
  auto number = uint64_t(opened.integer("split.no", 0, int64_t(parts) - 1));
  std::string suffix = partPath("", number, parts);
  if (!path.ends_with(suffix))
    opened.fail(message("required: the name of part ", number + 1, " of ", parts,
                        " of a split model, which ends in '", suffix, "'; rename the file"));
  std::string prefix = path.substr(0, path.size() - suffix.size());
  ModelTable table = readPart(partPath(prefix, 0, parts));
  if (table.integer("split.count", 0, maxParts) != int64_t(parts) ||
      table.integer("split.no", 0, maxParts) != 0)
    table.fail(message("required: part 1 of ", parts,
                       " of a split model; found: another part; rename the "
                       "files"));
  for (uint64_t part = 1; part < parts; ++part)
    mergePart(table, readPart(partPath(prefix, part, parts)), part, parts);
  int64_t total =
      table.integer("split.tensors.count", 0, maxTensors, int64_t(table.tensors.size()));
  if (total != int64_t(table.tensors.size()))
    table.fail(message("required: ", total, " tensors in all parts (split.tensors.count); found: ",
                       table.tensors.size()));
  return table;
}

} // namespace dlc::runtime
