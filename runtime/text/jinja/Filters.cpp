//===- Filters.cpp - filters of chat templates -----------------------------------===//
#include "runtime/program/Message.h"
#include "runtime/text/jinja/Interpreter.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

namespace dlc::text::jinja {
namespace {

/// Index of arguments that are accepted by name only.
constexpr size_t byName = SIZE_MAX;

/// Returns the value of the member with a dotted name, such as `function.name`.
Value memberOf(Value value, const std::string &path) {
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    bool number =
        !name.empty() && name.size() < 9 &&
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    const Value *found = entry(value, name);
    if (value.isList() && number && std::stoul(name) < value.list().size())
      found = &value.list()[std::stoul(name)];
    value = found ? *found : Value::undefined(name);
    begin = end + 1;
  }
  return value;
}

/// Returns the member that an argument names, or the value itself without that argument.
Value attributeOf(const Value &each, const Value *attribute) {
  if (!attribute || attribute->is(Value::Kind::None))
    return each;
  return memberOf(each, toText(*attribute).bytes);
}

Value trimFilter(Call &call) {
  const Value *characters = call.find(1, "chars");
  std::string list = characters ? toText(*characters).bytes : "";
  return trimmed(toText(call.operand()), characters ? &list : nullptr, true, true);
}

Value lengthFilter(Call &call) { return static_cast<int64_t>(length(call.operand())); }

Value defaultFilter(Call &call) {
  const Value &value = call.operand();
  bool missing =
      value.is(Value::Kind::Undefined) || (call.flag(2, "boolean", false) && !truth(value));
  const Value *otherwise = call.find(1, "default_value");
  return !missing ? value : otherwise ? *otherwise : Value("");
}

Value joinFilter(Call &call) {
  const Value *separator = call.find(1, "d");
  Text between = separator ? toText(*separator) : Text();
  Text result;
  bool first = true;
  for (const Value &each : elements(call.operand())) {
    if (!std::exchange(first, false))
      result += between;
    result += toText(attributeOf(each, call.find(2, "attribute")));
  }
  return result;
}

Value toJsonFilter(Call &call) {
  call.checkCount(2, {"indent", "ensure_ascii", "sort_keys", "separators"});
  JsonOptions options;
  const Value *indent = call.find(1, "indent");
  if (indent && !indent->is(Value::Kind::None)) {
    options.indent = static_cast<int>(std::clamp<int64_t>(call.integer(1, "indent"), 0, 32));
    options.itemSeparator = ",";
  }
  options.ascii = call.flag(byName, "ensure_ascii", false);
  options.sortKeys = call.flag(byName, "sort_keys", false);
  const Value *separators = call.find(byName, "separators");
  if (separators && separators->isList() && separators->list().size() == 2) {
    options.itemSeparator = toText(separators->list()[0]);
    options.keySeparator = toText(separators->list()[1]);
  }
  return toJson(call.operand(), options);
}

Value itemsFilter(Call &call) {
  if (call.operand().is(Value::Kind::Undefined))
    return List();
  return findMethod("items")(call);
}

/// Sorts a list by keys. The comparisons of n keys take O(n log n) steps.
Value sortedBy(Call &call, const List &list, bool exact, bool reverse,
               const std::function<Value(const Value &)> &keyOf) {
  std::vector<std::pair<Value, const Value *>> entries;
  auto levels = static_cast<size_t>(std::bit_width(list.size()));
  for (const Value &each : list) {
    Value key = keyOf(each);
    if (!exact && key.is(Value::Kind::String))
      key = lower(key.text());
    call.interpreter.charge(key.extent() * levels);
    entries.emplace_back(std::move(key), &each);
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const auto &a, const auto &b) {
    return (reverse ? compare(b.first, a.first) : compare(a.first, b.first)) < 0;
  });
  List result;
  for (const auto &[key, each] : entries)
    result.push_back(*each);
  return result;
}

Value dictSortFilter(Call &call) {
  call.checkCount(4, {"case_sensitive", "by", "reverse"});
  bool exact = call.flag(1, "case_sensitive", false);
  const Value *by = call.find(2, "by");
  size_t part = by && toText(*by).bytes == "value";
  List items = elements(findMethod("items")(call));
  return sortedBy(call, items, exact, call.flag(3, "reverse", false),
                  [&](const Value &item) { return item.list()[part]; });
}

Value sortFilter(Call &call) {
  call.checkCount(4, {"reverse", "case_sensitive", "attribute"});
  bool reverse = call.flag(1, "reverse", false), exact = call.flag(2, "case_sensitive", false);
  return sortedBy(call, elements(call.operand()), exact, reverse,
                  [&](const Value &each) { return attributeOf(each, call.find(3, "attribute")); });
}

Value replaceFilter(Call &call) {
  return replaced(toText(call.operand()), toText(call.require(1, "old")),
                  toText(call.require(2, "new")), call.integer(3, "count", -1));
}

Value indentFilter(Call &call) {
  call.checkCount(4, {"width", "first", "blank"});
  const Value *width = call.find(1, "width");
  Text space =
      width && width->is(Value::Kind::String)
          ? width->text()
          : Text(std::string(
                static_cast<size_t>(std::clamp<int64_t>(call.integer(1, "width", 4), 0, 1000)),
                ' '));
  bool first = call.flag(2, "first", false), blank = call.flag(3, "blank", false);
  Text text = toText(call.operand()), result;
  for (size_t begin = 0; begin <= text.bytes.size();) {
    size_t end = std::min(text.bytes.find('\n', begin), text.bytes.size());
    if ((begin != 0 || first) && (blank || end > begin))
      result += space;
    result += text.slice(begin, end + 1 - begin);
    begin = end + 1;
  }
  return result;
}

/// Calls the filter or test whose name is the argument `first`. The arguments that follow it are
/// passed to the filter or test.
Value callByName(Call &call, size_t first, const Value &operand, bool test) {
  std::string name = call.arguments.size() > first ? toText(call.arguments[first]).bytes : "";
  Builtin builtin = test ? findTest(name) : findFilter(name);
  if (!builtin)
    runtime::fail("unsupported ", test ? "test" : "filter", " '", name,
                  "'; rewrite the template without it");
  Call inner{call.interpreter, call.node, {operand}, call.named};
  for (size_t i = first + 1; i < call.arguments.size(); ++i)
    inner.arguments.push_back(call.arguments[i]);
  return call.interpreter.call(builtin, inner);
}

Value mapFilter(Call &call) {
  const Value *attribute = call.find(byName, "attribute"),
              *otherwise = call.find(byName, "default");
  List result;
  if (!truth(call.operand()))
    return result;
  for (const Value &each : elements(call.operand())) {
    Value value = attribute ? attributeOf(each, attribute) : callByName(call, 1, each, false);
    result.push_back(value.is(Value::Kind::Undefined) && otherwise ? *otherwise : value);
  }
  return result;
}

/// Returns the elements for which a test of the element, or of one of its members, returns
/// `expected`. Without a test, the truth value is tested.
Value filterBy(Call &call, bool member, bool expected) {
  List result;
  size_t first = member ? 2 : 1;
  if (!truth(call.operand()))
    return result;
  for (const Value &each : elements(call.operand())) {
    Value value = member ? attributeOf(each, &call.require(1, "attribute")) : each;
    bool named = call.arguments.size() > first;
    if (truth(named ? callByName(call, first, value, true) : value) == expected)
      result.push_back(each);
  }
  return result;
}

/// Reads a number like Python's `float`. Returns infinity for numbers that are out of range.
std::optional<double> readFloat(std::string_view text) {
  bool plus = text.starts_with('+');
  if (plus)
    text.remove_prefix(1);
  if (text.empty() || (plus && text[0] == '-') || text.find('(') != text.npos)
    return std::nullopt;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc())
    return value;
  // The stream distinguishes numbers that are too large from those that are too small.
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  stream >> value;
  return std::fabs(value) < 1 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), value);
}

Value intFilter(Call &call) {
  const Value &value = call.operand();
  if (value.is(Value::Kind::Float))
    return std::fabs(value.asFloat()) < 9e18 ? value.asInt() : int64_t(0);
  if (value.isNumber())
    return value.asInt();
  std::string text = trimmed(toText(value), nullptr, true, true).bytes;
  std::optional<double> real = readFloat(text);
  if (!real)
    return call.integer(1, "default", 0);
  int64_t integer = 0;
  const char *digits = text.data() + text.starts_with('+'), *end = text.data() + text.size();
  auto [last, error] = std::from_chars(digits, end, integer);
  if (last == end && error == std::errc())
    return integer;
  return std::fabs(*real) < 9e18 ? static_cast<int64_t>(*real) : call.integer(1, "default", 0);
}

Value floatFilter(Call &call) {
  const Value &value = call.operand();
  if (value.isNumber())
    return value.asFloat();
  std::string text = trimmed(toText(value), nullptr, true, true).bytes;
  if (std::optional<double> real = readFloat(text))
    return *real;
  const Value *otherwise = call.find(1, "default");
  return otherwise ? *otherwise : Value(0.0);
}

Value absFilter(Call &call) {
  const Value &value = call.operand();
  if (!value.isNumber() || (value.isInteger() && value.asInt() == INT64_MIN))
    runtime::fail("'abs' needs a number; found: ", kindName(value), "; convert it");
  return value.isInteger() ? Value(std::abs(value.asInt())) : Value(std::fabs(value.asFloat()));
}

Value roundFilter(Call &call) {
  const Value &value = call.operand();
  std::string method = call.find(2, "method") ? toText(*call.find(2, "method")).bytes : "common";
  if (!value.isNumber() || (method != "common" && method != "ceil" && method != "floor"))
    runtime::fail("'round' needs a number, and the method common, ceil or floor; correct them");
  double scale = std::pow(
      10.0, static_cast<double>(std::clamp<int64_t>(call.integer(1, "precision", 0), -300, 300)));
  double scaled = value.asFloat() * scale;
  return (method == "ceil"    ? std::ceil(scaled)
          : method == "floor" ? std::floor(scaled)
                              : std::nearbyint(scaled)) /
         scale;
}

Value firstFilter(Call &call) {
  List list = elements(call.operand());
  return list.empty() ? Value::undefined("the first element of an empty list") : list.front();
}

Value lastFilter(Call &call) {
  List list = elements(call.operand());
  return list.empty() ? Value::undefined("the last element of an empty list") : list.back();
}

Value uniqueFilter(Call &call) {
  List result, keys;
  for (const Value &each : elements(call.operand())) {
    bool text = each.is(Value::Kind::String);
    Value key = text ? Value(lower(each.text())) : each;
    call.interpreter.charge(keys.size() * (text ? 1 : key.extent()));
    if (std::any_of(keys.begin(), keys.end(),
                    [&](const Value &other) { return equal(other, key); }))
      continue;
    keys.push_back(key);
    result.push_back(each);
  }
  return result;
}

/// Returns the largest element (`sign` 1) or the smallest one (`sign` -1).
Value extreme(Call &call, int sign) {
  call.interpreter.charge(call.operand().extent());
  List list = elements(call.operand());
  auto best = list.begin();
  for (auto each = list.begin(); each != list.end(); ++each)
    if (compare(*each, *best) * sign > 0)
      best = each;
  return best == list.end() ? Value::undefined("an element of an empty list") : *best;
}

Value sumFilter(Call &call) {
  int64_t whole = 0;
  double real = 0;
  bool isReal = false;
  for (const Value &each : elements(call.operand())) {
    Value value = attributeOf(each, call.find(1, "attribute"));
    if (!value.isNumber() ||
        (value.isInteger() && __builtin_add_overflow(whole, value.asInt(), &whole)))
      runtime::fail("'sum' needs numbers; found: ", kindName(value), "; convert them");
    isReal |= !value.isInteger();
    real += value.isInteger() ? 0 : value.asFloat();
  }
  return isReal ? Value(real + static_cast<double>(whole)) : Value(whole);
}

Value reverseFilter(Call &call) {
  List list = elements(call.operand());
  std::reverse(list.begin(), list.end());
  if (!call.operand().is(Value::Kind::String))
    return list;
  Text text;
  for (const Value &each : list)
    text += each.text();
  return text;
}

Value escapeFilter(Call &call) {
  Text text = toText(call.operand());
  for (auto [from, to] :
       {std::pair("&", "&amp;"), {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}})
    text = replaced(text, from, to, -1);
  return text;
}

Value formatFilter(Call &call) {
  return formatted(toText(call.operand()), List(call.arguments.begin() + 1, call.arguments.end()));
}

Value safeFilter(Call &call) {
  Text text = toText(call.operand());
  text.safe = true;
  return text;
}

struct Row {
  std::string_view name;
  Builtin builtin;
};

constexpr Row filters[] = {
    {"abs", absFilter},
    {"capitalize", [](Call &call) { return Value(capitalized(toText(call.operand()))); }},
    {"count", lengthFilter},
    {"d", defaultFilter},
    {"default", defaultFilter},
    {"dictsort", dictSortFilter},
    {"e", escapeFilter},
    {"escape", escapeFilter},
    {"first", firstFilter},
    {"float", floatFilter},
    {"format", formatFilter},
    {"indent", indentFilter},
    {"int", intFilter},
    {"items", itemsFilter},
    {"join", joinFilter},
    {"last", lastFilter},
    {"length", lengthFilter},
    {"list", [](Call &call) { return Value(elements(call.operand())); }},
    {"lower", [](Call &call) { return Value(lower(toText(call.operand()))); }},
    {"map", mapFilter},
    {"max", [](Call &call) { return extreme(call, 1); }},
    {"min", [](Call &call) { return extreme(call, -1); }},
    {"reject", [](Call &call) { return filterBy(call, false, false); }},
    {"rejectattr", [](Call &call) { return filterBy(call, true, false); }},
    {"replace", replaceFilter},
    {"reverse", reverseFilter},
    {"round", roundFilter},
    {"safe", safeFilter},
    {"select", [](Call &call) { return filterBy(call, false, true); }},
    {"selectattr", [](Call &call) { return filterBy(call, true, true); }},
    {"sort", sortFilter},
    {"string", [](Call &call) { return Value(toText(call.operand())); }},
    {"sum", sumFilter},
    {"title", [](Call &call) { return Value(title(toText(call.operand()))); }},
    {"tojson", toJsonFilter},
    {"trim", trimFilter},
    {"unique", uniqueFilter},
    {"upper", [](Call &call) { return Value(upper(toText(call.operand()))); }},
};

} // namespace

Builtin findFilter(std::string_view name) {
  for (const Row &row : filters)
    if (row.name == name)
      return row.builtin;
  return nullptr;
}

} // namespace dlc::text::jinja
