//===- Lexer.h - divides chat templates into tokens -----------------------------===//
#ifndef DLC_RUNTIME_TEXT_JINJA_LEXER_H
#define DLC_RUNTIME_TEXT_JINJA_LEXER_H

#include <string>
#include <string_view>
#include <vector>

namespace dlc::text::jinja {

/// Token of a template. `line` is the line of its beginning.
struct Token {
  enum class Kind {
    /// Text outside of tags.
    Data,
    BeginPrint,
    EndPrint,
    BeginTag,
    EndTag,
    Name,
    String,
    Integer,
    Float,
    Operator,
    End
  };
  Kind kind;
  std::string text;
  int line;
};

/// Divides a template into tokens. Removes whitespace like Jinja2 with the options `trim_blocks`
/// and `lstrip_blocks`.
std::vector<Token> tokenize(std::string_view source);

/// Throws dlc::Error with a message that starts with the line of the template.
[[noreturn]] void failAt(int line, const std::string &message);

} // namespace dlc::text::jinja

#endif // DLC_RUNTIME_TEXT_JINJA_LEXER_H
