//===- Cases.h - random sizes with an independent evaluation -----------------===//
#ifndef DLC_TEST_RUNTIME_SIZE_CASES_H
#define DLC_TEST_RUNTIME_SIZE_CASES_H

#include "runtime/size/Evaluate.h"
#include "runtime/size/Symbol.h"
#include "runtime/size/Text.h"

#include <array>
#include <random>

namespace dlc::size::test {

using Values = std::array<int64_t, 4>;

/// Symbols of the tests: small, without a maximum, with a divisor, and with 0 in its range.
inline const std::array<SymbolRef, 4> &getSymbols() {
  static const std::array<SymbolRef, 4> symbols = {
      parseSymbol("b", "1..6").symbol, parseSymbol("n", "1..").symbol,
      parseSymbol("w", "8..64:8").symbol, parseSymbol("z", "0..5").symbol};
  return symbols;
}

inline SymbolRef findSymbol(std::string_view name) {
  for (const SymbolRef &symbol : getSymbols())
    if (symbol->name == name)
      return symbol;
  return nullptr;
}

inline SymbolValues bind(const Values &values) {
  return [&values](const Symbol &symbol) -> std::optional<int64_t> {
    for (size_t i = 0; i < values.size(); ++i)
      if (getSymbols()[i]->name == symbol.name)
        return values[i];
    return std::nullopt;
  };
}

inline Values drawValues(std::mt19937_64 &random) {
  Values values;
  for (size_t i = 0; i < values.size(); ++i) {
    const Symbol &symbol = *getSymbols()[i];
    const int64_t last = symbol.maximum.value_or(40) / symbol.divisor;
    const int64_t first = symbol.minimum / symbol.divisor;
    values[i] = std::uniform_int_distribution<int64_t>(first, last)(random) * symbol.divisor;
  }
  return values;
}

/// A size, and a function that computes its value without the normal form.
struct Case {
  Size size;
  std::function<int64_t(const Values &)> compute;
};

inline int64_t roundDown(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Draws expressions. Polynomials have only sums, differences and products.
class Drawer {
public:
  Drawer(std::mt19937_64 &random, bool polynomial) : random(random), polynomial(polynomial) {}

  Case draw(unsigned depth) {
    if (depth == 0 || below(6) == 0)
      return drawLeaf();
    const Case a = draw(depth - 1), b = draw(depth - 1);
    auto f = a.compute, g = b.compute;
    switch (below(polynomial ? 3 : 9)) {
    case 0:
      return {a.size + b.size, [=](const Values &v) { return f(v) + g(v); }};
    case 1:
      return {a.size - b.size, [=](const Values &v) { return f(v) - g(v); }};
    case 2:
      return {a.size * b.size, [=](const Values &v) { return f(v) * g(v); }};
    case 3:
      return {min(a.size, b.size), [=](const Values &v) { return std::min(f(v), g(v)); }};
    case 4:
      return {max(a.size, b.size), [=](const Values &v) { return std::max(f(v), g(v)); }};
    case 5:
      return drawDivision(a, drawPositive());
    case 6: {
      const int64_t by = 1 + below(9);
      return {ceilDiv(a.size, by), [=](const Values &v) { return -roundDown(-f(v), by); }};
    }
    case 7: {
      const int64_t by = 1 + below(9);
      return {mod(a.size, by), [=](const Values &v) { return f(v) - by * roundDown(f(v), by); }};
    }
    default: {
      const int64_t by = 1 + below(9);
      return {floorDiv(a.size, by), [=](const Values &v) { return roundDown(f(v), by); }};
    }
    }
  }

  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random); }

private:
  Case drawLeaf() {
    if (below(3) == 0) {
      const int64_t value = below(13) - 4;
      return {value, [=](const Values &) { return value; }};
    }
    const size_t i = size_t(below(4));
    return {Size(getSymbols()[i]), [=](const Values &v) { return v[i]; }};
  }

  /// Draws a size that is at least 1: a symbol, a sum or a product of them.
  Case drawPositive() {
    const size_t i = size_t(below(3)), j = size_t(below(3));
    const Size a(getSymbols()[i]), b(getSymbols()[j]);
    switch (below(3)) {
    case 0:
      return {a, [=](const Values &v) { return v[i]; }};
    case 1:
      return {a + b, [=](const Values &v) { return v[i] + v[j]; }};
    default:
      return {a * b, [=](const Values &v) { return v[i] * v[j]; }};
    }
  }

  Case drawDivision(const Case &a, const Case &b) {
    auto f = a.compute, g = b.compute;
    return {floorDiv(a.size, b.size), [=](const Values &v) { return roundDown(f(v), g(v)); }};
  }

  std::mt19937_64 &random;
  bool polynomial;
};

} // namespace dlc::size::test

#endif // DLC_TEST_RUNTIME_SIZE_CASES_H
