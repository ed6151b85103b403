//===- Value.h - values of chat templates ---------------------------------------===//
#ifndef DLC_RUNTIME_TEXT_JINJA_VALUE_H
#define DLC_RUNTIME_TEXT_JINJA_VALUE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlc::text::jinja {

/// String with a mark for each byte that is derived from untrusted input.
struct Text {
  std::string bytes;
  /// Mark of each byte of the text: 1 if the byte is untrusted. Empty if all bytes are trusted.
  std::string marks;
  /// Whether the text is a result of the filter `safe`. Jinja2 escapes strings that are added to
  /// it.
  bool safe = false;

  Text() = default;
  Text(std::string_view text, bool untrusted = false)
      : bytes(text), marks(untrusted ? std::string(text.size(), 1) : "") {}
  Text(const char *text) : bytes(text) {}

  Text &operator+=(const Text &other);
  /// Appends a text whose bytes all get the mark of the byte `at` of `origin`.
  void append(std::string_view text, const Text &origin, size_t at);
  /// Returns the bytes of a range, with their marks.
  Text slice(size_t begin, size_t size = std::string::npos) const;
  bool untrusted(size_t at) const { return !marks.empty() && marks[at]; }
  bool operator==(const Text &other) const { return bytes == other.bytes; }
};

class Value;
struct Call;
struct Node;
using List = std::vector<Value>;
using Member = std::pair<Text, Value>;

/// Dictionary with string keys in insertion order.
class Dict {
public:
  const Value *find(std::string_view key) const;
  void set(const Text &key, Value value);
  const std::vector<Member> &members() const { return list; }
  size_t size() const;

private:
  std::vector<Member> list;
  std::vector<std::pair<std::string, size_t>> index;
};

/// Function that templates can call.
using Function = std::function<Value(Call &)>;

/// Value of an expression. Copies share strings and containers, which only namespaces can change.
class Value {
public:
  enum class Kind {
    Undefined,
    None,
    Bool,
    Int,
    Float,
    String,
    List,
    Tuple,
    Dict,
    Namespace,
    Function,
    Macro
  };

  Value() = default;
  static Value none();
  static Value undefined(std::string name);
  Value(bool value) : type(Kind::Bool), integer(value) {}
  Value(int64_t value) : type(Kind::Int), integer(value) {}
  Value(double value) : type(Kind::Float), real(value) {}
  Value(Text value)
      : type(Kind::String), total(1 + value.bytes.size() / 64),
        data(std::make_shared<Text>(std::move(value))) {}
  Value(const char *value) : Value(Text(value)) {}
  /// Containers throw dlc::Error if they are nested too deeply, contain a namespace, or are too
  /// large.
  Value(List values, bool tuple = false);
  Value(Dict members);
  static Value makeNamespace(Dict members);
  /// `levels`: levels of the containers that the function captures.
  Value(Function function, int levels = 0)
      : type(Kind::Function), levels(levels),
        data(std::make_shared<Function>(std::move(function))) {}
  static Value macro(const Node *node);

  Kind kind() const { return type; }
  bool is(Kind kind) const { return type == kind; }
  bool isList() const { return type == Kind::List || type == Kind::Tuple; }
  bool isNumber() const { return type == Kind::Bool || type == Kind::Int || type == Kind::Float; }
  bool isInteger() const { return type == Kind::Bool || type == Kind::Int; }
  int64_t asInt() const { return type == Kind::Float ? static_cast<int64_t>(real) : integer; }
  double asFloat() const { return type == Kind::Float ? real : static_cast<double>(integer); }
  const Text &text() const { return *static_cast<const Text *>(data.get()); }
  const List &list() const { return *static_cast<const List *>(data.get()); }
  const Dict &dict() const { return *static_cast<const Dict *>(data.get()); }
  /// Returns the members of a namespace, which statements can change.
  Dict &members() const { return *static_cast<Dict *>(data.get()); }
  const Function &function() const { return *static_cast<const Function *>(data.get()); }
  const Node *macro() const { return node; }
  /// Name of the variable or member that is not defined.
  std::string name() const { return data ? text().bytes : ""; }
  /// Number of nested container levels. That of a namespace exceeds the limit, so that no container
  /// accepts a namespace.
  int depth() const { return levels; }
  /// Number of the elements at all levels, plus a part of the bytes of their strings. Operations
  /// that visit all elements take this number of steps.
  size_t extent() const { return total; }

private:
  Kind type = Kind::Undefined;
  int levels = 0;
  size_t total = 1;
  union {
    int64_t integer = 0;
    double real;
    const Node *node;
  };
  std::shared_ptr<void> data;
};

inline size_t Dict::size() const { return list.size(); }

/// Maximum number of elements of the lists that operators, and operations on strings, create.
constexpr size_t maxElements = 1'000'000;
/// Throws dlc::Error if a list of this size is too long.
void checkElements(size_t size);

/// Returns the name of the type in Python, for messages.
const char *kindName(const Value &value);
/// Returns the truth value that Python's `bool` returns.
bool truth(const Value &value);
bool equal(const Value &a, const Value &b);
/// Returns a negative number, 0 or a positive number. Throws dlc::Error for types without an order.
int compare(const Value &a, const Value &b);
/// Returns the number of elements or characters. Throws dlc::Error for values without a length.
size_t length(const Value &value);
/// Returns the entry of a dictionary or namespace with this key, or nullptr.
const Value *entry(const Value &value, std::string_view key);
/// Returns the elements of a list, the keys of a dictionary, or the characters of a string.
List elements(const Value &value);
/// Returns the text of a value like Python's `str`.
Text toText(const Value &value);
/// Returns the text of a value like Python's `repr`.
Text quoted(const Value &value);
/// Returns the text of a number like Python's `repr`.
std::string formatFloat(double value);
/// Returns the offsets of the characters of a text, and the size of the text as the last entry.
std::vector<size_t> offsets(std::string_view text);

/// Options of the filter `tojson`.
struct JsonOptions {
  /// Number of spaces per level; negative for one line.
  int indent = -1;
  bool sortKeys = false, ascii = false;
  Text itemSeparator = ", ", keySeparator = ": ";
};
Text toJson(const Value &value, const JsonOptions &options);
/// Converts a JSON object into a dictionary. `untrusted`: whether its strings are untrusted.
/// `what`: the name of the JSON text in messages.
Dict fromJson(std::string_view json, bool untrusted, const char *what);

} // namespace dlc::text::jinja

#endif // DLC_RUNTIME_TEXT_JINJA_VALUE_H
