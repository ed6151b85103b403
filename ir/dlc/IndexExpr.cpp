//===- IndexExpr.cpp - integer expressions of indices, with ranges ---------===//
#include "ir/dlc/IndexExpr.h"

#include <algorithm>
#include <numeric>

using llvm::ArrayRef;

namespace dlc {

int64_t IndexExpr::low() const {
  int64_t result = constant;
  for (auto [atom, c] : terms)
    result += c * (c > 0 ? atom->low : atom->high);
  return result;
}

int64_t IndexExpr::high() const {
  int64_t result = constant;
  for (auto [atom, c] : terms)
    result += c * (c > 0 ? atom->high : atom->low);
  return result;
}

int64_t IndexExpr::coefficient(const IndexAtom *atom) const {
  for (auto [a, c] : terms)
    if (a == atom)
      return c;
  return 0;
}

bool IndexExpr::uses(const IndexAtom *atom) const {
  return llvm::any_of(terms, [&](auto term) {
    return term.first == atom || term.first->inner.uses(atom) || term.first->other.uses(atom);
  });
}

static std::string formatAtom(const IndexAtom &atom) {
  if (atom.kind == IndexAtom::Variable)
    return atom.name;
  std::string inner = atom.inner.text(true), other = atom.other.text(true);
  const char *sign = atom.kind == IndexAtom::Quotient    ? " / "
                     : atom.kind == IndexAtom::Remainder ? " % "
                     : atom.kind == IndexAtom::Least     ? " < "
                                                         : " > ";
  bool chosen = atom.kind == IndexAtom::Least || atom.kind == IndexAtom::Greatest;
  return "(" + inner + sign + other + (chosen ? " ? " + inner + " : " + other : "") + ")";
}

std::string IndexExpr::text(bool paren) const {
  std::string result;
  auto join = [&](bool negative, const std::string &part) {
    if (result.empty())
      result = (negative ? "-" : "") + part;
    else
      result += (negative ? " - " : " + ") + part;
  };
  for (auto [atom, c] : terms) {
    int64_t size = c < 0 ? -c : c;
    join(c < 0, size == 1 ? formatAtom(*atom) : formatAtom(*atom) + " * " + std::to_string(size));
  }
  if (constant != 0 || terms.empty())
    join(constant < 0, std::to_string(constant < 0 ? -constant : constant));
  bool word =
      terms.size() + (constant != 0) <= 1 && (terms.empty() ? constant >= 0 : terms[0].second == 1);
  return paren && !word ? "(" + result + ")" : result;
}

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b) {
  IndexExpr sum = a;
  sum.constant += b.constant;
  for (auto term : b.terms) {
    auto *at =
        llvm::find_if(sum.terms, [&](auto &t) { return t.first->order >= term.first->order; });
    if (at == sum.terms.end() || at->first != term.first)
      sum.terms.insert(at, term);
    else if ((at->second += term.second) == 0)
      sum.terms.erase(at);
  }
  return sum;
}

IndexExpr operator*(const IndexExpr &a, int64_t factor) {
  if (factor == 0)
    return 0;
  IndexExpr result = a;
  result.constant *= factor;
  for (auto &term : result.terms)
    term.second *= factor;
  return result;
}

IndexExpr operator-(const IndexExpr &a, const IndexExpr &b) { return a + b * -1; }

static IndexExpr makeSingleTerm(const IndexAtom *atom) {
  IndexExpr e;
  e.terms.push_back({atom, 1});
  return e;
}

IndexExpr IndexContext::make(IndexAtom atom) {
  auto &slot = atoms[formatAtom(atom)];
  if (!slot) {
    atom.order = atoms.size();
    slot = std::make_unique<IndexAtom>(std::move(atom));
  }
  return makeSingleTerm(slot.get());
}

IndexExpr IndexContext::variable(const std::string &name, int64_t low, int64_t high,
                                 unsigned depth) {
  if (low == high)
    return low;
  IndexAtom atom;
  atom.name = name;
  atom.low = low;
  atom.high = high;
  atom.depth = depth;
  return make(std::move(atom));
}

Coordinates IndexContext::variables(const std::string &prefix, ArrayRef<int64_t> shape,
                                    bool units) {
  Coordinates result;
  for (auto [d, size] : llvm::enumerate(shape)) {
    IndexAtom atom;
    atom.name = prefix + std::to_string(d);
    atom.high = std::max<int64_t>(size, 1) - 1;
    result.push_back(atom.high == 0 && !units ? IndexExpr() : make(std::move(atom)));
  }
  return result;
}

/// Splits `e` into the sum of the terms whose coefficients are multiples of `by`, and the sum of
/// the other terms.
static std::pair<IndexExpr, IndexExpr> splitMultiples(const IndexExpr &e, int64_t by) {
  IndexExpr whole, rest;
  int64_t low = e.constant % by;
  if (low < 0)
    low += by;
  whole.constant = e.constant - low;
  rest.constant = low;
  for (auto term : e.terms)
    (term.second % by == 0 ? whole : rest).terms.push_back(term);
  return {whole, rest};
}

static IndexExpr divideExactly(const IndexExpr &e, int64_t by) {
  IndexExpr result = e;
  result.constant /= by;
  for (auto &term : result.terms)
    term.second /= by;
  return result;
}

/// Returns the largest divisor g of `by` such that the terms of `e` that are not multiples of g
/// have a sum in [0, g).
static int64_t findCommonDivisor(const IndexExpr &e, int64_t by) {
  int64_t best = 1;
  llvm::SmallVector<int64_t, 4> candidates;
  for (auto [atom, c] : e.terms)
    candidates.push_back(std::gcd(c < 0 ? -c : c, by));
  for (int64_t g : candidates) {
    if (g <= best)
      continue;
    auto [whole, rest] = splitMultiples(e, g);
    if (rest.low() >= 0 && rest.high() < g)
      best = g;
  }
  return best;
}

IndexExpr IndexContext::divide(const IndexExpr &e, int64_t by) {
  if (by == 1)
    return e;
  auto [whole, rest] = splitMultiples(e, by);
  if (rest.low() >= 0 && rest.high() < by)
    return divideExactly(whole, by);
  if (!whole.terms.empty() || whole.constant != 0)
    if (rest.low() >= 0)
      return add(divideExactly(whole, by), divide(rest, by));
  if (int64_t g = findCommonDivisor(e, by); g > 1)
    return divide(divideExactly(splitMultiples(e, g).first, g), by / g);
  // Merges nested divisions: (x / a) / b = x / (a * b).
  if (e.terms.size() == 1 && e.constant == 0 && e.terms[0].second == 1 &&
      e.terms[0].first->kind == IndexAtom::Quotient)
    return divide(e.terms[0].first->inner, e.terms[0].first->other.constant * by);
  IndexAtom atom;
  atom.kind = IndexAtom::Quotient;
  atom.inner = e;
  atom.other = by;
  atom.low = e.low() / by;
  atom.high = std::max<int64_t>(0, e.high() / by);
  return make(std::move(atom));
}

IndexExpr IndexContext::remainder(const IndexExpr &e, int64_t by) {
  if (by == 1)
    return 0;
  auto [whole, rest] = splitMultiples(e, by);
  if (rest.low() >= 0 && rest.high() < by)
    return rest;
  if ((!whole.terms.empty() || whole.constant != 0) && rest.low() >= 0)
    return remainder(rest, by);
  if (int64_t g = findCommonDivisor(e, by); g > 1) {
    auto [parts, small] = splitMultiples(e, g);
    return add(remainder(divideExactly(parts, g), by / g) * g, small);
  }
  IndexAtom atom;
  atom.kind = IndexAtom::Remainder;
  atom.inner = e;
  atom.other = by;
  atom.low = 0;
  atom.high = std::min(by - 1, std::max<int64_t>(0, e.high()));
  return make(std::move(atom));
}

IndexExpr IndexContext::least(const IndexExpr &a, const IndexExpr &b) {
  if (a.high() <= b.low())
    return a;
  if (b.high() <= a.low())
    return b;
  IndexAtom atom;
  atom.kind = IndexAtom::Least;
  atom.inner = a, atom.other = b;
  atom.low = std::min(a.low(), b.low());
  atom.high = std::min(a.high(), b.high());
  // If a + b is constant, min(a, b) is at most half of the sum.
  if (IndexExpr sum = a + b; sum.isConstant())
    atom.high = std::min(atom.high, sum.constant / 2);
  return make(std::move(atom));
}

IndexExpr IndexContext::greatest(const IndexExpr &a, const IndexExpr &b) {
  if (a.low() >= b.high())
    return a;
  if (b.low() >= a.high())
    return b;
  IndexAtom atom;
  atom.kind = IndexAtom::Greatest;
  atom.inner = a, atom.other = b;
  atom.low = std::max(a.low(), b.low());
  atom.high = std::max(a.high(), b.high());
  return make(std::move(atom));
}

IndexExpr IndexContext::add(const IndexExpr &a, const IndexExpr &b) {
  IndexExpr sum = a + b;
  // Merges quotient and remainder: c * n * (e / n) + c * (e % n) = c * e.
  for (auto [atom, c] : sum.terms) {
    if (atom->kind != IndexAtom::Remainder)
      continue;
    IndexExpr quotient = divide(atom->inner, atom->other.constant);
    if (quotient.terms.size() != 1 || quotient.constant != 0 || quotient.terms[0].second != 1)
      continue;
    int64_t found = sum.coefficient(quotient.terms[0].first);
    if (found != c * atom->other.constant)
      continue;
    IndexExpr rest = sum - makeSingleTerm(atom) * c - quotient * found;
    return add(rest, atom->inner * c);
  }
  // Merges two remainders: c * n * ((e / n) % m) + c * (e % n) = c * (e % (n * m)).
  for (auto [atom, c] : sum.terms) {
    if (!joinsRemainders || atom->kind != IndexAtom::Remainder)
      continue;
    int64_t by = atom->other.constant;
    IndexExpr quotient = divide(atom->inner, by);
    for (auto [outer, found] : sum.terms)
      if (outer->kind == IndexAtom::Remainder && found == c * by && outer->inner == quotient) {
        IndexExpr rest = sum - makeSingleTerm(atom) * c - makeSingleTerm(outer) * found;
        return add(rest, remainder(atom->inner, by * outer->other.constant) * c);
      }
  }
  return sum;
}

IndexExpr IndexContext::linear(ArrayRef<int64_t> shape, ArrayRef<IndexExpr> at) {
  IndexExpr sum;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    if (shape[d] != 1)
      sum = add(sum, at[d] * stride);
  return sum;
}

Coordinates IndexContext::unravel(ArrayRef<int64_t> shape, const IndexExpr &offset) {
  Coordinates at(shape.size());
  IndexExpr rest = offset;
  int64_t outer = 1;
  for (int64_t size : shape)
    outer *= size;
  for (size_t d = shape.size(); d-- > 0;) {
    outer /= std::max<int64_t>(1, shape[d]);
    if (shape[d] == 1)
      continue;
    at[d] = outer == 1 ? rest : remainder(rest, shape[d]);
    rest = divide(rest, shape[d]);
  }
  return at;
}

Coordinates IndexContext::reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                  ArrayRef<IndexExpr> at) {
  Coordinates result(to.size());
  // Equal leading dimensions of both shapes keep their coordinates, and so do equal trailing
  // dimensions.
  size_t front = 0, back = 0;
  while (front < from.size() && front < to.size() && from[front] == to[front])
    result[front] = at[front], ++front;
  while (back < from.size() - front && back < to.size() - front &&
         from[from.size() - 1 - back] == to[to.size() - 1 - back])
    result[to.size() - 1 - back] = at[from.size() - 1 - back], ++back;
  IndexExpr offset =
      linear(from.drop_front(front).drop_back(back), at.drop_front(front).drop_back(back));
  Coordinates taken = unravel(to.drop_front(front).drop_back(back), offset);
  std::copy(taken.begin(), taken.end(), result.begin() + front);
  return result;
}

unsigned computeDepth(const IndexExpr &e, const IndexAtom *without) {
  unsigned depth = 0;
  for (auto [atom, c] : e.terms)
    if (atom != without)
      depth = std::max(depth, atom->kind == IndexAtom::Variable
                                  ? atom->depth
                                  : std::max(computeDepth(atom->inner, without),
                                             computeDepth(atom->other, without)));
  return depth;
}

} // namespace dlc
