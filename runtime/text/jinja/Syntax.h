//===- Syntax.h - syntax tree of chat templates ---------------------------------===//
#ifndef DLC_RUNTIME_TEXT_JINJA_SYNTAX_H
#define DLC_RUNTIME_TEXT_JINJA_SYNTAX_H

#include "runtime/text/jinja/Value.h"

#include <memory>

namespace dlc::text::jinja {

using NodePtr = std::unique_ptr<Node>;

/// Statement or expression.
struct Node {
  enum class Kind {
    // Expressions. Each comment lists the children. `named` has the keyword arguments.
    Constant,    // value
    Name,        // name
    List,        // elements
    Tuple,       // elements
    Dict,        // keys and values, alternating
    Member,      // object; name
    Item,        // object, index
    Slice,       // object, begin, end, step (each may be null)
    Call,        // callee, arguments; name is that of the callee, for messages
    Method,      // object, arguments; name
    Filter,      // operand, arguments; name
    Test,        // operand, arguments; name
    Not,         // operand
    Negate,      // operand
    Plus,        // operand
    Binary,      // left, right; name is the operator
    Compare,     // operands; `names` are the operators between them
    And,         // left, right
    Or,          // left, right
    Conditional, // condition, value, other value (may be null)
    // Statements.
    Block,       // statements
    Data,        // value
    Print,       // expression
    If,          // condition, block, condition, block, ... [block]
    For,         // sequence, condition (may be null), block, else block (may be null); `names`
    Set,         // expression; `names`
    SetMember,   // expression; name is the variable, names[0] the member
    SetBlock,    // block, filters applied to null operands (may be null); name
    Macro,       // block; name, `names` are the parameters, `named` their default values
    CallBlock,   // call, block; `names` are the parameters of the caller
    FilterBlock, // block; filters
    Break,
    Continue,
  };
  Kind kind;
  int line;
  std::string name = {};
  Value value = {};
  std::vector<NodePtr> children = {};
  std::vector<std::string> names = {};
  std::vector<std::pair<std::string, NodePtr>> named = {};
  /// Whether a comma follows the only variable of a loop, which unpacks the elements.
  bool unpack = false;
  /// Height of the subtree with this root. The function `finish` limits it.
  int height = 1;
};

} // namespace dlc::text::jinja

#endif // DLC_RUNTIME_TEXT_JINJA_SYNTAX_H
