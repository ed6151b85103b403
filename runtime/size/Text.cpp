//===- Text.cpp - text form of sizes -------------------------------------------===//
#include "runtime/size/Text.h"

#include "runtime/size/Symbol.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

using namespace dlc::size;

namespace {
std::string formatAtom(const Atom &atom) {
  constexpr const char *names[] = {"floordiv(", "floordiv(", "min(", "max("};
  std::string text = names[atom.kind];
  if (atom.kind == Atom::Floor) {
    Rational units = 0;
    for (const Term &term : atom.operands[0].terms())
      units = Rational::gcd(units, Rational::ratio(1, term.coefficient.denominator()));
    return text + format(atom.operands[0].scaled(1 / units)) + ", " +
           std::to_string(units.denominator()) + ")";
  }
  for (size_t i = 0; i < atom.operands.size(); ++i)
    text += (i ? ", " : "") + format(atom.operands[i]);
  return text + ")";
}

/// Formats the absolute value of a term.
std::string formatTerm(const Term &term) {
  const int64_t num = std::abs(term.coefficient.numerator()), den = term.coefficient.denominator();
  std::string text = num != 1 || term.monomial.empty() ? std::to_string(num) : "";
  for (const Factor &factor : term.monomial)
    for (unsigned i = 0; i < factor.power; ++i)
      text += (text.empty() ? "" : "*") +
              (factor.symbol ? factor.symbol->name : formatAtom(*factor.atom));
  return den == 1 ? text : text + "/" + std::to_string(den);
}

/// Recursive-descent parser. After an error, all methods return quickly.
class Parser {
public:
  Parser(std::string_view text, const SymbolTable &symbols) : text(text), symbols(symbols) {}

  SizeOrError run() {
    if (text.size() > kMaxTextLength)
      return {0, "required: at most " + std::to_string(kMaxTextLength) +
                     " characters; found: " + std::to_string(text.size()) + "; simplify the size"};
    Size result = parseSum();
    if (error.empty() && peek() != '\0')
      fail("an operator or the end");
    if (error.empty() && !result.isValid())
      error = std::string("the size '") + std::string(text.substr(0, 64)) +
              "' is not defined: " + result.reason() + "; change it";
    return {error.empty() ? result : Size(0), error};
  }

private:
  char peek() {
    while (at < text.size() && text[at] == ' ')
      ++at;
    return at < text.size() && error.empty() ? text[at] : '\0';
  }
  bool take(char c) {
    const bool found = peek() == c;
    at += found;
    return found;
  }
  void expect(char c) {
    if (!take(c))
      fail(std::string("'") + c + "'");
  }
  Size fail(const std::string &required) {
    if (error.empty())
      error = "required: " + required + " at character " + std::to_string(at) + "; found: '" +
              std::string(text.substr(std::min(at, text.size()), 16)) + "'; correct the size '" +
              std::string(text.substr(0, 64)) + "'";
    return 0;
  }

  Size parseSum() {
    if (++depth > kMaxTextDepth)
      return fail("at most " + std::to_string(kMaxTextDepth) + " nested parentheses");
    Size sum = take('-') ? parseProduct().scaled(-1) : parseProduct();
    while (true) {
      if (take('+'))
        sum = sum + parseProduct();
      else if (take('-'))
        sum = sum - parseProduct();
      else
        break;
    }
    --depth;
    return sum;
  }

  Size parseProduct() {
    Size product = parseFactor();
    while (true) {
      if (take('*'))
        product = product * parseFactor();
      else if (take('/'))
        product = product.scaled(Rational::ratio(1, parseDivisor()));
      else
        return product;
    }
  }

  Size parseFactor() {
    const char c = peek();
    if (c >= '0' && c <= '9')
      return parseInteger();
    if (take('(')) {
      Size inner = parseSum();
      expect(')');
      return inner;
    }
    size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) ||
                                 text[end] == '_' || text[end] == '.'))
      ++end;
    const std::string_view name = text.substr(at, end - at);
    if (!isSymbolName(name))
      return fail("a number, a symbol or '('");
    if (end < text.size() && text[end] == '(')
      return parseCall(name);
    if (SymbolRef symbol = symbols(name)) {
      at = end;
      return Size(std::move(symbol));
    }
    return fail("a known symbol");
  }

  Size parseCall(std::string_view name) {
    using Function = Size (*)(const Size &, const Size &);
    constexpr std::pair<std::string_view, Function> functions[] = {{"floordiv", floorDiv},
                                                                   {"ceildiv", ceilDiv},
                                                                   {"mod", mod},
                                                                   {"min", dlc::size::min},
                                                                   {"max", dlc::size::max}};
    auto found = std::find_if(std::begin(functions), std::end(functions),
                              [&](const auto &f) { return f.first == name; });
    if (found == std::end(functions))
      return fail("floordiv, ceildiv, mod, min or max");
    at += name.size() + 1;
    Size result = parseSum();
    unsigned count = 1;
    for (; take(','); ++count)
      result = found->second(result, parseSum());
    const bool isSelection = name == "min" || name == "max";
    if (count < 2 || (count > 2 && !isSelection))
      return fail(isSelection ? "two or more operands" : "two operands");
    expect(')');
    return result;
  }

  int64_t parseInteger() {
    peek();
    int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (status != std::errc() || value < 0) {
      fail("an integer of at most 63 bits");
      return 1;
    }
    at = size_t(end - text.data());
    return value;
  }

  int64_t parseDivisor() {
    peek();
    const size_t start = at;
    if (const int64_t value = parseInteger(); value != 0)
      return value;
    at = start;
    fail("a divisor of 1 or more");
    return 1;
  }

  std::string_view text;
  const SymbolTable &symbols;
  size_t at = 0;
  unsigned depth = 0;
  std::string error;
};
} // namespace

std::string dlc::size::format(const Size &size) {
  if (!size.isValid())
    return "undefined";
  std::string text;
  for (const Term &term : size.terms()) {
    const bool isNegative = term.coefficient.sign() < 0;
    text += text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    text += formatTerm(term);
  }
  return text.empty() ? "0" : text;
}

SizeOrError dlc::size::parse(std::string_view text, const SymbolTable &symbols) {
  return Parser(text, symbols).run();
}
