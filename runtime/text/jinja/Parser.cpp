//===- Parser.cpp - parses the statements of chat templates ---------------------===//
#include "runtime/text/jinja/Parser.h"

#include <algorithm>

namespace dlc::text::jinja {
namespace {

using Kind = Node::Kind;
constexpr int maxDepth = 60;

/// Parser of statements and tags.
class StatementParser {
public:
  explicit StatementParser(std::string_view source)
      : tokens(tokenize(source)), expressions(tokens) {}

  NodePtr parse() {
    NodePtr block = parseBlock({});
    if (tokens.peek().kind != Token::Kind::End)
      failAt(tokens.line(), "'" + tokens.peek(1).text + "' has no beginning; remove the tag");
    return block;
  }

private:
  /// Parses statements up to one of the tags `ends`, which is not consumed.
  NodePtr parseBlock(std::initializer_list<std::string_view> ends) {
    if (++depth > maxDepth)
      failAt(tokens.line(), "tags are nested too deeply; divide the template");
    Node block{.kind = Kind::Block, .line = tokens.line()};
    for (;;) {
      const Token &token = tokens.peek();
      if (token.kind == Token::Kind::End)
        break;
      if (token.kind == Token::Kind::Data) {
        Text text(tokens.next().text);
        block.children.push_back(
            finish({.kind = Kind::Data, .line = block.line, .value = std::move(text)}));
      } else if (token.kind == Token::Kind::BeginPrint) {
        Node print{.kind = Kind::Print, .line = tokens.next().line};
        print.children.push_back(expressions.parseTuple());
        tokens.expect(Token::Kind::EndPrint, "'}}'");
        block.children.push_back(finish(std::move(print)));
      } else {
        std::string_view name = tokens.peek(1).text;
        if (name.starts_with("end") || name == "else" || name == "elif")
          break;
        tokens.next();
        block.children.push_back(parseTag());
      }
    }
    if (ends.size() != 0 && tokens.peek().kind == Token::Kind::End)
      failAt(block.line, "a tag is not closed; add '{% " + std::string(*(ends.end() - 1)) + " %}'");
    if (ends.size() != 0 && std::find(ends.begin(), ends.end(), tokens.peek(1).text) == ends.end())
      failAt(tokens.line(), "required: '" + std::string(*(ends.end() - 1)) + "'; found: '" +
                                tokens.peek(1).text + "'; correct the order of the tags");
    --depth;
    return finish(std::move(block));
  }

  void endTag() { tokens.expect(Token::Kind::EndTag, "'%}'"); }
  /// Consumes the beginning of the tag that ended a block, and returns the name of the tag.
  std::string closingTag() {
    tokens.next();
    return tokens.expectName();
  }
  /// Parses a block up to a closing tag, and consumes that tag.
  NodePtr parseBody(std::string_view end) {
    endTag();
    NodePtr block = parseBlock({end});
    closingTag();
    endTag();
    return block;
  }

  /// Parses a body whose text is captured, so that it cannot end a loop around it.
  NodePtr parseCapturedBody(std::string_view end) {
    int outer = std::exchange(loops, 0);
    NodePtr block = parseBody(end);
    loops = outer;
    return block;
  }

  NodePtr parseTag() {
    int line = tokens.line();
    std::string name = tokens.expectName();
    if (name == "if")
      return parseIf(line);
    if (name == "for")
      return parseFor(line);
    if (name == "set")
      return parseSet(line);
    if (name == "macro")
      return parseMacro(line);
    if (name == "call")
      return parseCall(line);
    if (name == "filter")
      return parseFilter(line);
    // The extension of `transformers` that marks the answers of the model.
    if (name == "generation")
      return parseBody("endgeneration");
    if (name == "break" || name == "continue") {
      if (loops == 0)
        failAt(line,
               "'" + name +
                   "' is outside of a loop, or in a set or filter block in the loop; remove it");
      endTag();
      return finish({.kind = name == "break" ? Kind::Break : Kind::Continue, .line = line});
    }
    failAt(line, "unsupported tag '" + name + "'; rewrite the template without it");
  }

  NodePtr parseIf(int line) {
    Node node{.kind = Kind::If, .line = line};
    std::string tag = "if";
    while (tag == "if" || tag == "elif") {
      node.children.push_back(expressions.parseTuple());
      endTag();
      node.children.push_back(parseBlock({"elif", "else", "endif"}));
      tag = closingTag();
    }
    if (tag == "else")
      node.children.push_back(parseBody("endif"));
    else
      endTag();
    return finish(std::move(node));
  }

  /// Parses the variables of a loop.
  void parseTargets(Node &loop) {
    bool bracket = tokens.takeOperator("(");
    do {
      loop.names.push_back(tokens.expectName());
      loop.unpack = tokens.takeOperator(",");
    } while (loop.unpack && !tokens.isName("in") && !tokens.isOperator(")"));
    if (bracket)
      tokens.expectOperator(")");
  }

  NodePtr parseFor(int line) {
    Node node{.kind = Kind::For, .line = line};
    parseTargets(node);
    if (!tokens.takeName("in"))
      failAt(line, "required: 'in' after the variables of the loop; correct the syntax");
    node.children.push_back(expressions.parseTuple(false));
    node.children.push_back(tokens.takeName("if") ? expressions.parse() : nullptr);
    if (tokens.isName("recursive"))
      failAt(line, "unsupported loop modifier 'recursive'; rewrite the template without it");
    endTag();
    ++loops;
    node.children.push_back(parseBlock({"else", "endfor"}));
    --loops;
    if (closingTag() == "else") {
      node.children.push_back(parseBody("endfor"));
    } else {
      endTag();
      node.children.push_back(nullptr);
    }
    return finish(std::move(node));
  }

  NodePtr parseSet(int line) {
    Node node{.kind = Kind::Set, .line = line};
    std::string name = tokens.expectName();
    if (tokens.takeOperator(".")) {
      node.kind = Kind::SetMember;
      node.name = name;
      node.names.push_back(tokens.expectName());
    } else {
      node.names.push_back(name);
      while (tokens.takeOperator(","))
        node.names.push_back(tokens.expectName());
    }
    if (tokens.takeOperator("=")) {
      node.children.push_back(expressions.parseTuple());
      endTag();
      return finish(std::move(node));
    }
    if (node.kind == Kind::SetMember || node.names.size() != 1)
      failAt(line, "required: '=' after the name; correct the syntax");
    node.kind = Kind::SetBlock;
    NodePtr filters = expressions.parseFilters(nullptr, true);
    node.children.push_back(parseCapturedBody("endset"));
    node.children.push_back(std::move(filters));
    return finish(std::move(node));
  }

  void parseParameters(Node &node) {
    tokens.expectOperator("(");
    while (!tokens.isOperator(")")) {
      node.names.push_back(tokens.expectName());
      if (tokens.takeOperator("="))
        node.named.emplace_back(node.names.back(), expressions.parse());
      else if (!node.named.empty())
        failAt(node.line, "a parameter without a default value follows one with it; reorder them");
      if (!tokens.takeOperator(","))
        break;
    }
    tokens.expectOperator(")");
  }

  NodePtr parseMacro(int line) {
    Node node{.kind = Kind::Macro, .line = line, .name = tokens.expectName()};
    parseParameters(node);
    node.children.push_back(parseCapturedBody("endmacro"));
    return finish(std::move(node));
  }

  NodePtr parseCall(int line) {
    Node node{.kind = Kind::CallBlock, .line = line};
    if (tokens.isOperator("("))
      parseParameters(node);
    node.children.push_back(expressions.parse());
    if (node.children[0]->kind != Kind::Call)
      failAt(line, "required: a call of a macro after 'call'; correct the syntax");
    node.children.push_back(parseCapturedBody("endcall"));
    return finish(std::move(node));
  }

  NodePtr parseFilter(int line) {
    Node node{.kind = Kind::FilterBlock, .line = line};
    NodePtr filters = expressions.parseFilters(nullptr, false);
    node.children.push_back(parseCapturedBody("endfilter"));
    node.children.push_back(std::move(filters));
    return finish(std::move(node));
  }

  Tokens tokens;
  ExpressionParser expressions;
  /// Number of blocks, and of loops, that contain the current statement.
  int depth = 0, loops = 0;
};

} // namespace

NodePtr parseTemplate(std::string_view source) { return StatementParser(source).parse(); }

} // namespace dlc::text::jinja
