//===- ModelTable.cpp - metadata and tensors of a language-model file --------===//
#include "runtime/program/models/ModelTable.h"

#include "runtime/program/Message.h"
#include "runtime/program/Quoted.h"

#include <cmath>
#include <cstring>

namespace dlc::runtime {

static uint64_t readUnsigned(const uint8_t *bytes, uint32_t count) {
  uint64_t value = 0;
  for (uint32_t i = count; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

std::optional<int64_t> MetaValue::integer(uint64_t index) const {
  if (index >= count || kind == MetaKind::Real || kind == MetaKind::String)
    return {};
  uint64_t bits = readUnsigned(numbers + index * elementBytes, elementBytes);
  if (kind == MetaKind::Integer) {
    uint32_t unused = 64 - 8 * elementBytes;
    return int64_t(bits << unused) >> unused;
  }
  if (bits > uint64_t(std::numeric_limits<int64_t>::max()))
    return {};
  return int64_t(bits);
}

double MetaValue::real(uint64_t index) const {
  if (index >= count)
    return std::numeric_limits<double>::quiet_NaN();
  const uint8_t *at = numbers + index * elementBytes;
  if (kind == MetaKind::Real) {
    double wide = 0;
    float narrow = 0;
    if (elementBytes == 8)
      std::memcpy(&wide, at, 8);
    else
      std::memcpy(&narrow, at, 4);
    return elementBytes == 8 ? wide : double(narrow);
  }
  if (std::optional<int64_t> whole = integer(index))
    return double(*whole);
  return double(readUnsigned(at, elementBytes));
}

const MetaValue *ModelTable::find(std::string_view key) const {
  auto at = metadata.find(key);
  return at == metadata.end() ? nullptr : &at->second;
}

const ModelTensor *ModelTable::findTensor(std::string_view name) const {
  auto at = tensors.find(name);
  return at == tensors.end() ? nullptr : &at->second;
}

void ModelTable::fail(const std::string &text) const { throw Error(path + ": " + text); }

const MetaValue *ModelTable::single(std::string_view key, bool required) const {
  const MetaValue *value = find(key);
  if (!value && required)
    fail("required: the metadata key " + formatQuoted(key) +
         "; found none; convert the model again with a current converter");
  if (value && value->isList)
    fail("metadata key " + formatQuoted(key) + ": required: a single value; found: a list of " +
         std::to_string(value->size()));
  return value;
}

int64_t ModelTable::integer(std::string_view key, int64_t low, int64_t high,
                            std::optional<int64_t> fallback) const {
  const MetaValue *value = single(key, !fallback);
  if (!value)
    return *fallback;
  std::optional<int64_t> whole = value->integer(0);
  if (!whole || *whole < low || *whole > high)
    fail(message("metadata key ", formatQuoted(key), ": required: an integer from ", low, " to ",
                 high, "; found: ", whole ? std::to_string(*whole) : "another value"));
  return *whole;
}

double ModelTable::real(std::string_view key, double low, double high,
                        std::optional<double> fallback) const {
  const MetaValue *value = single(key, !fallback);
  if (!value)
    return *fallback;
  double found = value->kind == MetaKind::String ? std::nan("") : value->real(0);
  if (!(found >= low && found <= high))
    fail(
        message("metadata key ", formatQuoted(key), ": required: a number from ", low, " to ", high,
                "; found: ", value->kind == MetaKind::String ? "a string" : std::to_string(found)));
  return found;
}

bool ModelTable::boolean(std::string_view key, bool fallback) const {
  const MetaValue *value = single(key, false);
  if (!value)
    return fallback;
  if (value->kind != MetaKind::Bool)
    fail("metadata key " + formatQuoted(key) + ": required: a bool; found another type");
  return *value->integer(0) != 0;
}

std::string ModelTable::string(std::string_view key, std::optional<std::string> fallback) const {
  const MetaValue *value = single(key, !fallback);
  if (!value)
    return *fallback;
  if (value->kind != MetaKind::String)
    fail("metadata key " + formatQuoted(key) + ": required: a string; found another type");
  return std::string(value->strings[0]);
}

std::optional<std::vector<int64_t>> ModelTable::integers(std::string_view key, uint64_t count,
                                                         int64_t low, int64_t high) const {
  const MetaValue *value = find(key);
  if (!value)
    return {};
  if (!value->isList)
    return std::vector<int64_t>(count, integer(key, low, high));
  if (value->size() != count)
    fail(message("metadata key ", formatQuoted(key), ": required: ", count,
                 " elements; found: ", value->size()));
  std::vector<int64_t> result;
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<int64_t> whole = value->integer(i);
    if (!whole || *whole < low || *whole > high)
      fail(message("metadata key ", formatQuoted(key), ", element ", i,
                   ": required: an integer from ", low, " to ", high,
                   "; found: ", whole ? std::to_string(*whole) : "another value"));
    result.push_back(*whole);
  }
  return result;
}

} // namespace dlc::runtime
