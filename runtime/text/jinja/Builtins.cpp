//===- Builtins.cpp - tests, methods and functions of chat templates ------------===//
#include "runtime/text/jinja/Builtins.h"
#include "runtime/program/Message.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Interpreter.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace dlc::text::jinja {

const Value *Call::find(size_t index, std::string_view name) const {
  if (index < arguments.size())
    return &arguments[index];
  for (const auto &[key, value] : named)
    if (key == name)
      return &value;
  return nullptr;
}

const Value &Call::require(size_t index, const char *name) const {
  const Value *value = find(index, name);
  if (!value)
    runtime::fail("the argument '", name, "' of '", node.name, "' is missing; pass it");
  return *value;
}

const Text &Call::text(size_t index, const char *name) const {
  const Value &value = require(index, name);
  if (!value.is(Value::Kind::String))
    runtime::fail("invalid argument '", name, "' of '", node.name,
                  "': required: a string; found: ", kindName(value), "; convert it with 'string'");
  return value.text();
}

int64_t Call::integer(size_t index, const char *name, std::optional<int64_t> otherwise) const {
  const Value *value = find(index, name);
  if (!value && otherwise)
    return *otherwise;
  if (!value || !value->isInteger())
    runtime::fail("invalid argument '", name, "' of '", node.name,
                  "': required: an integer; found: ", value ? kindName(*value) : "nothing",
                  "; convert it with 'int'");
  return value->asInt();
}

bool Call::flag(size_t index, const char *name, bool otherwise) const {
  const Value *value = find(index, name);
  return value ? truth(*value) : otherwise;
}

void Call::checkCount(size_t maximum, std::initializer_list<std::string_view> names) const {
  if (arguments.size() > maximum)
    runtime::fail("too many arguments of '", node.name, "'; remove arguments");
  for (const auto &[name, value] : named)
    if (std::find(names.begin(), names.end(), name) == names.end())
      runtime::fail("unsupported argument '", name, "' of '", node.name, "'; remove it");
}

namespace {

using Kind = Value::Kind;

/// Returns whether the operand has one of the kinds.
template <Kind... kinds> Value isKind(Call &call) { return (call.operand().is(kinds) || ...); }

Value compareTest(Call &call, bool (*holds)(const Value &, const Value &)) {
  const Value &other = call.require(1, "other");
  call.interpreter.charge(std::min(call.operand().extent(), other.extent()));
  return holds(call.operand(), other);
}

Value oddTest(Call &call) { return call.integer(0, "value") % 2 != 0; }

Value divisibleTest(Call &call) {
  int64_t divisor = call.integer(1, "num");
  if (divisor == 0)
    runtime::fail("division by zero; test the divisor");
  return divisor == -1 || call.integer(0, "value") % divisor == 0;
}

Value inTest(Call &call) {
  const Value &container = call.require(1, "seq");
  call.interpreter.charge(container.extent());
  if (container.is(Kind::String))
    return container.text().bytes.find(call.text(0, "value").bytes) != std::string::npos;
  List list = elements(container);
  return std::any_of(list.begin(), list.end(),
                     [&](const Value &each) { return equal(each, call.operand()); });
}

struct Row {
  std::string_view name;
  Builtin builtin;
};

template <typename Compare> constexpr Builtin comparison() {
  return [](Call &call) {
    return compareTest(call,
                       [](const Value &a, const Value &b) { return Compare()(compare(a, b), 0); });
  };
}
constexpr Builtin equalTest = [](Call &call) { return compareTest(call, equal); };
constexpr Builtin unequalTest = [](Call &call) {
  return compareTest(call, [](const Value &a, const Value &b) { return !equal(a, b); });
};
constexpr Builtin iterableTest =
    isKind<Kind::Undefined, Kind::String, Kind::List, Kind::Tuple, Kind::Dict>;

constexpr Row tests[] = {
    {"==", equalTest},
    {"boolean", isKind<Kind::Bool>},
    {"callable", isKind<Kind::Function, Kind::Macro>},
    {"defined", [](Call &call) { return Value(!call.operand().is(Kind::Undefined)); }},
    {"divisibleby", divisibleTest},
    {"eq", equalTest},
    {"equalto", equalTest},
    {"even", [](Call &call) { return Value(!truth(oddTest(call))); }},
    {"false",
     [](Call &call) { return Value(call.operand().is(Kind::Bool) && !call.operand().asInt()); }},
    {"float", isKind<Kind::Float>},
    {"ge", comparison<std::greater_equal<>>()},
    {"greaterthan", comparison<std::greater<>>()},
    {"gt", comparison<std::greater<>>()},
    {"in", inTest},
    {"integer", isKind<Kind::Int>},
    {"iterable", iterableTest},
    {"le", comparison<std::less_equal<>>()},
    {"lessthan", comparison<std::less<>>()},
    {"lt", comparison<std::less<>>()},
    {"mapping", isKind<Kind::Dict>},
    {"ne", unequalTest},
    {"none", isKind<Kind::None>},
    {"number", isKind<Kind::Bool, Kind::Int, Kind::Float>},
    {"odd", oddTest},
    {"sequence", iterableTest},
    {"string", isKind<Kind::String>},
    {"true",
     [](Call &call) { return Value(call.operand().is(Kind::Bool) && call.operand().asInt()); }},
    {"undefined", isKind<Kind::Undefined>},
};

/// Returns the operand of a method of strings.
const Text &self(Call &call) {
  if (!call.operand().is(Kind::String))
    runtime::fail("a value of type ", kindName(call.operand()), " has no method '", call.node.name,
                  "'; convert it with 'string'");
  return call.operand().text();
}

/// Returns the operand of a method of dictionaries.
const Dict &selfDict(Call &call) {
  if (!call.operand().is(Kind::Dict))
    runtime::fail("a value of type ", kindName(call.operand()), " has no method '", call.node.name,
                  "'; pass a dictionary");
  return call.operand().dict();
}

template <bool left, bool right> Value stripMethod(Call &call) {
  call.checkCount(2);
  const Value *characters = call.find(1, "chars");
  bool given = characters && !characters->is(Kind::None);
  return trimmed(self(call), given ? &call.text(1, "chars").bytes : nullptr, left, right);
}

/// Splits at whitespace, at most `count` times unless the count is negative.
List splitAtSpaces(const Text &text, int64_t count) {
  List parts;
  Text rest = trimmed(text, nullptr, true, false);
  std::string_view view = rest.bytes;
  size_t begin = 0;
  while (begin < view.size()) {
    size_t end = begin;
    while (end < view.size() && !isSpace(decodeAt(view, end).value))
      end += decodeAt(view, end).length;
    if (count == 0) {
      // Python keeps the whitespace at the end of the last part.
      parts.emplace_back(rest.slice(begin));
      return parts;
    }
    parts.emplace_back(rest.slice(begin, end - begin));
    checkElements(parts.size());
    while (end < view.size() && isSpace(decodeAt(view, end).value))
      end += decodeAt(view, end).length;
    begin = end;
    count -= count > 0;
  }
  return parts;
}

template <bool fromRight> Value splitMethod(Call &call) {
  call.checkCount(3, {"maxsplit", "sep"});
  const Text &text = self(call);
  int64_t count = call.integer(2, "maxsplit", -1);
  const Value *given = call.find(1, "sep");
  if (!given || given->is(Kind::None)) {
    if (fromRight && count >= 0)
      runtime::fail("'rsplit' with a count needs a separator; pass it");
    return splitAtSpaces(text, count);
  }
  const std::string &separator = call.text(1, "sep").bytes;
  if (separator.empty())
    runtime::fail("the separator of '", call.node.name, "' is empty; pass a string");
  List parts;
  size_t begin = 0, end = text.bytes.size();
  for (; count != 0; count -= count > 0) {
    checkElements(parts.size() + 1);
    size_t at = std::string::npos;
    if (!fromRight)
      at = text.bytes.find(separator, begin);
    else if (end >= separator.size())
      at = text.bytes.rfind(separator, end - separator.size());
    if (at == std::string::npos)
      break;
    if (fromRight) {
      parts.emplace_back(text.slice(at + separator.size(), end - at - separator.size()));
      end = at;
    } else {
      parts.emplace_back(text.slice(begin, at - begin));
      begin = at + separator.size();
    }
  }
  parts.emplace_back(text.slice(begin, end - begin));
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  return parts;
}

/// Returns whether Python's `splitlines` splits at a character.
bool endsLine(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

Value splitLinesMethod(Call &call) {
  const Text &text = self(call);
  bool keep = call.flag(1, "keepends", false);
  List lines;
  for (size_t begin = 0; begin < text.bytes.size();) {
    size_t end = begin;
    while (end < text.bytes.size() && !endsLine(decodeAt(text.bytes, end).value))
      end += decodeAt(text.bytes, end).length;
    size_t next = end;
    if (text.bytes.compare(end, 2, "\r\n") == 0)
      next += 2;
    else if (end < text.bytes.size())
      next += decodeAt(text.bytes, end).length;
    lines.emplace_back(text.slice(begin, (keep ? next : end) - begin));
    checkElements(lines.size());
    begin = next;
  }
  return lines;
}

/// Returns whether the text starts or ends with one of the strings of the argument.
template <bool atEnd> Value edgeMethod(Call &call) {
  call.checkCount(2);
  const std::string &text = self(call).bytes;
  const Value &argument = call.require(1, "prefix");
  List list = argument.isList() ? argument.list() : List{argument};
  return std::any_of(list.begin(), list.end(), [&](const Value &each) {
    if (!each.is(Kind::String))
      runtime::fail("invalid argument of '", call.node.name,
                    "': required: a string; found: ", kindName(each), "; convert it with 'string'");
    return atEnd ? text.ends_with(each.text().bytes) : text.starts_with(each.text().bytes);
  });
}

template <bool last> Value findMethodOfText(Call &call) {
  call.checkCount(2);
  const std::string &text = self(call).bytes, &part = call.text(1, "sub").bytes;
  size_t at = last ? text.rfind(part) : text.find(part);
  return at == text.npos ? int64_t(-1)
                         : static_cast<int64_t>(offsets(text.substr(0, at)).size() - 1);
}

Value countMethod(Call &call) {
  call.checkCount(2);
  const std::string &text = self(call).bytes, &part = call.text(1, "sub").bytes;
  int64_t count = 0;
  if (part.empty())
    return static_cast<int64_t>(offsets(text).size());
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size())
    ++count;
  return count;
}

Value replaceMethod(Call &call) {
  self(call);
  return replaced(self(call), call.text(1, "old"), call.text(2, "new"),
                  call.integer(3, "count", -1));
}

template <bool atEnd> Value removeMethod(Call &call) {
  const Text &text = self(call), &part = call.text(1, "prefix");
  size_t size = part.bytes.size();
  if (!truth(edgeMethod<atEnd>(call)))
    return text;
  return atEnd ? text.slice(0, text.bytes.size() - size) : text.slice(size);
}

Value joinMethod(Call &call) {
  Text result;
  bool first = true;
  for (const Value &each : elements(call.require(1, "iterable"))) {
    if (!each.is(Kind::String))
      runtime::fail("invalid argument of 'join': required: strings; found: ", kindName(each),
                    "; convert the elements with 'string'");
    if (!std::exchange(first, false))
      result += self(call);
    result += each.text();
  }
  return result;
}

/// Formats like Python's `str.format`. Fields are empty, a number or a name.
Value formatMethod(Call &call) {
  const Text &format = self(call);
  const std::string &bytes = format.bytes;
  Text result;
  size_t next = 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char c = bytes[i];
    bool doubled = i + 1 < bytes.size() && bytes[i + 1] == c;
    if (c != '{' || doubled) {
      result.append(bytes.substr(i, 1), format, i);
      i += doubled && (c == '{' || c == '}');
      continue;
    }
    size_t end = bytes.find('}', i);
    std::string field = end == bytes.npos ? "{" : bytes.substr(i + 1, end - i - 1);
    size_t index = 0;
    auto [last, error] = std::from_chars(field.data(), field.data() + field.size(), index);
    bool number = last == field.data() + field.size() && error == std::errc() &&
                  index < call.arguments.size();
    if (field.find_first_of(".[]{:!") != field.npos)
      runtime::fail("the format field '", field, "' is not supported; use '{}' or a name");
    index = field.empty() ? next++ : number ? index + 1 : SIZE_MAX;
    result += toText(call.require(index, field.c_str()));
    i = end;
  }
  return result;
}

Value itemsMethod(Call &call) {
  List items;
  for (const auto &[key, value] : selfDict(call).members())
    items.emplace_back(List{key, value}, true);
  return items;
}

Value valuesMethod(Call &call) {
  List values;
  for (const Member &member : selfDict(call).members())
    values.push_back(member.second);
  return values;
}

Value getMethod(Call &call) {
  const Value &key = call.require(1, "key");
  const Value *found = key.is(Kind::String) ? selfDict(call).find(key.text().bytes) : nullptr;
  const Value *otherwise = call.find(2, "default");
  selfDict(call);
  return found ? *found : otherwise ? *otherwise : Value::none();
}

/// Refuses a method that would change the operand.
Value immutable(Call &call) {
  runtime::fail("the method '", call.node.name,
                "' is not permitted, because values cannot be changed; create a new value");
}

constexpr Row methods[] = {
    {"append", immutable},
    {"capitalize", [](Call &call) { return Value(capitalized(self(call))); }},
    {"clear", immutable},
    {"copy", [](Call &call) { return call.operand(); }},
    {"count", countMethod},
    {"endswith", edgeMethod<true>},
    {"extend", immutable},
    {"find", findMethodOfText<false>},
    {"format", formatMethod},
    {"get", getMethod},
    {"insert", immutable},
    {"items", itemsMethod},
    {"join", joinMethod},
    {"keys", [](Call &call) { return selfDict(call), Value(elements(call.operand())); }},
    {"lower", [](Call &call) { return Value(lower(self(call))); }},
    {"lstrip", stripMethod<true, false>},
    {"pop", immutable},
    {"remove", immutable},
    {"removeprefix", removeMethod<false>},
    {"removesuffix", removeMethod<true>},
    {"replace", replaceMethod},
    {"reverse", immutable},
    {"rfind", findMethodOfText<true>},
    {"rsplit", splitMethod<true>},
    {"rstrip", stripMethod<false, true>},
    {"setdefault", immutable},
    {"split", splitMethod<false>},
    {"splitlines", splitLinesMethod},
    {"startswith", edgeMethod<false>},
    {"strip", stripMethod<true, true>},
    {"title", [](Call &call) { return Value(title(self(call))); }},
    {"update", immutable},
    {"upper", [](Call &call) { return Value(upper(self(call))); }},
    {"values", valuesMethod},
};

Value rangeFunction(Call &call) {
  constexpr int64_t limit = 100'000;
  bool one = call.arguments.size() < 2;
  int64_t begin = one ? 0 : call.integer(0, "start");
  int64_t end = call.integer(one ? 0 : 1, "stop"), step = call.integer(2, "step", 1);
  if (step == 0)
    runtime::fail("the step of 'range' is 0; use another number");
  List list;
  auto bounded = [&](int64_t i) { return std::clamp<int64_t>(i, -(1ll << 60), 1ll << 60); };
  for (int64_t i = bounded(begin); step > 0 ? i < bounded(end) : i > bounded(end);
       i += bounded(step)) {
    if (list.size() >= limit)
      runtime::fail("'range' has too many elements: required: at most ", limit,
                    "; use a smaller range");
    list.emplace_back(i);
  }
  return list;
}

/// Returns the entries of the dictionary arguments and the named arguments.
Dict membersOf(Call &call) {
  Dict dict;
  for (const Value &each : call.arguments) {
    if (each.is(Kind::Undefined))
      continue;
    if (!each.is(Kind::Dict))
      runtime::fail("unsupported argument of '", call.node.name,
                    "': required: a dictionary; found: ", kindName(each),
                    "; pass a dictionary or named arguments");
    for (const auto &[key, value] : each.dict().members())
      dict.set(key, value);
  }
  for (const auto &[name, value] : call.named)
    dict.set(Text(name), value);
  return dict;
}

Value raiseFunction(Call &call) {
  runtime::fail("the template refuses the conversation: ", toText(call.require(0, "message")).bytes,
                "; change the messages");
}

Value timeFunction(Call &call) {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char buffer[1024];
  const Text &format = call.text(0, "format");
  size_t size = std::strftime(buffer, sizeof(buffer), format.bytes.c_str(), &local);
  // A format with untrusted bytes makes the whole result untrusted.
  return Text(std::string_view(buffer, size), !format.marks.empty());
}

constexpr Row functions[] = {
    {"dict", [](Call &call) { return Value(membersOf(call)); }},
    {"namespace", [](Call &call) { return Value::makeNamespace(membersOf(call)); }},
    {"raise_exception", raiseFunction},
    {"range", rangeFunction},
    {"strftime_now", timeFunction},
};

template <size_t size> Builtin find(const Row (&rows)[size], std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name)
      return row.builtin;
  return nullptr;
}

} // namespace

Builtin findTest(std::string_view name) { return find(tests, name); }
Builtin findMethod(std::string_view name) { return find(methods, name); }
Builtin findFunction(std::string_view name) { return find(functions, name); }

} // namespace dlc::text::jinja
