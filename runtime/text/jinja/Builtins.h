//===- Builtins.h - filters, tests, methods and functions of chat templates -----===//
#ifndef DLC_RUNTIME_TEXT_JINJA_BUILTINS_H
#define DLC_RUNTIME_TEXT_JINJA_BUILTINS_H

#include "runtime/text/jinja/Syntax.h"

#include <optional>

namespace dlc::text::jinja {

class Interpreter;

/// Arguments of a filter, test, method or function. The first argument of filters, tests and
/// methods is the operand.
struct Call {
  Interpreter &interpreter;
  const Node &node;
  List arguments;
  std::vector<std::pair<std::string, Value>> named;

  const Value &operand() const { return arguments[0]; }
  /// Returns the argument with this index or name, or nullptr if it is missing.
  const Value *find(size_t index, std::string_view name) const;
  /// Returns the argument with this index or name. Throws dlc::Error if it is missing.
  const Value &require(size_t index, const char *name) const;
  /// Return an argument of one type, and throw dlc::Error for other types.
  const Text &text(size_t index, const char *name) const;
  int64_t integer(size_t index, const char *name, std::optional<int64_t> otherwise = {}) const;
  bool flag(size_t index, const char *name, bool otherwise) const;
  /// Throws dlc::Error if there are more positional arguments, or other named arguments.
  void checkCount(size_t maximum, std::initializer_list<std::string_view> names = {}) const;
};

using Builtin = Value (*)(Call &);

// These return nullptr for unknown names.
Builtin findFilter(std::string_view name);
Builtin findTest(std::string_view name);
Builtin findMethod(std::string_view name);
Builtin findFunction(std::string_view name);

// Functions on text that filters and methods share.
/// Returns whether Python's `str.isspace` holds for a character.
bool isSpace(char32_t c);
Text trimmed(const Text &text, const std::string *characters, bool left, bool right);
Text replaced(const Text &text, const Text &from, const Text &to, int64_t count);
Text upper(const Text &text);
Text lower(const Text &text);
Text title(const Text &text);
Text capitalized(const Text &text);
/// Formats values like Python's operator `%`.
Text formatted(const Text &format, const List &values);

} // namespace dlc::text::jinja

#endif // DLC_RUNTIME_TEXT_JINJA_BUILTINS_H
