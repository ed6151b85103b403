//===- Fields.cpp - checked access to a description's JSON fields ---------===//
#include "runtime/library/describe/Fields.h"

#include <algorithm>

namespace dlc::describe {

using nlohmann::json;
using runtime::message;

static bool isInteger(const json &value, int64_t low, int64_t high) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
    return false;
  auto number = value.get<int64_t>();
  return number >= low && number <= high;
}

Fields::Fields(const json &desc, std::string library) : desc(desc), library(std::move(library)) {
  if (!desc.is_object())
    complain("required: an object; found: ", desc.dump());
}

const json *Fields::find(const char *name) const {
  auto found = desc.find(name);
  return found == desc.end() || found->is_null() ? nullptr : &*found;
}

const json &Fields::at(const char *name) const {
  const json *value = find(name);
  if (!value)
    complain("'", name, "' is missing in ", desc.dump());
  return *value;
}

void Fields::refuse(const char *name, const std::string &expected) const {
  const json *value = find(name);
  complain("'", name, "' must be ", expected, "; found: ", value ? value->dump() : "nothing");
}

int64_t Fields::integer(const char *name, int64_t low, int64_t high) const {
  const json *value = find(name);
  if (!value || !isInteger(*value, low, high))
    refuse(name, message("an integer from ", low, " to ", high));
  return value->get<int64_t>();
}

int64_t Fields::integer(const char *name, int64_t low, int64_t high, int64_t otherwise) const {
  return has(name) ? integer(name, low, high) : otherwise;
}

std::vector<int64_t> Fields::integers(const char *name, size_t count, int64_t low,
                                      int64_t high) const {
  const json *list = find(name);
  if (!list || !list->is_array() || list->size() != count ||
      !std::all_of(list->begin(), list->end(),
                   [&](const json &value) { return isInteger(value, low, high); }))
    refuse(name, message(count, " integers from ", low, " to ", high));
  return list->get<std::vector<int64_t>>();
}

std::vector<int64_t> Fields::sizes(const char *name, size_t count, int64_t least) const {
  constexpr size_t most = 32;
  const json *list = find(name);
  if (!list || !list->is_array() || list->size() > most)
    refuse(name, message("a list of at most ", most, " sizes"));
  std::vector<int64_t> values = integers(name, count ? count : list->size(), least, kMaxSize);
  int64_t total = 1;
  for (int64_t value : values)
    if (__builtin_mul_overflow(total, std::max<int64_t>(1, value), &total) || total > kMaxSize)
      complain("'", name, "' ", runtime::formatList(values), " is too large");
  return values;
}

bool Fields::flag(const char *name, bool otherwise) const {
  const json *value = find(name);
  if (value && !value->is_boolean())
    refuse(name, "true or false");
  return value ? value->get<bool>() : otherwise;
}

double Fields::number(const char *name) const {
  const json *value = find(name);
  if (!value || !value->is_number())
    refuse(name, "a number");
  return value->get<double>();
}

double Fields::number(const char *name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

std::string Fields::word(const char *name, const char *otherwise) const {
  const json *value = find(name);
  if (value && !value->is_string())
    refuse(name, "a string");
  return value ? value->get<std::string>() : otherwise;
}

DType Fields::dtype(const char *name) const {
  auto type = parseDType(word(name));
  if (!type || isPacked(*type))
    refuse(name, "an element type of whole bytes");
  return *type;
}

std::vector<Fields> Fields::list(const char *name, size_t most) const {
  std::vector<Fields> entries;
  const json *value = find(name);
  if (value && (!value->is_array() || value->size() > most))
    refuse(name, message("a list of at most ", most));
  if (value)
    for (const json &entry : *value)
      entries.emplace_back(entry, library);
  return entries;
}

} // namespace dlc::describe
