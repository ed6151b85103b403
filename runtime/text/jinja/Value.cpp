//===- Value.cpp - values of chat templates -------------------------------------===//
#include "runtime/text/jinja/Value.h"
#include "runtime/program/Message.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace dlc::text::jinja {
namespace {

constexpr int maxLevels = 64, namespaceLevels = 1 << 20;
constexpr size_t maxTextBytes = 256u << 20, maxExtent = 10'000'000;

void checkSize(size_t size) {
  if (size > maxTextBytes)
    runtime::fail("a text of the template is too long: required: at most ", maxTextBytes,
                  " bytes; shorten the conversation");
}

int nested(int level) {
  if (level >= namespaceLevels)
    runtime::fail("a namespace cannot be an element of another value; store its members instead");
  if (level >= maxLevels)
    runtime::fail("values are nested too deeply: required: at most ", maxLevels,
                  " levels; pass or create values with fewer levels");
  return level + 1;
}

/// Adds the extent of an element to that of its container.
void addExtent(size_t &total, size_t element) {
  total += element;
  if (total > maxExtent)
    runtime::fail("a value of the template has too many nested elements: required: at most ",
                  maxExtent, "; shorten the conversation");
}

} // namespace

Text &Text::operator+=(const Text &other) {
  checkSize(bytes.size() + other.bytes.size());
  if (!marks.empty() || !other.marks.empty()) {
    marks.resize(bytes.size());
    marks += other.marks;
    marks.resize(bytes.size() + other.bytes.size());
  }
  bytes += other.bytes;
  return *this;
}

void Text::append(std::string_view text, const Text &origin, size_t at) {
  checkSize(bytes.size() + text.size());
  if (origin.untrusted(at) || !marks.empty()) {
    marks.resize(bytes.size());
    marks.append(text.size(), static_cast<char>(origin.untrusted(at)));
  }
  bytes += text;
}

Text Text::slice(size_t begin, size_t size) const {
  Text result;
  result.bytes = bytes.substr(begin, size);
  if (!marks.empty())
    result.marks = marks.substr(begin, size);
  return result;
}

const Value *Dict::find(std::string_view key) const {
  auto found = std::lower_bound(index.begin(), index.end(), key,
                                [](const auto &entry, auto name) { return entry.first < name; });
  return found == index.end() || found->first != key ? nullptr : &list[found->second].second;
}

void Dict::set(const Text &key, Value value) {
  auto found = std::lower_bound(index.begin(), index.end(), key.bytes,
                                [](const auto &entry, auto &name) { return entry.first < name; });
  if (found != index.end() && found->first == key.bytes) {
    list[found->second].second = std::move(value);
    return;
  }
  index.insert(found, {key.bytes, list.size()});
  list.emplace_back(key, std::move(value));
}

Value Value::none() {
  Value result;
  result.type = Kind::None;
  return result;
}

Value Value::undefined(std::string name) {
  Value result;
  result.data = std::make_shared<Text>(name);
  return result;
}

Value::Value(List values, bool tuple) : type(tuple ? Kind::Tuple : Kind::List) {
  int level = 0;
  for (const Value &each : values) {
    level = std::max(level, each.levels);
    addExtent(total, each.total);
  }
  levels = nested(level);
  data = std::make_shared<List>(std::move(values));
}

Value::Value(Dict members) : type(Kind::Dict) {
  int level = 0;
  for (const auto &[key, each] : members.members()) {
    level = std::max(level, each.levels);
    addExtent(total, each.total + key.bytes.size() / 64);
  }
  levels = nested(level);
  data = std::make_shared<Dict>(std::move(members));
}

Value Value::makeNamespace(Dict members) {
  Value result(std::move(members));
  result.type = Kind::Namespace;
  result.levels = namespaceLevels;
  return result;
}

Value Value::macro(const Node *node) {
  Value result;
  result.type = Kind::Macro;
  result.node = node;
  return result;
}

const char *kindName(const Value &value) {
  constexpr const char *names[] = {"undefined", "None",  "bool", "int",       "float",    "str",
                                   "list",      "tuple", "dict", "namespace", "function", "macro"};
  return names[static_cast<int>(value.kind())];
}

bool truth(const Value &value) {
  switch (value.kind()) {
  case Value::Kind::Undefined:
  case Value::Kind::None:
    return false;
  case Value::Kind::Bool:
  case Value::Kind::Int:
    return value.asInt() != 0;
  case Value::Kind::Float:
    return value.asFloat() != 0;
  case Value::Kind::String:
    return !value.text().bytes.empty();
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return !value.list().empty();
  case Value::Kind::Dict:
    return value.dict().size() != 0;
  default:
    return true;
  }
}

bool equal(const Value &a, const Value &b) {
  if (a.isInteger() && b.isInteger())
    return a.asInt() == b.asInt();
  if (a.isNumber() && b.isNumber())
    return a.asFloat() == b.asFloat();
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Value::Kind::String:
    return a.text() == b.text();
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return std::equal(a.list().begin(), a.list().end(), b.list().begin(), b.list().end(), equal);
  case Value::Kind::Dict:
    return a.dict().size() == b.dict().size() &&
           std::all_of(a.dict().members().begin(), a.dict().members().end(),
                       [&](const Member &each) {
                         const Value *other = b.dict().find(each.first.bytes);
                         return other && equal(each.second, *other);
                       });
  case Value::Kind::Namespace:
    return &a.dict() == &b.dict();
  case Value::Kind::Macro:
    return a.macro() == b.macro();
  default:
    return a.kind() != Value::Kind::Function;
  }
}

int compare(const Value &a, const Value &b) {
  auto order = [](auto x, auto y) { return x < y ? -1 : x > y; };
  if (a.isInteger() && b.isInteger())
    return order(a.asInt(), b.asInt());
  if (a.isNumber() && b.isNumber())
    return order(a.asFloat(), b.asFloat());
  if (a.is(Value::Kind::String) && b.is(Value::Kind::String))
    return a.text().bytes.compare(b.text().bytes);
  if (a.isList() && a.kind() == b.kind()) {
    for (size_t i = 0; i < std::min(a.list().size(), b.list().size()); ++i)
      if (!equal(a.list()[i], b.list()[i]))
        return compare(a.list()[i], b.list()[i]);
    return order(a.list().size(), b.list().size());
  }
  runtime::fail("values of the types ", kindName(a), " and ", kindName(b),
                " have no order; convert one of them");
}

std::vector<size_t> offsets(std::string_view text) {
  std::vector<size_t> result;
  for (size_t i = 0; i < text.size(); i += decodeAt(text, i).length)
    result.push_back(i);
  result.push_back(text.size());
  return result;
}

void checkElements(size_t size) {
  if (size > maxElements)
    runtime::fail("a list of the template is too long: required: at most ", maxElements,
                  " elements; shorten the conversation");
}

size_t length(const Value &value) {
  switch (value.kind()) {
  case Value::Kind::Undefined:
    return 0;
  case Value::Kind::String:
    return offsets(value.text().bytes).size() - 1;
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return value.list().size();
  case Value::Kind::Dict:
    return value.dict().size();
  default:
    runtime::fail("a value of type ", kindName(value), " has no length; pass a list or a string");
  }
}

const Value *entry(const Value &value, std::string_view key) {
  bool named = value.is(Value::Kind::Dict) || value.is(Value::Kind::Namespace);
  return named ? value.dict().find(key) : nullptr;
}

List elements(const Value &value) {
  List result;
  switch (value.kind()) {
  case Value::Kind::Undefined:
    break;
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return value.list();
  case Value::Kind::Dict:
    for (const auto &[key, member] : value.dict().members())
      result.emplace_back(key);
    break;
  case Value::Kind::String: {
    std::vector<size_t> begins = offsets(value.text().bytes);
    checkElements(begins.size() - 1);
    for (size_t i = 0; i + 1 < begins.size(); ++i)
      result.emplace_back(value.text().slice(begins[i], begins[i + 1] - begins[i]));
    break;
  }
  default:
    runtime::fail("a value of type ", kindName(value),
                  " cannot be iterated; pass a list, a dictionary or a string");
  }
  return result;
}

std::string formatFloat(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  double magnitude = std::fabs(value);
  bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  char buffer[400];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                           scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer, end.ptr);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

static Text sequence(const List &list, const char *begin, const char *end) {
  Text result(begin);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0)
      result += Text(", ");
    result += quoted(list[i]);
  }
  return result += Text(end);
}

static Text quotedText(const Text &text) {
  bool useDouble =
      text.bytes.find('\'') != std::string::npos && text.bytes.find('"') == std::string::npos;
  char quote = useDouble ? '"' : '\'';
  Text result(std::string_view(&quote, 1));
  for (size_t i = 0; i < text.bytes.size(); ++i) {
    char c = text.bytes[i];
    size_t special = std::string_view("\n\t\r").find(c);
    if (special != std::string_view::npos)
      result.append(std::array{"\\n", "\\t", "\\r"}[special], text, i);
    else
      result.append(c == '\\' || c == quote ? std::string{'\\', c} : std::string{c}, text, i);
  }
  return result += Text(std::string_view(&quote, 1));
}

Text quoted(const Value &value) {
  return value.is(Value::Kind::String) ? quotedText(value.text()) : toText(value);
}

Text toText(const Value &value) {
  switch (value.kind()) {
  case Value::Kind::Undefined:
    return {};
  case Value::Kind::None:
    return "None";
  case Value::Kind::Bool:
    return value.asInt() ? "True" : "False";
  case Value::Kind::Int:
    return Text(std::to_string(value.asInt()));
  case Value::Kind::Float:
    return Text(formatFloat(value.asFloat()));
  case Value::Kind::String:
    return value.text();
  case Value::Kind::List:
    return sequence(value.list(), "[", "]");
  case Value::Kind::Tuple:
    return sequence(value.list(), "(", value.list().size() == 1 ? ",)" : ")");
  case Value::Kind::Dict: {
    Text result("{");
    for (const auto &[key, member] : value.dict().members()) {
      if (result.bytes.size() > 1)
        result += Text(", ");
      result += quotedText(key);
      result += Text(": ");
      result += quoted(member);
    }
    return result += Text("}");
  }
  default:
    runtime::fail("a value of type ", kindName(value), " has no text; print one of its members");
  }
}

} // namespace dlc::text::jinja
