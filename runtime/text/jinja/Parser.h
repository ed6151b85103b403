//===- Parser.h - parses chat templates ------------------------------------------===//
#ifndef DLC_RUNTIME_TEXT_JINJA_PARSER_H
#define DLC_RUNTIME_TEXT_JINJA_PARSER_H

#include "runtime/text/jinja/Lexer.h"
#include "runtime/text/jinja/Syntax.h"

#include <initializer_list>

namespace dlc::text::jinja {

/// Sequence of tokens with a position, shared by the parsers of expressions and statements.
class Tokens {
public:
  explicit Tokens(std::vector<Token> list) : list(std::move(list)) {}
  /// Returns the next token, or one after it, without consuming it.
  const Token &peek(size_t ahead = 0) const { return list[std::min(at + ahead, list.size() - 1)]; }
  /// Consumes and returns the next token.
  const Token &next();
  int line() const { return peek().line; }
  bool isOperator(std::string_view text) const;
  bool isName(std::string_view text) const;
  /// Consume the next token if it is this operator or name, and return whether it is.
  bool takeOperator(std::string_view text);
  bool takeName(std::string_view text);
  /// Consume the next token. They throw dlc::Error if it is another one.
  void expectOperator(std::string_view text);
  void expect(Token::Kind kind, const char *what);
  std::string expectName();

private:
  std::vector<Token> list;
  size_t at = 0;
};

/// Completes a node: computes its height, and throws dlc::Error if it is nested too deeply.
NodePtr finish(Node node);

/// Parser of expressions, with the precedences of Jinja2.
class ExpressionParser {
public:
  explicit ExpressionParser(Tokens &tokens) : tokens(tokens) {}
  /// Parses an expression. Unless `conditional` is set, the expression ends at `if`.
  NodePtr parse(bool conditional = true);
  /// Parses expressions separated by commas; several form a tuple.
  NodePtr parseTuple(bool conditional = true);
  /// Parses filters (`name(arguments) | ...`) that are applied to an operand. `barFirst`: whether
  /// the operator `|` precedes the first filter.
  NodePtr parseFilters(NodePtr operand, bool barFirst);
  /// Parses arguments in parentheses into the children and named children of a node.
  void parseArguments(Node &node);
  /// Parses the expressions after an operand: members, items, slices and calls.
  NodePtr parsePostfix(NodePtr operand);

private:
  using Parse = NodePtr (ExpressionParser::*)();
  NodePtr parseOr();
  NodePtr parseAnd();
  NodePtr parseNot();
  NodePtr parseCompare();
  NodePtr parseSum();
  NodePtr parseConcatenation();
  NodePtr parseProduct();
  NodePtr parsePower();
  NodePtr parseUnary();
  NodePtr parseSigned(bool filters);
  NodePtr parsePrimary();
  NodePtr parseTest(NodePtr operand);
  NodePtr parseSubscript(NodePtr operand);
  NodePtr parseDict(int line);
  NodePtr parseElements(Node::Kind kind, const char *end, int line);
  NodePtr parseBinary(Parse operand, std::initializer_list<std::string_view> operators);

  Tokens &tokens;
  /// Number of expressions that contain the current one.
  int depth = 0;
};

/// Parses a template. Throws dlc::Error, with the line, for constructs that are not supported.
NodePtr parseTemplate(std::string_view source);

} // namespace dlc::text::jinja

#endif // DLC_RUNTIME_TEXT_JINJA_PARSER_H
