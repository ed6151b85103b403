//===- Interpreter.h - executes chat templates -----------------------------------===//
#ifndef DLC_RUNTIME_TEXT_JINJA_INTERPRETER_H
#define DLC_RUNTIME_TEXT_JINJA_INTERPRETER_H

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Lexer.h"

#include "dlc/text.hpp"

#include <map>

namespace dlc::text::jinja {

/// Adds the line of the template to errors that do not have one.
template <typename Action> auto located(int line, Action action) -> decltype(action()) {
  try {
    return action();
  } catch (const Error &error) {
    std::string_view message = error.what();
    if (message.starts_with("chat template, line ") || message.starts_with("the chat template"))
      throw;
    failAt(line, std::string(message));
  }
}

/// Executes one template once. Members of values are only the entries of the given data.
class Interpreter {
public:
  Interpreter(TemplateLimits limits, const Dict &variables);
  Text run(const Node &root);

  /// Returns the value of an expression.
  Value evaluate(const Node &node);
  /// Calls a filter, test, method or function of the tables, and counts its steps.
  Value call(Builtin builtin, Call &call);
  /// Counts steps. Throws dlc::Error above the limit.
  void charge(size_t count);

private:
  /// Whether a statement continues normally or executed `break` or `continue`.
  enum class Flow { Normal, Break, Continue };
  /// Variables of a block, and the frame of the enclosing block.
  struct Frame {
    std::map<std::string, Value, std::less<>> variables;
    std::shared_ptr<Frame> parent;
  };
  /// Counts nested statements, evaluations and calls, so that they do not overflow the stack.
  class Depth {
  public:
    Depth(int &depth, int line) : depth(depth) {
      if (depth >= 600)
        failAt(line, "calls are nested too deeply; end the recursion");
      ++depth;
    }
    ~Depth() { --depth; }

  private:
    int &depth;
  };

  Flow execute(const Node &node);
  Flow executeNode(const Node &node);
  Flow executeFor(const Node &node);
  void executeSet(const Node &node);
  void executeCall(const Node &node);
  /// Executes a block, and returns its text instead of writing it.
  Text capture(const Node &block);
  void write(const Text &text);
  /// Returns the elements of a loop that satisfy the condition of the loop.
  List selected(const Node &loop);
  /// Sets one variable to a value, or several variables to the elements of the value. `unpack`:
  /// whether one variable is also set to the only element of the value.
  void bind(const std::vector<std::string> &names, const Value &value, int line,
            bool unpack = false);
  Value applyFilters(const Node *filters, Value operand);
  void openFrame() { frame = std::make_shared<Frame>(Frame{{}, frame}); }

  Value evaluateNode(const Node &node);
  /// Returns the value of a variable or function, or an undefined value.
  Value lookUp(const std::string &name) const;
  Value member(const Value &object, const std::string &name) const;
  Value item(const Value &object, const Value &index) const;
  Value slice(const Node &node);
  Value binary(const Node &node);
  bool compareAll(const Node &node);
  bool contains(const Value &container, const Value &element) const;
  Value dict(const Node &node);
  Value callValue(const Node &node);
  Value callNamed(const Node &node);
  Value runMacro(const Node &macro, Call &call, std::shared_ptr<Frame> parent);
  Call arguments(const Node &node, size_t skip);

  TemplateLimits limits;
  size_t steps = 0;
  int depth = 0;
  Text *output = nullptr;
  std::shared_ptr<Frame> root, frame;
  /// Operand of the innermost filter block.
  Value filterOperand;
};

} // namespace dlc::text::jinja

#endif // DLC_RUNTIME_TEXT_JINJA_INTERPRETER_H
