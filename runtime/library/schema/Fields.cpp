//===- Fields.cpp - checked access to a description's JSON fields ---------===//
#include "runtime/library/schema/Fields.h"

#include <algorithm>

namespace dlc::schema {

using nlohmann::json;
using runtime::message;

static bool isInteger(const json &value, int64_t low, int64_t high) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
    return false;
  auto number = value.get<int64_t>();
  return number >= low && number <= high;
}

static bool isInteger(const json &value, const Rule &rule) {
  return isInteger(value, rule.low, rule.high) && value.get<int64_t>() % rule.step == 0;
}

static std::string describeRange(const Rule &rule) {
  return message("from ", rule.low, " to ", rule.high,
                 rule.step == 1 ? "" : message(", divisible by ", rule.step));
}

/// Returns the required number of elements of a list. If `list` has a valid length, only its
/// elements are wrong.
static std::string describeLength(const json *list, const Rule &rule) {
  if (rule.count)
    return message(rule.count);
  return list && list->is_array() && list->size() <= rule.most
             ? message(list->size())
             : message("a list of at most ", rule.most);
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

int64_t Fields::integer(const char *name, const Rule &rule) const {
  const json *value = find(name);
  if (!value || !isInteger(*value, rule))
    refuse(name, message("an integer ", describeRange(rule)));
  return value->get<int64_t>();
}

std::vector<int64_t> Fields::integers(const char *name, const Rule &rule) const {
  const json *list = find(name);
  if (!list || !list->is_array() || list->size() > rule.most ||
      (rule.count && list->size() != rule.count) ||
      !std::all_of(list->begin(), list->end(),
                   [&](const json &value) { return isInteger(value, rule); }))
    refuse(name, message(describeLength(list, rule), " integers ", describeRange(rule)));
  return list->get<std::vector<int64_t>>();
}

std::vector<int64_t> Fields::sizes(const char *name, const Rule &rule) const {
  std::vector<int64_t> values = integers(name, rule);
  int64_t total = 1;
  for (int64_t value : values)
    if (__builtin_mul_overflow(total, std::max<int64_t>(1, value), &total) || total > kMaxSize)
      complain("'", name, "' ", runtime::formatList(values), " is too large");
  return values;
}

const json &Fields::entries(const char *name, size_t most) const {
  const json &value = at(name);
  if (!value.is_array() || value.size() > most)
    refuse(name, message("a list of at most ", most));
  return value;
}

bool Fields::flag(const char *name) const {
  const json *value = find(name);
  if (!value || !value->is_boolean())
    refuse(name, "true or false");
  return value->get<bool>();
}

double Fields::number(const char *name) const {
  const json *value = find(name);
  if (!value || !value->is_number())
    refuse(name, "a number");
  return value->get<double>();
}

std::vector<double> Fields::numbers(const char *name, const Rule &rule) const {
  const json &list = entries(name, rule.most);
  if (!std::all_of(list.begin(), list.end(), [](const json &value) { return value.is_number(); }))
    refuse(name, "a list of numbers");
  return list.get<std::vector<double>>();
}

std::string Fields::word(const char *name) const {
  const json *value = find(name);
  if (!value || !value->is_string())
    refuse(name, "a string");
  return value->get<std::string>();
}

DType Fields::dtype(const char *name) const {
  auto type = parseDType(word(name));
  if (!type || isPacked(*type))
    refuse(name, "an element type of whole bytes");
  return *type;
}

} // namespace dlc::schema
