//===- Atoms.cpp - normal forms of rounded quotients, minima and maxima ------===//
#include "runtime/size/Bounds.h"

#include <algorithm>

using namespace dlc::size;

namespace {
constexpr char kZeroDivisor[] = "a divisor may be 0 or negative";
constexpr char kOverflow[] = "a coefficient exceeds 64 bits";

/// Returns a fraction of which all values of the product are integer multiples.
Rational unitOf(const Monomial &monomial) {
  Rational unit = 1;
  for (const Factor &factor : monomial)
    for (unsigned i = 0; i < factor.power; ++i) {
      const Rational own = factor.atom ? factor.atom->unit : Rational(factor.symbol->divisor);
      // Without the factor's divisor, the product is still a multiple of the unit.
      const Rational next = unit * own;
      if (next.isValid())
        unit = next;
      else if (!own.isInteger())
        return Rational::invalid();
    }
  return unit;
}

Size makeAtom(Atom::Kind kind, std::vector<Size> operands, Interval bounds, Rational unit = 1) {
  return Size(std::make_shared<const Atom>(Atom{kind, std::move(operands), bounds, unit}));
}

std::optional<Rational> floorBound(const std::optional<Rational> &bound) {
  return bound ? std::optional(bound->floor()) : std::nullopt;
}

/// Returns `term` as an atom of this kind times its coefficient, or null.
const Atom *asAtom(const Term &term, Atom::Kind kind) {
  if (term.monomial.size() != 1 || term.monomial[0].power != 1 || !term.monomial[0].atom)
    return nullptr;
  const Atom *atom = term.monomial[0].atom.get();
  return atom->kind == kind ? atom : nullptr;
}

/// Parts of a size. All terms of `whole` have integer values. In `rest`, each coefficient times the
/// unit of its product is at least 0 and less than 1; `scale` is the least common denominator of
/// these fractions.
struct IntegerPart {
  std::vector<Term> whole, rest;
  Rational scale = 1;
};

IntegerPart splitIntegers(const Size &a) {
  IntegerPart parts;
  std::optional<Rational> constant;
  for (const Term &term : a.terms()) {
    if (term.monomial.empty()) {
      constant = term.coefficient;
      continue;
    }
    const Rational unit = unitOf(term.monomial), all = term.coefficient * unit;
    const Rational integer = all.floor(), fraction = all - integer;
    parts.whole.push_back({integer / unit, term.monomial});
    parts.rest.push_back({fraction / unit, term.monomial});
    if (!fraction.isValid())
      parts.scale = fraction;
    else if (parts.scale.isValid())
      // 1 / gcd(1 / a, 1 / b) is the least common multiple of a and b.
      parts.scale = 1 / Rational::gcd(1 / parts.scale, Rational::ratio(1, fraction.denominator()));
  }
  if (constant && parts.scale.isValid()) {
    // The other terms are multiples of 1 / scale, so rounding the constant down to such a multiple
    // does not change the size rounded down.
    const Rational rounded = (*constant * parts.scale).floor() / parts.scale;
    parts.whole.push_back({rounded.floor(), {}});
    parts.rest.push_back({rounded - rounded.floor(), {}});
  }
  return parts;
}

/// Returns the size rounded down.
Size roundDown(const Size &a) {
  if (!a.isValid())
    return a;
  IntegerPart parts = splitIntegers(a);
  const Size whole(std::move(parts.whole)), rest(std::move(parts.rest));
  if (!parts.scale.isValid() || !whole.isValid() || !rest.isValid())
    return Size::invalid(kOverflow);
  // floor((floor(x) + y) / b) = floor((x + y) / b) for integers b and y.
  const Rational share = 1 / parts.scale;
  for (const Term &term : rest.terms()) {
    const Atom *inner = asAtom(term, Atom::Floor);
    if (inner && term.coefficient == share)
      return whole + roundDown(rest - Size({term}) + inner->operands[0].scaled(share));
  }
  Interval bounds = computeBounds(rest);
  bounds = {floorBound(bounds.low), floorBound(bounds.high)};
  if (bounds.low && bounds.high && *bounds.low == *bounds.high)
    return whole + Size(*bounds.low);
  return whole + makeAtom(Atom::Floor, {rest}, bounds);
}

/// Returns the quotient of two products, or nullopt if the second does not divide the first.
std::optional<Monomial> divide(const Monomial &a, const Monomial &b) {
  Monomial result;
  size_t used = 0;
  for (Factor factor : a) {
    if (used < b.size() && compareStructure(factor, b[used]) == 0) {
      if (factor.power < b[used].power)
        return std::nullopt;
      factor.power -= b[used++].power;
    }
    if (factor.power > 0)
      result.push_back(factor);
  }
  return used == b.size() ? std::optional(result) : std::nullopt;
}

struct Division {
  Size quotient, remainder;
};

/// Divides polynomials: a = quotient * b + remainder. With `integral`, the quotient has only terms
/// that are integers for all values of the symbols.
Division dividePolynomials(const Size &a, const Size &b, bool integral) {
  const Term lead = b.terms()[0];
  Size quotient, done, rest = a;
  // Each step removes the first term of `rest`, so that at most all terms of all degrees are
  // visited.
  for (unsigned step = 0; step < 4 * kMaxTerms && rest.isValid() && !rest.terms().empty(); ++step) {
    const Term term = rest.terms()[0];
    Size part;
    if (std::optional<Monomial> monomial = divide(term.monomial, lead.monomial)) {
      Rational coefficient = term.coefficient / lead.coefficient;
      if (const Rational unit = unitOf(*monomial); integral && coefficient.isValid())
        coefficient = (coefficient * unit).floor() / unit;
      part = Size({{coefficient, *monomial}});
    }
    quotient = quotient + part;
    rest = rest - part * b;
    if (rest.isValid() && !rest.terms().empty() &&
        compareStructure(rest.terms()[0].monomial, term.monomial) == 0) {
      const Size first({rest.terms()[0]});
      done = done + first;
      rest = rest - first;
    }
  }
  return {quotient, done + rest};
}

/// Divides both sizes by the greatest common divisor of all coefficients, and by the non-negative
/// factors that all of their terms share.
void cancelCommonFactors(Size &a, Size &b) {
  Rational content = 0;
  std::vector<Term> terms = a.terms();
  const size_t split = terms.size();
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  for (const Term &term : terms)
    content = Rational::gcd(content, term.coefficient);
  if (!content.isValid() || content.isZero())
    return;
  Monomial common;
  for (Factor factor : terms[0].monomial) {
    const Interval range = factor.atom ? factor.atom->bounds : Interval{factor.symbol->minimum, {}};
    if (!range.low || range.low->sign() < 0)
      continue;
    for (const Term &term : terms) {
      auto same =
          std::find_if(term.monomial.begin(), term.monomial.end(),
                       [&](const Factor &other) { return compareStructure(factor, other) == 0; });
      factor.power = same == term.monomial.end() ? 0 : std::min(factor.power, same->power);
    }
    if (factor.power > 0)
      common.push_back(factor);
  }
  for (Term &term : terms)
    term = {term.coefficient / content, *divide(term.monomial, common)};
  a = Size(std::vector<Term>(terms.begin(), terms.begin() + std::ptrdiff_t(split)));
  b = Size(std::vector<Term>(terms.begin() + std::ptrdiff_t(split), terms.end()));
}

/// Returns bounds of a / b rounded down, where b is positive.
Interval boundQuotient(const Size &a, const Size &b) {
  const Interval x = computeBounds(a), y = computeBounds(b);
  Interval result;
  const bool isPositive = y.low && y.low->sign() > 0;
  if (x.low && x.low->sign() >= 0)
    result.low = y.high ? (*x.low / *y.high).floor() : Rational(0);
  else if (x.low && isPositive)
    result.low = (*x.low / *y.low).floor();
  if (x.high && x.high->sign() >= 0 && isPositive)
    result.high = (*x.high / *y.low).floor();
  else if (x.high && x.high->sign() < 0)
    result.high = y.high ? (*x.high / *y.high).floor() : Rational(-1);
  for (std::optional<Rational> *bound : {&result.low, &result.high})
    if (*bound && !(*bound)->isValid())
      bound->reset();
  return result;
}

/// Returns a / b rounded down, where b is positive and not a constant.
Size dividePositive(Size a, Size b) {
  const Division exact = dividePolynomials(a, b, /*integral=*/true);
  const Size whole = exact.quotient;
  a = exact.remainder;
  if (!whole.isValid() || !a.isValid())
    return Size::invalid(kOverflow);
  if (a == Size(0))
    return whole;
  cancelCommonFactors(a, b);
  if (std::optional<Rational> divisor = b.rational())
    return whole + roundDown(a.scaled(1 / *divisor));
  const Interval bounds = boundQuotient(a, b);
  if (bounds.low && bounds.high && *bounds.low == *bounds.high)
    return whole + Size(*bounds.low);
  const Interval below = computeBounds(b - a); // 0 <= a < b
  if (bounds.low && bounds.low->sign() >= 0 && below.low && below.low->sign() > 0)
    return whole;
  return whole + makeAtom(Atom::Quotient, {a, b}, bounds);
}

/// Replaces the first operand that is an atom of this kind plus other terms by one operand for each
/// operand of the atom: min(min(a, b) + c, d) = min(a + c, b + c, d). Returns whether there was
/// such an operand.
bool flatten(Atom::Kind kind, std::vector<Size> &operands) {
  for (size_t i = 0; i < operands.size(); ++i)
    for (const Term &term : operands[i].terms()) {
      const Atom *inner = asAtom(term, kind);
      if (!inner || term.coefficient.sign() < 0)
        continue;
      const Size rest = operands[i] - Size({term});
      const Rational factor = term.coefficient;
      const std::vector<Size> own = inner->operands;
      operands.erase(operands.begin() + std::ptrdiff_t(i));
      for (const Size &operand : own)
        operands.push_back(rest + operand.scaled(factor));
      return true;
    }
  return false;
}

/// Subtracts from all operands the smallest coefficient of each product, and returns what was
/// subtracted: min(a + c, b + c) = min(a, b) + c.
Size extractCommonTerms(std::vector<Size> &operands) {
  std::vector<Term> all;
  for (const Size &operand : operands)
    all.insert(all.end(), operand.terms().begin(), operand.terms().end());
  std::vector<Term> common;
  for (const Term &candidate : all) {
    auto isSame = [&](const Term &t) {
      return compareStructure(t.monomial, candidate.monomial) == 0;
    };
    if (std::any_of(common.begin(), common.end(), isSame))
      continue;
    Rational least = candidate.coefficient;
    for (const Size &operand : operands) {
      auto same = std::find_if(operand.terms().begin(), operand.terms().end(), isSame);
      const Rational own = same == operand.terms().end() ? Rational(0) : same->coefficient;
      least = own < least ? own : least;
    }
    common.push_back({least, candidate.monomial});
  }
  const Size shift(std::move(common));
  for (Size &operand : operands)
    operand = operand - shift;
  return shift;
}

/// Removes operands that do not affect the result: for a minimum, those that are at least as large
/// as another operand; for a maximum, those that are at most as large.
void removeBounded(Atom::Kind kind, std::vector<Size> &operands) {
  std::sort(operands.begin(), operands.end(),
            [](const Size &a, const Size &b) { return compareStructure(a, b) < 0; });
  for (size_t i = 0; i < operands.size();) {
    bool isBounded = false;
    for (size_t k = 0; k < operands.size() && !isBounded; ++k)
      isBounded =
          k != i && (kind == Atom::Min ? isLessOrEqual(operands[k], operands[i])
                                       : isLessOrEqual(operands[i], operands[k])) == Answer::Yes;
    if (isBounded)
      operands.erase(operands.begin() + std::ptrdiff_t(i));
    else
      ++i;
  }
}

/// Returns the minimum or maximum of the operands in normal form.
Size selectOperand(Atom::Kind kind, std::vector<Size> operands) {
  Size shift;
  do {
    for (const Size &operand : operands)
      if (!operand.isValid())
        return operand;
    if (operands.size() > kMaxOperands)
      return Size::invalid("a minimum or maximum has too many operands");
    shift = shift + extractCommonTerms(operands);
  } while (flatten(kind, operands));
  removeBounded(kind, operands);
  shift = shift + extractCommonTerms(operands);
  if (operands.size() == 1)
    return operands[0] + shift;
  Rational content = 0;
  for (const Size &operand : operands)
    for (const Term &term : operand.terms())
      content = Rational::gcd(content, term.coefficient);
  if (!shift.isValid() || !content.isValid() || content.isZero())
    return Size::invalid(kOverflow);
  Interval bounds;
  Rational unit = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] = operands[i].scaled(1 / content);
    if (!operands[i].isValid()) // a coefficient overflowed
      return operands[i];
    const Interval own = computeBounds(operands[i]);
    unit = Rational::gcd(unit, computeUnit(operands[i]));
    auto extend = [&](std::optional<Rational> &bound, const std::optional<Rational> &other,
                      bool takesOne, bool lower) {
      if (i == 0)
        bound = other;
      else if (!bound || !other)
        bound = takesOne ? (bound ? bound : other) : std::nullopt;
      else if ((*other < *bound) == lower)
        bound = other;
    };
    const bool isMin = kind == Atom::Min;
    extend(bounds.low, own.low, /*takesOne=*/!isMin, /*lower=*/isMin);
    extend(bounds.high, own.high, /*takesOne=*/isMin, /*lower=*/isMin);
  }
  std::sort(operands.begin(), operands.end(),
            [](const Size &a, const Size &b) { return compareStructure(a, b) < 0; });
  if (!unit.isValid())
    return Size::invalid(kOverflow);
  return makeAtom(kind, std::move(operands), bounds, unit).scaled(content) + shift;
}
} // namespace

Rational dlc::size::computeUnit(const Size &a) {
  Rational unit = 0;
  for (const Term &term : a.terms())
    unit = Rational::gcd(unit, term.coefficient * unitOf(term.monomial));
  return unit;
}

Size dlc::size::floorDiv(const Size &a, const Size &b) {
  if (!a.isValid() || !b.isValid())
    return a.isValid() ? b : a;
  if (std::optional<Rational> divisor = b.rational())
    return divisor->isZero() ? Size::invalid(kZeroDivisor) : roundDown(a.scaled(1 / *divisor));
  const Interval range = computeBounds(b);
  if (!range.low || range.low->sign() <= 0)
    return Size::invalid(kZeroDivisor);
  return dividePositive(a, b);
}

Size dlc::size::ceilDiv(const Size &a, const Size &b) {
  if (std::optional<Rational> divisor = b.rational(); divisor && divisor->sign() < 0)
    return ceilDiv(a.scaled(-1), b.scaled(-1));
  // For integers, ceilDiv(a, b) and floorDiv(a + b - 1, b) have identical forms.
  if (computeUnit(a).isInteger() && computeUnit(b).isInteger())
    return floorDiv(a + b - 1, b);
  return floorDiv(a.scaled(-1), b).scaled(-1);
}

Size dlc::size::mod(const Size &a, const Size &b) { return a - b * floorDiv(a, b); }

Size dlc::size::min(const Size &a, const Size &b) { return selectOperand(Atom::Min, {a, b}); }
Size dlc::size::max(const Size &a, const Size &b) { return selectOperand(Atom::Max, {a, b}); }

std::optional<Size> dlc::size::divideExact(const Size &a, const Size &b) {
  if (!a.isValid() || !b.isValid() || b.terms().empty())
    return std::nullopt;
  const Division division = dividePolynomials(a, b, /*integral=*/false);
  if (!division.quotient.isValid() || !(division.remainder == Size(0)))
    return std::nullopt;
  const Rational unit = computeUnit(division.quotient);
  return unit.isInteger() ? std::optional(division.quotient) : std::nullopt;
}
