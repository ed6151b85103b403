//===- Lexer.cpp - divides chat templates into tokens ---------------------------===//
#include "runtime/text/jinja/Lexer.h"
#include "runtime/program/Message.h"
#include "runtime/text/Normalize.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace dlc::text::jinja {
namespace {

constexpr size_t maxBytes = 1 << 20;
constexpr std::array operators = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                  "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                  "]",  "{",  "}",  ".",  ",",  ":",  "|", ";"};

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string withoutTrailingSpace(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.pop_back();
  return text;
}

class Lexer {
public:
  explicit Lexer(std::string source) : source(std::move(source)) {}

  std::vector<Token> run() {
    while (at < source.size()) {
      size_t tag = nextTag();
      readData(tag);
      if (at < source.size())
        readTag();
    }
    add(Token::Kind::End, "");
    return std::move(tokens);
  }

private:
  void add(Token::Kind kind, std::string text) { tokens.push_back({kind, std::move(text), line}); }
  std::string_view rest(size_t from) const { return std::string_view(source).substr(from); }
  void advance(size_t to) {
    line += static_cast<int>(std::count(source.begin() + static_cast<ptrdiff_t>(at),
                                        source.begin() + static_cast<ptrdiff_t>(to), '\n'));
    at = to;
  }

  /// Returns the offset of the next `{{`, `{%` or `{#`, or the size of the template.
  size_t nextTag() const {
    for (size_t i = at; (i = source.find('{', i)) != source.npos; ++i)
      if (i + 1 < source.size() && std::string_view("{%#").find(source[i + 1]) != std::string::npos)
        return i;
    return source.size();
  }

  /// Reads the text before a tag, and removes the whitespace that the tag strips.
  void readData(size_t tag) {
    std::string data = source.substr(at, tag - at);
    char sign = tag + 2 < source.size() ? source[tag + 2] : ' ';
    if (tag < source.size() && sign == '-') {
      data = withoutTrailingSpace(data);
    } else if (tag < source.size() && sign != '+' && source[tag + 1] != '{') {
      size_t begin = data.rfind('\n') + 1;
      bool blank = std::all_of(data.begin() + static_cast<ptrdiff_t>(begin), data.end(),
                               [](unsigned char c) { return std::isspace(c); });
      bool lineStart = begin > 0 || at == 0 || source[at - 1] == '\n';
      if (lineStart && blank)
        data.resize(begin);
    }
    if (!data.empty())
      add(Token::Kind::Data, data);
    advance(tag);
  }

  void readTag() {
    char kind = source[at + 1];
    if (kind == '#')
      return readComment();
    size_t begin = at + 2;
    if (begin < source.size() && (source[begin] == '-' || (source[begin] == '+' && kind == '%')))
      ++begin;
    if (kind == '%' && readRaw(begin))
      return;
    add(kind == '{' ? Token::Kind::BeginPrint : Token::Kind::BeginTag, "");
    advance(begin);
    readExpression(kind == '{' ? "}}" : "%}");
  }

  void readComment() {
    size_t end = source.find("#}", at + 2);
    if (end == source.npos)
      failAt(line, "the comment is not closed; add '#}'");
    endTag(end, source[end - 1], true);
  }

  /// Continues after the two characters at `end` that close a tag. Removes whitespace after the
  /// tag: all of it for the sign `-`, and one newline if `trim` is set and the sign is not `+`.
  void endTag(size_t end, char sign, bool trim) {
    size_t to = end + 2;
    if (sign == '-')
      while (to < source.size() && std::isspace(static_cast<unsigned char>(source[to])))
        ++to;
    else if (trim && sign != '+' && to < source.size() && source[to] == '\n')
      ++to;
    advance(to);
  }

  /// Reads the text from `{% raw %}` to `{% endraw %}`. Returns false if the tag is not `raw`.
  bool readRaw(size_t begin) {
    auto word = [&](size_t &i, std::string_view name) {
      while (i < source.size() && std::isspace(static_cast<unsigned char>(source[i])))
        ++i;
      bool found = rest(i).starts_with(name);
      i += found ? name.size() : 0;
      return found;
    };
    size_t i = begin;
    if (!word(i, "raw") || !(word(i, "-%}") || word(i, "%}")))
      return false;
    endTag(i - 2, source[i - 3], true);
    for (size_t tag = at; (tag = source.find("{%", tag)) != source.npos; ++tag) {
      size_t inner = tag + 2;
      if (inner < source.size() && (source[inner] == '-' || source[inner] == '+'))
        ++inner;
      if (word(inner, "endraw") && (word(inner, "-%}") || word(inner, "%}"))) {
        readData(tag);
        endTag(inner - 2, source[inner - 3], true);
        return true;
      }
    }
    failAt(line, "'raw' is not closed; add '{% endraw %}'");
  }

  /// Reads tokens up to the end of the tag.
  void readExpression(std::string_view end) {
    int brackets = 0;
    for (;;) {
      size_t i = at;
      while (i < source.size() && std::isspace(static_cast<unsigned char>(source[i])))
        ++i;
      advance(i);
      if (at >= source.size())
        failAt(line, "a tag is not closed; add '" + std::string(end) + "'");
      size_t sign = source[at] == '-' || (source[at] == '+' && end == "%}") ? 1 : 0;
      if (brackets == 0 && rest(at + sign).starts_with(end)) {
        add(end == "}}" ? Token::Kind::EndPrint : Token::Kind::EndTag, "");
        return endTag(at + sign, sign ? source[at] : ' ', end == "%}");
      }
      readToken(brackets);
    }
  }

  void readToken(int &brackets) {
    char c = source[at];
    if (c == '"' || c == '\'')
      return readString(c);
    if (isDigit(c))
      return readNumber();
    size_t i = at;
    if (isNameCharacter(c)) {
      while (i < source.size() && isNameCharacter(source[i]))
        ++i;
      add(Token::Kind::Name, source.substr(at, i - at));
      return advance(i);
    }
    for (std::string_view each : operators)
      if (rest(at).starts_with(each)) {
        brackets += each == "(" || each == "[" || each == "{";
        brackets -= each == ")" || each == "]" || each == "}";
        add(Token::Kind::Operator, std::string(each));
        return advance(at + each.size());
      }
    failAt(line, "unexpected character '" + replaceInvalid(std::string(1, c)) + "'; remove it");
  }

  void readNumber() {
    size_t i = at;
    bool real = false;
    auto digits = [&] {
      while (i < source.size() && (isDigit(source[i]) || source[i] == '_'))
        ++i;
    };
    digits();
    if (i + 1 < source.size() && source[i] == '.' && isDigit(source[i + 1])) {
      real = true;
      ++i;
      digits();
    }
    if (i < source.size() && (source[i] == 'e' || source[i] == 'E')) {
      size_t exponent = i + 1;
      if (exponent < source.size() && (source[exponent] == '-' || source[exponent] == '+'))
        ++exponent;
      if (exponent < source.size() && isDigit(source[exponent])) {
        real = true;
        i = exponent;
        digits();
      }
    }
    std::string text = source.substr(at, i - at);
    std::erase(text, '_');
    add(real ? Token::Kind::Float : Token::Kind::Integer, text);
    advance(i);
  }

  void readString(char quote) {
    std::string text;
    size_t i = at + 1;
    for (; i < source.size() && source[i] != quote; ++i) {
      if (source[i] == '\\' && i + 1 < source.size())
        readEscape(++i, text);
      else
        text += source[i];
    }
    if (i >= source.size())
      failAt(line, "a string is not closed; add the quotation mark");
    add(Token::Kind::String, text);
    advance(i + 1);
  }

  /// Reads the escape sequence at `i`, and sets `i` to its last character.
  void readEscape(size_t &i, std::string &text) {
    constexpr std::string_view letters = "ntr\\'\"bfav0", values("\n\t\r\\'\"\b\f\a\v\0", 11);
    size_t digits = source[i] == 'x' ? 2 : source[i] == 'u' ? 4 : source[i] == 'U' ? 8 : 0;
    if (size_t found = letters.find(source[i]); found != letters.npos) {
      text += values[found];
    } else if (source[i] == '\n') {
    } else if (digits == 0) {
      text.append({'\\', source[i]});
    } else {
      std::string code = source.substr(i + 1, digits);
      bool valid = code.size() == digits && std::all_of(code.begin(), code.end(), [](char c) {
                     return std::isxdigit(static_cast<unsigned char>(c));
                   });
      unsigned long value = valid ? std::stoul(code, nullptr, 16) : ~0ul;
      if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        failAt(line, "invalid escape sequence '\\" + std::string(1, source[i]) +
                         "'; write the character itself");
      appendUtf8(text, static_cast<char32_t>(value));
      i += digits;
    }
  }

  std::string source;
  size_t at = 0;
  int line = 1;
  std::vector<Token> tokens;
};

} // namespace

void failAt(int line, const std::string &message) {
  runtime::fail("chat template, line ", line, ": ", message);
}

std::vector<Token> tokenize(std::string_view text) {
  if (text.size() > maxBytes)
    runtime::fail("the chat template is too long: required: at most ", maxBytes,
                  " bytes; found: ", text.size(), "; use a shorter template");
  std::string source = replaceAll(replaceInvalid(text), "\r\n", "\n");
  std::replace(source.begin(), source.end(), '\r', '\n');
  if (source.ends_with('\n'))
    source.pop_back();
  return Lexer(std::move(source)).run();
}

} // namespace dlc::text::jinja
