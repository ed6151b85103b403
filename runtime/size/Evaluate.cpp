//===- Evaluate.cpp - replaces the symbols of sizes by values ----------------===//
#include "runtime/size/Evaluate.h"

#include <algorithm>

using namespace dlc::size;

namespace {
class Evaluator {
public:
  explicit Evaluator(const SymbolValues &values) : values(values) {}

  Rational compute(const Size &size) {
    if (!size.isValid())
      return fail(std::string("the size is not defined: ") + size.reason());
    Rational sum = 0;
    for (const Term &term : size.terms()) {
      Rational product = term.coefficient;
      for (const Factor &factor : term.monomial) {
        const Rational value = factor.symbol ? lookUp(*factor.symbol) : compute(*factor.atom);
        for (unsigned i = 0; i < factor.power; ++i)
          product = product * value;
      }
      sum = sum + product;
    }
    return sum.isValid() ? sum : fail("the size exceeds 64 bits; use smaller sizes");
  }

  std::string error;

private:
  Rational fail(std::string text) {
    if (error.empty())
      error = std::move(text);
    return Rational::invalid();
  }

  Rational lookUp(const Symbol &symbol) {
    if (std::optional<int64_t> value = values(symbol))
      return *value;
    return fail("size '" + symbol.name + "' has no value; specify it");
  }

  Rational compute(const Atom &atom) {
    Rational result = compute(atom.operands[0]);
    if (atom.kind == Atom::Floor)
      return result.floor();
    for (size_t i = 1; i < atom.operands.size(); ++i) {
      const Rational other = compute(atom.operands[i]);
      if (!result.isValid() || !other.isValid())
        return Rational::invalid();
      if (atom.kind != Atom::Quotient)
        result = (other < result) == (atom.kind == Atom::Min) ? other : result;
      else if (other.sign() <= 0)
        return fail("a divisor is 0 or negative; use larger sizes");
      else
        result = (result / other).floor();
    }
    return result;
  }

  const SymbolValues &values;
};

Size substituteAtom(const Atom &atom, const Substitution &replacement) {
  Size result = substitute(atom.operands[0], replacement);
  if (atom.kind == Atom::Floor)
    return floorDiv(result, 1);
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    const Size other = substitute(atom.operands[i], replacement);
    result = atom.kind == Atom::Quotient ? floorDiv(result, other)
             : atom.kind == Atom::Min    ? min(result, other)
                                         : max(result, other);
  }
  return result;
}
} // namespace

ValueOrError dlc::size::evaluate(const Size &size, const SymbolValues &values) {
  Evaluator evaluator(values);
  const Rational result = evaluator.compute(size);
  if (!result.isValid())
    return {std::nullopt, evaluator.error};
  if (!result.isInteger())
    return {std::nullopt,
            "the size is not an integer; found: " + std::to_string(result.numerator()) + "/" +
                std::to_string(result.denominator()) +
                "; use sizes that the divisors of the symbols permit"};
  return {result.numerator(), ""};
}

Size dlc::size::substitute(const Size &size, const Substitution &replacement) {
  if (!size.isValid())
    return size;
  Size sum;
  for (const Term &term : size.terms()) {
    Size product(term.coefficient);
    for (const Factor &factor : term.monomial) {
      const Size value = factor.symbol ? replacement(*factor.symbol).value_or(Size(factor.symbol))
                                       : substituteAtom(*factor.atom, replacement);
      for (unsigned i = 0; i < factor.power; ++i)
        product = product * value;
    }
    sum = sum + product;
  }
  return sum;
}

void dlc::size::collectSymbols(const Size &size, std::vector<SymbolRef> &symbols) {
  for (const Term &term : size.terms())
    for (const Factor &factor : term.monomial) {
      if (factor.atom) {
        for (const Size &operand : factor.atom->operands)
          collectSymbols(operand, symbols);
        continue;
      }
      auto place = std::lower_bound(symbols.begin(), symbols.end(), factor,
                                    [](const SymbolRef &a, const Factor &b) {
                                      return compareStructure(Factor{a, nullptr}, b) < 0;
                                    });
      if (place == symbols.end() || compareStructure(Factor{*place, nullptr}, factor) != 0)
        symbols.insert(place, factor.symbol);
    }
}
