//===- Evaluate.cpp - evaluates the expressions of chat templates --------------===//
#include "runtime/program/Message.h"
#include "runtime/text/jinja/Interpreter.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace dlc::text::jinja {
namespace {

using Kind = Node::Kind;

[[noreturn]] void mismatch(const std::string &name, const Value &a, const Value &b) {
  runtime::fail("the operator '", name, "' does not accept the types ", kindName(a), " and ",
                kindName(b), "; convert one of them");
}

void requireDefined(const Value &value) {
  if (value.is(Value::Kind::Undefined))
    runtime::fail("'", value.name(), "' is undefined; pass it to the template");
}

Value integerArithmetic(const std::string &name, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (name == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (name == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (name == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (name == "//" || name == "%") {
    if (b == 0)
      runtime::fail("division by zero; test the divisor");
    overflow = a == INT64_MIN && b == -1;
    if (!overflow) {
      // Python rounds quotients down.
      int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
      result = name == "//" ? quotient : a - quotient * b;
    }
  }
  if (overflow)
    runtime::fail("the result of '", name, "' is too large; use smaller numbers");
  return result;
}

Value power(int64_t a, int64_t b) {
  double estimate = std::pow(static_cast<double>(a), static_cast<double>(b));
  if (b < 0)
    return estimate;
  if (std::fabs(estimate) >= 9e18)
    runtime::fail("the result of '**' is too large; use smaller numbers");
  int64_t result = 1;
  for (int64_t i = 0; i < b && std::abs(a) > 1; ++i)
    result *= a;
  if (std::abs(a) <= 1)
    result = a == 0 ? b == 0 : a == 1 || b % 2 == 0 ? 1 : -1;
  return result;
}

Value realArithmetic(const std::string &name, double a, double b) {
  if (name == "+")
    return a + b;
  if (name == "-")
    return a - b;
  if (name == "*")
    return a * b;
  if (name == "**")
    return std::pow(a, b);
  if (b == 0)
    runtime::fail("division by zero; test the divisor");
  if (name == "/")
    return a / b;
  double quotient = std::floor(a / b);
  return name == "//" ? quotient : a - quotient * b;
}

Value repeated(const Value &value, int64_t count) {
  size_t size = value.isList() ? value.list().size() : value.text().bytes.size();
  auto times = static_cast<size_t>(std::max<int64_t>(count, 0));
  if (times != 0 && size > maxElements / times)
    runtime::fail("the result of '*' is too large: required: at most ", maxElements,
                  " elements; use a smaller number");
  if (value.isList()) {
    List list;
    for (size_t i = 0; i < times; ++i)
      list.insert(list.end(), value.list().begin(), value.list().end());
    return Value(std::move(list), value.is(Value::Kind::Tuple));
  }
  Text text;
  for (size_t i = 0; i < times; ++i)
    text += value.text();
  return text;
}

Value arithmetic(const std::string &name, const Value &a, const Value &b) {
  if (a.isInteger() && b.isInteger() && name != "/")
    return name == "**" ? power(a.asInt(), b.asInt())
                        : integerArithmetic(name, a.asInt(), b.asInt());
  if (a.isNumber() && b.isNumber())
    return realArithmetic(name, a.asFloat(), b.asFloat());
  bool aText = a.is(Value::Kind::String), bText = b.is(Value::Kind::String);
  if ((aText && a.text().safe) || (bText && b.text().safe))
    runtime::fail("unsupported operator '", name, "' with the result of 'safe'; use '~'");
  if (name == "+" && aText && bText) {
    Text text = a.text();
    return text += b.text();
  }
  if (name == "+" && a.isList() && a.kind() == b.kind()) {
    List list = a.list();
    list.insert(list.end(), b.list().begin(), b.list().end());
    if (list.size() > maxElements)
      runtime::fail("the result of '+' is too large: required: at most ", maxElements,
                    " elements; use shorter lists");
    return Value(std::move(list), a.is(Value::Kind::Tuple));
  }
  if (name == "*" && (aText || a.isList()) && b.isInteger())
    return repeated(a, b.asInt());
  if (name == "*" && (bText || b.isList()) && a.isInteger())
    return repeated(b, a.asInt());
  if (name == "%" && aText)
    return formatted(a.text(), b.is(Value::Kind::Tuple) ? b.list() : List{b});
  mismatch(name, a, b);
}

/// Methods of dictionaries in Python. Entries with these names are accessible only by subscripts.
constexpr std::array dictMethods = {"items", "keys",   "values", "get",       "pop",
                                    "copy",  "update", "clear",  "setdefault"};

} // namespace

Value Interpreter::evaluate(const Node &node) {
  charge(1);
  Depth guard(depth, node.line);
  Value value = located(node.line, [&] { return evaluateNode(node); });
  if (value.is(Value::Kind::String))
    charge(value.text().bytes.size() / 16);
  else if (value.isList() && node.kind != Kind::Name)
    charge(value.list().size() / 4);
  return value;
}

Value Interpreter::evaluateNode(const Node &node) {
  auto child = [&](size_t i) { return evaluate(*node.children[i]); };
  switch (node.kind) {
  case Kind::Constant:
    return node.value;
  case Kind::Name:
    return lookUp(node.name);
  case Kind::List:
  case Kind::Tuple: {
    List list;
    for (size_t i = 0; i < node.children.size(); ++i)
      list.push_back(child(i));
    return Value(std::move(list), node.kind == Kind::Tuple);
  }
  case Kind::Dict:
    return dict(node);
  case Kind::Member:
    return member(child(0), node.name);
  case Kind::Item:
    return item(child(0), child(1));
  case Kind::Slice:
    return slice(node);
  case Kind::Call:
    return callValue(node);
  case Kind::Method:
  case Kind::Filter:
  case Kind::Test:
    return callNamed(node);
  case Kind::Not:
    return !truth(child(0));
  case Kind::Negate:
    return arithmetic("-", int64_t(0), child(0));
  case Kind::Plus:
    return arithmetic("+", int64_t(0), child(0));
  case Kind::Binary:
    return binary(node);
  case Kind::Compare:
    return compareAll(node);
  case Kind::And: {
    Value left = child(0);
    return truth(left) ? child(1) : left;
  }
  case Kind::Or: {
    Value left = child(0);
    return truth(left) ? left : child(1);
  }
  case Kind::Conditional:
    if (truth(child(0)))
      return child(1);
    return node.children[2] ? child(2) : Value::undefined("the conditional expression");
  default:
    failAt(node.line, "invalid expression; correct the syntax");
  }
}

Value Interpreter::lookUp(const std::string &name) const {
  for (const Frame *each = frame.get(); each; each = each->parent.get())
    if (auto found = each->variables.find(name); found != each->variables.end())
      return found->second;
  if (Builtin builtin = findFunction(name))
    return Function([builtin](Call &call) { return call.interpreter.call(builtin, call); });
  return Value::undefined(name);
}

Value Interpreter::member(const Value &object, const std::string &name) const {
  requireDefined(object);
  if (object.is(Value::Kind::Dict) &&
      std::find(dictMethods.begin(), dictMethods.end(), name) != dictMethods.end())
    return Value(Function([object, method = findMethod(name)](Call &call) {
                   call.arguments.insert(call.arguments.begin(), object);
                   return call.interpreter.call(method, call);
                 }),
                 object.depth());
  const Value *found = entry(object, name);
  return found ? *found : Value::undefined(name);
}

Value Interpreter::item(const Value &object, const Value &index) const {
  requireDefined(object);
  bool text = object.is(Value::Kind::String);
  if ((text || object.isList()) && index.isInteger()) {
    std::vector<size_t> begins = text ? offsets(object.text().bytes) : std::vector<size_t>();
    auto size = static_cast<int64_t>(text ? begins.size() - 1 : object.list().size());
    int64_t i = index.asInt() < 0 ? index.asInt() + size : index.asInt();
    auto at = static_cast<size_t>(i);
    if (i >= 0 && i < size)
      return text ? Value(object.text().slice(begins[at], begins[at + 1] - begins[at]))
                  : object.list()[at];
    return Value::undefined("element " + std::to_string(index.asInt()));
  }
  if (!index.is(Value::Kind::String))
    return Value::undefined("element");
  const std::string &name = index.text().bytes;
  const Value *found = entry(object, name);
  return found ? *found : Value::undefined(name);
}

Value Interpreter::slice(const Node &node) {
  Value object = evaluate(*node.children[0]);
  bool text = object.is(Value::Kind::String);
  if (!text && !object.isList())
    runtime::fail("a value of type ", kindName(object), " has no slices; pass a list or a string");
  // The elements of a string are ranges of bytes, which need less memory than values.
  std::vector<size_t> begins = text ? offsets(object.text().bytes) : std::vector<size_t>();
  auto size = static_cast<int64_t>(text ? begins.size() - 1 : object.list().size());
  auto bound = [&](size_t i) -> std::optional<int64_t> {
    Value value = node.children[i] ? evaluate(*node.children[i]) : Value::none();
    if (value.is(Value::Kind::None))
      return std::nullopt;
    if (!value.isInteger())
      runtime::fail("invalid bound of a slice: required: an integer; found: ", kindName(value),
                    "; convert it with 'int'");
    return std::clamp<int64_t>(value.asInt(), -size - 1, size + 1);
  };
  std::optional<int64_t> begin = bound(1), end = bound(2);
  int64_t step = bound(3).value_or(1);
  if (step == 0)
    runtime::fail("the step of a slice is 0; use another number");
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto limit = [&](int64_t i) { return std::clamp(i < 0 ? i + size : i, low, high); };
  List result;
  Text joined;
  int64_t last = end ? limit(*end) : step > 0 ? high : low;
  for (int64_t i = begin      ? limit(*begin)
                   : step > 0 ? low
                              : high;
       step > 0 ? i < last : i > last; i += step) {
    auto at = static_cast<size_t>(i);
    if (text)
      joined += object.text().slice(begins[at], begins[at + 1] - begins[at]);
    else
      result.push_back(object.list()[at]);
  }
  return text ? Value(joined) : Value(std::move(result), object.is(Value::Kind::Tuple));
}

Value Interpreter::binary(const Node &node) {
  Value left = evaluate(*node.children[0]), right = evaluate(*node.children[1]);
  if (node.name == "~") {
    Text text = toText(left);
    // In Jinja2, the result of '~' is an ordinary string.
    text.safe = false;
    return text += toText(right);
  }
  requireDefined(left);
  requireDefined(right);
  return arithmetic(node.name, left, right);
}

bool Interpreter::contains(const Value &container, const Value &element) const {
  switch (container.kind()) {
  case Value::Kind::String:
    if (!element.is(Value::Kind::String))
      mismatch("in", element, container);
    return container.text().bytes.find(element.text().bytes) != std::string::npos;
  case Value::Kind::Dict:
    return element.is(Value::Kind::String) && container.dict().find(element.text().bytes);
  case Value::Kind::List:
  case Value::Kind::Tuple:
    return std::any_of(container.list().begin(), container.list().end(),
                       [&](const Value &each) { return equal(each, element); });
  case Value::Kind::Undefined:
    return false;
  default:
    mismatch("in", element, container);
  }
}

bool Interpreter::compareAll(const Node &node) {
  Value left = evaluate(*node.children[0]);
  for (size_t i = 0; i < node.names.size(); ++i) {
    const std::string &name = node.names[i];
    Value right = evaluate(*node.children[i + 1]);
    bool search = name == "in" || name == "not in";
    charge(search ? right.extent() : std::min(left.extent(), right.extent()));
    bool holds = name == "=="       ? equal(left, right)
                 : name == "!="     ? !equal(left, right)
                 : name == "in"     ? contains(right, left)
                 : name == "not in" ? !contains(right, left)
                 : name == "<"      ? compare(left, right) < 0
                 : name == "<="     ? compare(left, right) <= 0
                 : name == ">"      ? compare(left, right) > 0
                                    : compare(left, right) >= 0;
    if (!holds)
      return false;
    left = right;
  }
  return true;
}

Value Interpreter::dict(const Node &node) {
  Dict result;
  for (size_t i = 0; i < node.children.size(); i += 2) {
    Value key = evaluate(*node.children[i]);
    if (!key.is(Value::Kind::String))
      runtime::fail("unsupported dictionary key '", toText(key).bytes, "'; use strings as keys");
    result.set(key.text(), evaluate(*node.children[i + 1]));
  }
  return result;
}

Call Interpreter::arguments(const Node &node, size_t skip) {
  Call call{*this, node, {}, {}};
  for (size_t i = skip; i < node.children.size(); ++i)
    call.arguments.push_back(node.children[i] ? evaluate(*node.children[i]) : filterOperand);
  for (const auto &[name, value] : node.named)
    call.named.emplace_back(name, evaluate(*value));
  return call;
}

Value Interpreter::call(Builtin builtin, Call &call) {
  charge(1 + call.arguments.size());
  // The filter `map` calls filters that its arguments name, such as `map` itself.
  Depth guard(depth, call.node.line);
  Value value = builtin(call);
  if (value.is(Value::Kind::String))
    charge(value.text().bytes.size() / 16);
  else if (value.isList())
    charge(value.list().size() / 4);
  return value;
}

Value Interpreter::callNamed(const Node &node) {
  Call call = arguments(node, 0);
  Builtin builtin = node.kind == Kind::Filter ? findFilter(node.name)
                    : node.kind == Kind::Test ? findTest(node.name)
                                              : findMethod(node.name);
  if (node.kind == Kind::Method)
    requireDefined(call.operand());
  return this->call(builtin, call);
}

Value Interpreter::callValue(const Node &node) {
  Value callee = evaluate(*node.children[0]);
  Call call = arguments(node, 1);
  if (callee.is(Value::Kind::Macro))
    return runMacro(*callee.macro(), call, root);
  if (callee.is(Value::Kind::Function))
    return callee.function()(call);
  std::string name = callee.is(Value::Kind::Undefined)
                         ? "'" + callee.name() + "'"
                         : "a value of type " + std::string(kindName(callee));
  runtime::fail(name, " is not a function; correct the name");
}

} // namespace dlc::text::jinja
