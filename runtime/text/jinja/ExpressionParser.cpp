//===- ExpressionParser.cpp - parses the expressions of chat templates ---------===//
#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Parser.h"

#include <algorithm>
#include <charconv>

namespace dlc::text::jinja {
namespace {

constexpr int maxHeight = 200, maxDepth = 60;
using Kind = Node::Kind;

[[noreturn]] void unsupported(int line, const char *what, const std::string &name) {
  failAt(line,
         std::string("unsupported ") + what + " '" + name + "'; rewrite the template without it");
}

/// Returns the value of a number. Throws dlc::Error if it is out of range.
template <typename T> T numberOf(const Token &token) {
  T value = 0;
  const char *end = token.text.data() + token.text.size();
  auto [rest, error] = std::from_chars(token.text.data(), end, value);
  if (rest != end || error != std::errc())
    failAt(token.line, "the number " + token.text.substr(0, 40) +
                           " is out of range; write a number that fits in 64 bits");
  return value;
}

/// Returns the text of a token for messages.
std::string shown(const Token &token) {
  switch (token.kind) {
  case Token::Kind::End:
    return "the end of the template";
  case Token::Kind::Data:
    return "text";
  case Token::Kind::EndPrint:
    return "'}}'";
  case Token::Kind::EndTag:
    return "'%}'";
  case Token::Kind::BeginPrint:
    return "'{{'";
  case Token::Kind::BeginTag:
    return "'{%'";
  default:
    return "'" + token.text.substr(0, 40) + "'";
  }
}

} // namespace

const Token &Tokens::next() {
  const Token &token = peek();
  at = std::min(at + 1, list.size() - 1);
  return token;
}

bool Tokens::isOperator(std::string_view text) const {
  return peek().kind == Token::Kind::Operator && peek().text == text;
}

bool Tokens::isName(std::string_view text) const {
  return peek().kind == Token::Kind::Name && peek().text == text;
}

bool Tokens::takeOperator(std::string_view text) {
  bool found = isOperator(text);
  if (found)
    next();
  return found;
}

bool Tokens::takeName(std::string_view text) {
  bool found = isName(text);
  if (found)
    next();
  return found;
}

void Tokens::expectOperator(std::string_view text) {
  if (!takeOperator(text))
    failAt(line(), "required: '" + std::string(text) + "'; found: " + shown(peek()) +
                       "; correct the syntax");
}

void Tokens::expect(Token::Kind kind, const char *what) {
  if (peek().kind != kind)
    failAt(line(),
           std::string("required: ") + what + "; found: " + shown(peek()) + "; correct the syntax");
  next();
}

std::string Tokens::expectName() {
  std::string name = peek().text;
  expect(Token::Kind::Name, "a name");
  return name;
}

NodePtr finish(Node node) {
  auto include = [&](const NodePtr &child) {
    if (child)
      node.height = std::max(node.height, child->height + 1);
  };
  for (const NodePtr &child : node.children)
    include(child);
  for (const auto &[name, child] : node.named)
    include(child);
  if (node.height > maxHeight)
    failAt(node.line, "the template is nested too deeply; divide the expression");
  return std::make_unique<Node>(std::move(node));
}

static NodePtr make(Kind kind, int line, NodePtr first, NodePtr second = nullptr,
                    std::string name = {}) {
  Node node{.kind = kind, .line = line, .name = std::move(name)};
  node.children.push_back(std::move(first));
  if (second)
    node.children.push_back(std::move(second));
  return finish(std::move(node));
}

NodePtr ExpressionParser::parse(bool conditional) {
  if (++depth > maxDepth)
    failAt(tokens.line(), "the expression is nested too deeply; divide it");
  NodePtr value = parseOr();
  while (conditional && tokens.isName("if")) {
    Node node{.kind = Kind::Conditional, .line = tokens.next().line};
    node.children.push_back(parseOr());
    node.children.push_back(std::move(value));
    node.children.push_back(tokens.takeName("else") ? parse() : nullptr);
    value = finish(std::move(node));
  }
  --depth;
  return value;
}

NodePtr ExpressionParser::parseTuple(bool conditional) {
  int line = tokens.line();
  NodePtr first = parse(conditional);
  if (!tokens.isOperator(","))
    return first;
  Node node{.kind = Kind::Tuple, .line = line};
  node.children.push_back(std::move(first));
  while (tokens.takeOperator(",")) {
    Token::Kind kind = tokens.peek().kind;
    if (kind == Token::Kind::EndTag || kind == Token::Kind::EndPrint || tokens.isOperator(")"))
      break;
    node.children.push_back(parse(conditional));
  }
  return finish(std::move(node));
}

NodePtr ExpressionParser::parseOr() {
  NodePtr left = parseAnd();
  while (tokens.isName("or")) {
    int line = tokens.next().line;
    left = make(Kind::Or, line, std::move(left), parseAnd());
  }
  return left;
}

NodePtr ExpressionParser::parseAnd() {
  NodePtr left = parseNot();
  while (tokens.isName("and")) {
    int line = tokens.next().line;
    left = make(Kind::And, line, std::move(left), parseNot());
  }
  return left;
}

NodePtr ExpressionParser::parseNot() {
  if (!tokens.isName("not"))
    return parseCompare();
  if (++depth > maxDepth)
    failAt(tokens.line(), "the expression is nested too deeply; divide it");
  int line = tokens.next().line;
  NodePtr operand = parseNot();
  --depth;
  return make(Kind::Not, line, std::move(operand));
}

NodePtr ExpressionParser::parseCompare() {
  Node node{.kind = Kind::Compare, .line = tokens.line()};
  node.children.push_back(parseSum());
  for (;;) {
    std::string name;
    for (const char *each : {"==", "!=", "<=", ">=", "<", ">"})
      if (name.empty() && tokens.takeOperator(each))
        name = each;
    if (name.empty() && tokens.takeName("in"))
      name = "in";
    bool negated = tokens.isName("not") && tokens.peek(1).text == "in" &&
                   tokens.peek(1).kind == Token::Kind::Name;
    if (name.empty() && negated) {
      tokens.next();
      tokens.next();
      name = "not in";
    }
    if (name.empty())
      break;
    node.names.push_back(name);
    node.children.push_back(parseSum());
  }
  return node.names.empty() ? std::move(node.children[0]) : finish(std::move(node));
}

NodePtr ExpressionParser::parseBinary(Parse operand,
                                      std::initializer_list<std::string_view> operators) {
  NodePtr left = (this->*operand)();
  for (;;) {
    auto found = std::find_if(operators.begin(), operators.end(),
                              [&](std::string_view each) { return tokens.isOperator(each); });
    if (found == operators.end())
      return left;
    int line = tokens.next().line;
    left = make(Kind::Binary, line, std::move(left), (this->*operand)(), std::string(*found));
  }
}

NodePtr ExpressionParser::parseSum() {
  return parseBinary(&ExpressionParser::parseConcatenation, {"+", "-"});
}
NodePtr ExpressionParser::parseConcatenation() {
  return parseBinary(&ExpressionParser::parseProduct, {"~"});
}
NodePtr ExpressionParser::parseProduct() {
  return parseBinary(&ExpressionParser::parsePower, {"*", "//", "/", "%"});
}
NodePtr ExpressionParser::parsePower() {
  return parseBinary(&ExpressionParser::parseUnary, {"**"});
}
NodePtr ExpressionParser::parseUnary() { return parseSigned(true); }

NodePtr ExpressionParser::parseSigned(bool filters) {
  NodePtr operand;
  int line = tokens.line();
  bool negative = tokens.isOperator("-");
  if (negative || tokens.isOperator("+")) {
    if (++depth > maxDepth)
      failAt(line, "the expression is nested too deeply; divide it");
    tokens.next();
    operand = make(negative ? Kind::Negate : Kind::Plus, line, parseSigned(false));
    --depth;
  } else {
    operand = parsePrimary();
  }
  operand = parsePostfix(std::move(operand));
  while (filters) {
    if (tokens.isOperator("|"))
      operand = parseFilters(std::move(operand), true);
    else if (tokens.isName("is"))
      operand = parseTest(std::move(operand));
    else if (tokens.isOperator("("))
      operand = parsePostfix(std::move(operand));
    else
      break;
  }
  return operand;
}

NodePtr ExpressionParser::parseFilters(NodePtr operand, bool barFirst) {
  for (bool first = !barFirst; first || tokens.takeOperator("|"); first = false) {
    Node node{.kind = Kind::Filter, .line = tokens.line(), .name = tokens.expectName()};
    if (!findFilter(node.name))
      unsupported(node.line, "filter", node.name);
    node.children.push_back(std::move(operand));
    if (tokens.isOperator("("))
      parseArguments(node);
    operand = finish(std::move(node));
  }
  return operand;
}

NodePtr ExpressionParser::parseTest(NodePtr operand) {
  int line = tokens.next().line;
  bool negated = tokens.takeName("not");
  Node node{.kind = Kind::Test, .line = line, .name = tokens.expectName()};
  if (!findTest(node.name))
    unsupported(node.line, "test", node.name);
  node.children.push_back(std::move(operand));
  const Token &next = tokens.peek();
  bool argument = next.kind == Token::Kind::String || next.kind == Token::Kind::Integer ||
                  next.kind == Token::Kind::Float || tokens.isOperator("[") ||
                  tokens.isOperator("{") ||
                  (next.kind == Token::Kind::Name && next.text != "else" && next.text != "or" &&
                   next.text != "and" && next.text != "is" && next.text != "if" &&
                   next.text != "not" && next.text != "in");
  if (tokens.isOperator("("))
    parseArguments(node);
  else if (argument)
    node.children.push_back(parsePostfix(parsePrimary()));
  NodePtr test = finish(std::move(node));
  return negated ? make(Kind::Not, line, std::move(test)) : std::move(test);
}

NodePtr ExpressionParser::parsePostfix(NodePtr operand) {
  for (;;) {
    int line = tokens.line();
    if (tokens.takeOperator(".")) {
      if (tokens.peek().kind == Token::Kind::Integer) {
        Node index{.kind = Kind::Constant, .line = line, .value = numberOf<int64_t>(tokens.next())};
        operand = make(Kind::Item, line, std::move(operand), finish(std::move(index)));
        continue;
      }
      std::string name = tokens.expectName();
      if (!tokens.isOperator("(")) {
        operand = make(Kind::Member, line, std::move(operand), nullptr, name);
        continue;
      }
      if (!findMethod(name))
        unsupported(line, "method", name);
      Node node{.kind = Kind::Method, .line = line, .name = name};
      node.children.push_back(std::move(operand));
      parseArguments(node);
      operand = finish(std::move(node));
    } else if (tokens.isOperator("[")) {
      operand = parseSubscript(std::move(operand));
    } else if (tokens.isOperator("(")) {
      bool hasName = operand->kind == Kind::Name || operand->kind == Kind::Member;
      Node node{.kind = Kind::Call, .line = line, .name = hasName ? operand->name : "function"};
      node.children.push_back(std::move(operand));
      parseArguments(node);
      operand = finish(std::move(node));
    } else {
      return operand;
    }
  }
}

NodePtr ExpressionParser::parseSubscript(NodePtr operand) {
  Node node{.kind = Kind::Slice, .line = tokens.next().line};
  node.children.push_back(std::move(operand));
  while (!tokens.isOperator("]")) {
    bool empty = tokens.isOperator(":");
    node.children.push_back(empty ? nullptr : parse());
    if (!tokens.takeOperator(":"))
      break;
    if (tokens.isOperator("]"))
      node.children.push_back(nullptr);
    node.name = ":";
  }
  tokens.expectOperator("]");
  if (node.children.size() > 4 || node.children.size() < 2)
    failAt(node.line, "invalid subscript; write one index or at most three bounds");
  if (node.name.empty())
    node.kind = Kind::Item;
  else
    node.children.resize(4);
  return finish(std::move(node));
}

void ExpressionParser::parseArguments(Node &node) {
  tokens.expectOperator("(");
  while (!tokens.isOperator(")")) {
    if (tokens.isOperator("*") || tokens.isOperator("**"))
      unsupported(tokens.line(), "argument", tokens.peek().text);
    const Token &equals = tokens.peek(1);
    bool named = tokens.peek().kind == Token::Kind::Name && equals.kind == Token::Kind::Operator &&
                 equals.text == "=";
    if (named) {
      std::string name = tokens.expectName();
      tokens.next();
      node.named.emplace_back(name, parse());
    } else {
      node.children.push_back(parse());
    }
    if (!tokens.takeOperator(","))
      break;
  }
  tokens.expectOperator(")");
}

static NodePtr constant(int line, Value value) {
  return finish({.kind = Kind::Constant, .line = line, .value = std::move(value)});
}

NodePtr ExpressionParser::parsePrimary() {
  Token token = tokens.peek();
  if (token.kind == Token::Kind::Operator) {
    tokens.next();
    if (token.text == "(") {
      if (tokens.takeOperator(")"))
        return finish({.kind = Kind::Tuple, .line = token.line});
      NodePtr inner = parseTuple();
      tokens.expectOperator(")");
      return inner;
    }
    if (token.text == "[")
      return parseElements(Kind::List, "]", token.line);
    if (token.text == "{")
      return parseDict(token.line);
    failAt(token.line, "required: a value; found: " + shown(token) + "; correct the syntax");
  }
  tokens.next();
  switch (token.kind) {
  case Token::Kind::String: {
    std::string text = token.text;
    while (tokens.peek().kind == Token::Kind::String)
      text += tokens.next().text;
    return constant(token.line, Text(text));
  }
  case Token::Kind::Integer:
    return constant(token.line, numberOf<int64_t>(token));
  case Token::Kind::Float:
    return constant(token.line, numberOf<double>(token));
  case Token::Kind::Name:
    if (token.text == "true" || token.text == "True")
      return constant(token.line, true);
    if (token.text == "false" || token.text == "False")
      return constant(token.line, false);
    if (token.text == "none" || token.text == "None")
      return constant(token.line, Value::none());
    return finish({.kind = Kind::Name, .line = token.line, .name = token.text});
  default:
    failAt(token.line, "required: a value; found: " + shown(token) + "; correct the syntax");
  }
}

NodePtr ExpressionParser::parseElements(Kind kind, const char *end, int line) {
  Node node{.kind = kind, .line = line};
  while (!tokens.isOperator(end)) {
    node.children.push_back(parse());
    if (!tokens.takeOperator(","))
      break;
  }
  tokens.expectOperator(end);
  return finish(std::move(node));
}

NodePtr ExpressionParser::parseDict(int line) {
  Node node{.kind = Kind::Dict, .line = line};
  while (!tokens.isOperator("}")) {
    node.children.push_back(parse());
    tokens.expectOperator(":");
    node.children.push_back(parse());
    if (!tokens.takeOperator(","))
      break;
  }
  tokens.expectOperator("}");
  return finish(std::move(node));
}

} // namespace dlc::text::jinja
