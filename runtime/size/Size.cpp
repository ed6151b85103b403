//===- Size.cpp - sums and products of sizes ---------------------------------===//
#include "runtime/size/Size.h"

#include <algorithm>

using namespace dlc::size;

namespace {
constexpr char kOverflow[] = "a coefficient exceeds 64 bits";
constexpr char kTooLarge[] = "the expression exceeds a limit of its length or depth";

int compareSymbols(const Symbol &a, const Symbol &b) {
  if (int order = a.name.compare(b.name))
    return order;
  const int64_t none = INT64_MAX; // a maximum is less
  const int64_t left[] = {a.minimum, a.maximum.value_or(none), a.divisor, a.nominal};
  const int64_t right[] = {b.minimum, b.maximum.value_or(none), b.divisor, b.nominal};
  for (int i = 0; i < 4; ++i)
    if (left[i] != right[i])
      return left[i] < right[i] ? -1 : 1;
  return 0;
}

int compareAtoms(const Atom &a, const Atom &b) {
  if (a.kind != b.kind)
    return a.kind < b.kind ? -1 : 1;
  if (a.operands.size() != b.operands.size())
    return a.operands.size() < b.operands.size() ? -1 : 1;
  for (size_t i = 0; i < a.operands.size(); ++i)
    if (int order = compareStructure(a.operands[i], b.operands[i]))
      return order;
  return 0;
}

unsigned computeDegree(const Monomial &monomial) {
  unsigned degree = 0;
  for (const Factor &factor : monomial)
    degree += factor.power;
  return degree;
}

Monomial multiply(const Monomial &a, const Monomial &b) {
  Monomial result;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() || y != b.end()) {
    const int order = x == a.end() ? 1 : y == b.end() ? -1 : compareStructure(*x, *y);
    result.push_back(order <= 0 ? *x : *y);
    if (order == 0)
      result.back().power += y->power;
    x += order <= 0;
    y += order >= 0;
  }
  return result;
}
} // namespace

int dlc::size::compareStructure(const Factor &a, const Factor &b) {
  if (!a.symbol != !b.symbol)
    return a.symbol ? -1 : 1;
  if (a.symbol)
    return a.symbol == b.symbol ? 0 : compareSymbols(*a.symbol, *b.symbol);
  return a.atom == b.atom ? 0 : compareAtoms(*a.atom, *b.atom);
}

// Orders by decreasing degree, then lexicographically. Multiplying both products by a third one
// does not change their order, as the division of polynomials requires.
int dlc::size::compareStructure(const Monomial &a, const Monomial &b) {
  const unsigned left = computeDegree(a), right = computeDegree(b);
  if (left != right)
    return left > right ? -1 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (int order = compareStructure(a[i], b[i]))
      return order;
    if (a[i].power != b[i].power)
      return a[i].power > b[i].power ? -1 : 1;
  }
  return 0; // equal degrees, so that neither has further factors
}

int dlc::size::compareStructure(const Size &a, const Size &b) {
  const std::vector<Term> &x = a.terms(), &y = b.terms();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (int order = compareStructure(x[i].monomial, y[i].monomial))
      return order;
    if (int order = Rational::compare(x[i].coefficient, y[i].coefficient))
      return order;
  }
  return x.size() == y.size() ? 0 : x.size() < y.size() ? -1 : 1;
}

Size::Size(Rational constant) : sum{{constant, {}}} { normalize(); }
Size::Size(std::shared_ptr<const Atom> atom) : sum{{1, {Factor{nullptr, std::move(atom)}}}} {
  normalize();
}
Size::Size(std::vector<Term> terms) : sum(std::move(terms)) { normalize(); }

Size::Size(SymbolRef symbol) {
  const bool isFixed = symbol->maximum && *symbol->maximum == symbol->minimum;
  sum.push_back(isFixed ? Term{symbol->minimum, {}}
                        : Term{1, {Factor{std::move(symbol), nullptr}}});
  normalize();
}

Size Size::invalid(const char *reason) {
  Size result;
  result.why = reason;
  return result;
}

void Size::normalize() {
  std::stable_sort(sum.begin(), sum.end(), [](const Term &a, const Term &b) {
    return compareStructure(a.monomial, b.monomial) < 0;
  });
  std::vector<Term> merged;
  for (Term &term : sum) {
    if (!merged.empty() && compareStructure(merged.back().monomial, term.monomial) == 0)
      merged.back().coefficient = merged.back().coefficient + term.coefficient;
    else
      merged.push_back(std::move(term));
  }
  std::erase_if(merged, [](const Term &term) { return term.coefficient.isZero(); });
  sum = std::move(merged);
  bool isLarge = sum.size() > kMaxTerms;
  for (const Term &term : sum) {
    if (!term.coefficient.isValid())
      why = kOverflow;
    isLarge |= computeDegree(term.monomial) > kMaxDegree;
    ++count;
    for (const Factor &factor : term.monomial) {
      ++count;
      if (!factor.atom)
        continue;
      for (const Size &operand : factor.atom->operands) {
        count += operand.nodes();
        levels = std::max(levels, operand.depth() + 1);
      }
    }
  }
  if (!why && (isLarge || count > kMaxNodes || levels > kMaxDepth))
    why = kTooLarge;
  if (why) {
    sum.clear();
    levels = count = 0;
  }
}

std::optional<Rational> Size::rational() const {
  if (!isValid() || sum.size() > 1 || (!sum.empty() && !sum[0].monomial.empty()))
    return std::nullopt;
  return sum.empty() ? Rational(0) : sum[0].coefficient;
}

std::optional<int64_t> Size::constant() const {
  std::optional<Rational> value = rational();
  if (!value || !value->isInteger())
    return std::nullopt;
  return value->numerator();
}

Size Size::scaled(Rational factor) const {
  if (!isValid())
    return *this;
  std::vector<Term> terms = sum;
  for (Term &term : terms)
    term.coefficient = term.coefficient * factor;
  return Size(std::move(terms));
}

namespace dlc::size {
Size operator+(const Size &a, const Size &b) {
  if (!a.isValid() || !b.isValid())
    return a.isValid() ? b : a;
  std::vector<Term> terms = a.sum;
  terms.insert(terms.end(), b.sum.begin(), b.sum.end());
  return Size(std::move(terms));
}

Size operator-(const Size &a, const Size &b) { return a + b.scaled(-1); }

Size operator*(const Size &a, const Size &b) {
  if (!a.isValid() || !b.isValid())
    return a.isValid() ? b : a;
  std::vector<Term> terms;
  for (const Term &x : a.sum)
    for (const Term &y : b.sum)
      terms.push_back({x.coefficient * y.coefficient, multiply(x.monomial, y.monomial)});
  return Size(std::move(terms));
}

bool operator==(const Size &a, const Size &b) {
  return a.isValid() && b.isValid() && compareStructure(a, b) == 0;
}
} // namespace dlc::size
