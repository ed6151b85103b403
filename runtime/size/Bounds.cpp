//===- Bounds.cpp - bounds and comparisons of sizes --------------------------===//
#include "runtime/size/Bounds.h"

#include <algorithm>

using namespace dlc::size;

namespace {
using Bound = std::optional<Rational>;

/// Returns the value as a bound, or nullopt (unknown) if it overflowed.
Bound checked(Rational value) { return value.isValid() ? Bound(value) : std::nullopt; }

Bound add(Bound a, Bound b) { return a && b ? checked(*a + *b) : std::nullopt; }

Interval add(const Interval &a, const Interval &b) {
  return {add(a.low, b.low), add(a.high, b.high)};
}

Interval scale(const Interval &a, Rational factor) {
  if (factor.isZero())
    return {0, 0};
  const Interval product = {a.low ? checked(*a.low * factor) : std::nullopt,
                            a.high ? checked(*a.high * factor) : std::nullopt};
  return factor.sign() > 0 ? product : Interval{product.high, product.low};
}

bool isNonNegative(const Interval &a) { return a.low && a.low->sign() >= 0; }

Interval multiply(const Interval &a, const Interval &b) {
  if (isNonNegative(a) && isNonNegative(b)) {
    const bool isZero = (a.high && a.high->isZero()) || (b.high && b.high->isZero());
    return {checked(*a.low * *b.low), isZero             ? Bound(0)
                                      : a.high && b.high ? checked(*a.high * *b.high)
                                                         : std::nullopt};
  }
  if (!a.low || !a.high || !b.low || !b.high)
    return {};
  const Rational products[] = {*a.low * *b.low, *a.low * *b.high, *a.high * *b.low,
                               *a.high * *b.high};
  if (!std::all_of(std::begin(products), std::end(products),
                   [](Rational x) { return x.isValid(); }))
    return {};
  return {*std::min_element(std::begin(products), std::end(products)),
          *std::max_element(std::begin(products), std::end(products))};
}

/// Return the tighter of two lower bounds or of two upper bounds that both hold.
Bound tighterLow(Bound a, Bound b) { return !a || (b && *a < *b) ? b : a; }
Bound tighterHigh(Bound a, Bound b) { return !a || (b && *b < *a) ? b : a; }

Interval intervalOf(const Factor &factor) {
  if (factor.atom)
    return factor.atom->bounds;
  const std::optional<int64_t> &maximum = factor.symbol->maximum;
  return {factor.symbol->minimum, maximum ? Bound(*maximum) : std::nullopt};
}

Interval intervalOf(const Monomial &monomial) {
  Interval product{1, 1};
  for (const Factor &factor : monomial)
    for (unsigned i = 0; i < factor.power; ++i)
      product = multiply(product, intervalOf(factor));
  return product;
}

Interval intervalOf(const std::vector<Term> &terms) {
  Interval sum{0, 0};
  for (const Term &term : terms)
    sum = add(sum, scale(intervalOf(term.monomial), term.coefficient));
  return sum;
}

constexpr size_t kMaxExpandedTerms = 12;
constexpr unsigned kMaxExpandedDegree = 4;

/// Computes bounds after each factor x is replaced by low + x', or by high - x' if `fromHigh` is
/// set, where x' is 0 or more. The bounds are often tighter if terms share a factor, as in
/// n * m - n.
Interval boundExpanded(const Size &a, bool fromHigh) {
  Interval sum{0, 0};
  std::vector<Term> expanded;
  // In `expanded`, the symbol or atom x represents x'.
  for (const Term &term : a.terms()) {
    Size product(term.coefficient);
    for (const Factor &factor : term.monomial) {
      const Interval range = intervalOf(factor);
      const Bound start = fromHigh ? range.high : range.low;
      if (!start)
        return {};
      const Factor variable{factor.symbol, factor.atom};
      const Size shifted({{*start, {}}, {fromHigh ? -1 : 1, {variable}}});
      for (unsigned i = 0; i < factor.power; ++i)
        product = product * shifted;
    }
    if (!product.isValid())
      return {};
    expanded.insert(expanded.end(), product.terms().begin(), product.terms().end());
  }
  const Size polynomial(std::move(expanded));
  if (!polynomial.isValid())
    return {};
  for (const Term &term : polynomial.terms()) {
    Interval product{1, 1};
    for (const Factor &factor : term.monomial) {
      const Interval range = intervalOf(factor);
      const Interval width{0, range.low && range.high ? checked(*range.high - *range.low)
                                                      : std::nullopt};
      for (unsigned i = 0; i < factor.power; ++i)
        product = multiply(product, width);
    }
    sum = add(sum, scale(product, term.coefficient));
  }
  return sum;
}

Interval boundPolynomial(const Size &a) {
  Interval result = intervalOf(a.terms());
  if (a.terms().empty())
    return result;
  unsigned degree = 0;
  for (const Factor &factor : a.terms()[0].monomial) // the first term has the highest degree
    degree += factor.power;
  if (degree < 2 || degree > kMaxExpandedDegree || a.terms().size() > kMaxExpandedTerms)
    return result;
  for (bool fromHigh : {false, true}) {
    const Interval other = boundExpanded(a, fromHigh);
    result = {tighterLow(result.low, other.low), tighterHigh(result.high, other.high)};
  }
  return result;
}

/// Computes lower bounds. Replaces one atom at a time, in one term, by a polynomial that bounds it.
class LowerBound {
public:
  Bound compute(const Size &a) {
    if (!a.isValid())
      return std::nullopt;
    Bound best = boundPolynomial(a).low;
    for (size_t i = 0; i < a.terms().size() && budget > 0; ++i)
      for (size_t f = 0; f < a.terms()[i].monomial.size(); ++f)
        if (isReplaceable(a.terms()[i], f)) {
          --budget;
          return tighterLow(best, replace(a, i, f));
        }
    return best;
  }

private:
  /// Returns whether factor `f` of the term is an atom that replace() supports, and the product of
  /// the other factors is not negative.
  static bool isReplaceable(const Term &term, size_t f) {
    const Factor &factor = term.monomial[f];
    return factor.atom && factor.power == 1 && factor.atom->kind != Atom::Quotient &&
           isNonNegative(intervalOf(withoutFactor(term, f).monomial));
  }

  static Term withoutFactor(Term term, size_t f) {
    term.monomial.erase(term.monomial.begin() + std::ptrdiff_t(f));
    return term;
  }

  Bound replace(const Size &a, size_t i, size_t f) {
    const Term &term = a.terms()[i];
    const Atom &atom = *term.monomial[f].atom;
    std::vector<Term> others = a.terms();
    others.erase(others.begin() + std::ptrdiff_t(i));
    const Size rest(std::move(others)), cofactor({withoutFactor(term, f)});
    const bool isPositive = term.coefficient.sign() > 0;
    if (atom.kind == Atom::Floor) {
      // floor(x) <= x, and floor(x) > x - 1; x - floor(x) is a multiple of the unit of x.
      const Size &x = atom.operands[0];
      Rational slack = 0;
      if (isPositive) {
        const Rational unit = computeUnit(x);
        slack = unit.isValid() && !unit.isZero() ? 1 - Rational::ratio(1, unit.denominator())
                                                 : Rational(1);
      }
      return compute(rest + cofactor * (x - Size(slack)));
    }
    // The atom's value is that of one operand. For a minimum with a positive coefficient, the lower
    // bound is the lowest of the bounds with each operand. With a negative coefficient, the bound
    // with any operand holds, and the highest one is the tightest. For a maximum, the signs are
    // exchanged.
    const bool takesLowest = isPositive == (atom.kind == Atom::Min);
    Bound best;
    for (size_t k = 0; k < atom.operands.size(); ++k) {
      const Bound bound = compute(rest + cofactor * atom.operands[k]);
      if (takesLowest && !bound)
        return std::nullopt;
      if (k == 0)
        best = bound;
      else
        best = takesLowest ? tighterHigh(best, bound) : tighterLow(best, bound);
    }
    return best;
  }

  int budget = 64; ///< number of replacements that may still be made
};
} // namespace

Interval dlc::size::computeBounds(const Size &a) {
  if (!a.isValid())
    return {};
  if (std::optional<Rational> value = a.rational())
    return {*value, *value};
  const Bound high = LowerBound().compute(a.scaled(-1));
  return {LowerBound().compute(a), high ? checked(-*high) : std::nullopt};
}

Answer dlc::size::isLessOrEqual(const Size &a, const Size &b) {
  const Interval difference = computeBounds(b - a);
  if (difference.low && difference.low->sign() >= 0)
    return Answer::Yes;
  return difference.high && difference.high->sign() < 0 ? Answer::No : Answer::Undecided;
}

Answer dlc::size::isEqual(const Size &a, const Size &b) {
  if (a == b)
    return Answer::Yes;
  const Interval difference = computeBounds(b - a);
  const bool differ = (difference.low && difference.low->sign() > 0) ||
                      (difference.high && difference.high->sign() < 0);
  return differ ? Answer::No : Answer::Undecided;
}
