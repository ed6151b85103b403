//===- Expr.cpp - integer expressions of a kernel's indices ----------------===//
#include "codegen/cuda/Expr.h"

#include <algorithm>
#include <numeric>

namespace dlc::cuda {

int64_t Expr::low() const {
  int64_t result = constant;
  for (auto [atom, c] : terms)
    result += c * (c > 0 ? atom->low : atom->high);
  return result;
}

int64_t Expr::high() const {
  int64_t result = constant;
  for (auto [atom, c] : terms)
    result += c * (c > 0 ? atom->high : atom->low);
  return result;
}

int64_t Expr::coefficient(const Atom *atom) const {
  for (auto [a, c] : terms)
    if (a == atom)
      return c;
  return 0;
}

bool Expr::uses(const Atom *atom) const {
  return llvm::any_of(terms, [&](auto term) {
    return term.first == atom ||
           (term.first->kind != Atom::Variable && term.first->inner.uses(atom));
  });
}

static std::string textOf(const Atom &atom) {
  if (atom.kind == Atom::Variable)
    return atom.name;
  return "(" + atom.inner.text(true) + (atom.kind == Atom::Quotient ? " / " : " % ") +
         std::to_string(atom.by) + ")";
}

std::string Expr::text(bool paren) const {
  std::string result;
  auto join = [&](bool negative, const std::string &part) {
    if (result.empty())
      result = (negative ? "-" : "") + part;
    else
      result += (negative ? " - " : " + ") + part;
  };
  for (auto [atom, c] : terms) {
    int64_t size = c < 0 ? -c : c;
    join(c < 0, size == 1 ? textOf(*atom) : textOf(*atom) + " * " + std::to_string(size));
  }
  if (constant != 0 || terms.empty())
    join(constant < 0, std::to_string(constant < 0 ? -constant : constant));
  bool word =
      terms.size() + (constant != 0) <= 1 && (terms.empty() ? constant >= 0 : terms[0].second == 1);
  return paren && !word ? "(" + result + ")" : result;
}

Expr operator+(const Expr &a, const Expr &b) {
  Expr sum = a;
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

Expr operator*(const Expr &a, int64_t factor) {
  if (factor == 0)
    return 0;
  Expr result = a;
  result.constant *= factor;
  for (auto &term : result.terms)
    term.second *= factor;
  return result;
}

Expr operator-(const Expr &a, const Expr &b) { return a + b * -1; }

const Atom *ExprContext::intern(Atom atom) {
  auto &slot = atoms[textOf(atom)];
  if (!slot) {
    atom.order = atoms.size();
    slot = std::make_unique<Atom>(std::move(atom));
  }
  return slot.get();
}

static Expr single(const Atom *atom) {
  Expr e;
  e.terms.push_back({atom, 1});
  return e;
}

Expr ExprContext::variable(const std::string &name, int64_t low, int64_t high, unsigned depth) {
  if (low == high)
    return low;
  Atom atom;
  atom.name = name;
  atom.low = low;
  atom.high = high;
  atom.depth = depth;
  return single(intern(std::move(atom)));
}

/// The part of `e` whose coefficients `by` divides, and the rest.
static std::pair<Expr, Expr> splitBy(const Expr &e, int64_t by) {
  Expr whole, rest;
  int64_t low = e.constant % by;
  if (low < 0)
    low += by;
  whole.constant = e.constant - low;
  rest.constant = low;
  for (auto term : e.terms)
    (term.second % by == 0 ? whole : rest).terms.push_back(term);
  return {whole, rest};
}

static Expr exactly(const Expr &e, int64_t by) {
  Expr result = e;
  result.constant /= by;
  for (auto &term : result.terms)
    term.second /= by;
  return result;
}

/// The largest divisor of `by` such that what it does not divide of `e` stays below it.
static int64_t commonPart(const Expr &e, int64_t by) {
  int64_t best = 1;
  llvm::SmallVector<int64_t, 4> candidates;
  for (auto [atom, c] : e.terms)
    candidates.push_back(std::gcd(c < 0 ? -c : c, by));
  for (int64_t g : candidates) {
    if (g <= best)
      continue;
    auto [whole, rest] = splitBy(e, g);
    if (rest.low() >= 0 && rest.high() < g)
      best = g;
  }
  return best;
}

Expr ExprContext::divide(const Expr &e, int64_t by) {
  if (by == 1)
    return e;
  auto [whole, rest] = splitBy(e, by);
  if (rest.low() >= 0 && rest.high() < by)
    return exactly(whole, by);
  if (!whole.terms.empty() || whole.constant != 0)
    if (rest.low() >= 0)
      return add(exactly(whole, by), divide(rest, by));
  if (int64_t g = commonPart(e, by); g > 1)
    return divide(exactly(splitBy(e, g).first, g), by / g);
  // (x / a) / b = x / (a b)
  if (e.terms.size() == 1 && e.constant == 0 && e.terms[0].second == 1 &&
      e.terms[0].first->kind == Atom::Quotient)
    return divide(e.terms[0].first->inner, e.terms[0].first->by * by);
  Atom atom;
  atom.kind = Atom::Quotient;
  atom.inner = e;
  atom.by = by;
  atom.low = e.low() / by;
  atom.high = std::max<int64_t>(0, e.high() / by);
  return single(intern(std::move(atom)));
}

Expr ExprContext::remainder(const Expr &e, int64_t by) {
  if (by == 1)
    return 0;
  auto [whole, rest] = splitBy(e, by);
  if (rest.low() >= 0 && rest.high() < by)
    return rest;
  if ((!whole.terms.empty() || whole.constant != 0) && rest.low() >= 0)
    return remainder(rest, by);
  if (int64_t g = commonPart(e, by); g > 1) {
    auto [parts, small] = splitBy(e, g);
    return add(remainder(exactly(parts, g), by / g) * g, small);
  }
  Atom atom;
  atom.kind = Atom::Remainder;
  atom.inner = e;
  atom.by = by;
  atom.low = 0;
  atom.high = std::min(by - 1, std::max<int64_t>(0, e.high()));
  return single(intern(std::move(atom)));
}

Expr ExprContext::add(const Expr &a, const Expr &b) {
  Expr sum = a + b;
  // c * n * (e / n) + c * (e % n) = c * e
  for (auto [atom, c] : sum.terms) {
    if (atom->kind != Atom::Remainder)
      continue;
    Expr quotient = divide(atom->inner, atom->by);
    if (quotient.terms.size() != 1 || quotient.constant != 0 || quotient.terms[0].second != 1)
      continue;
    int64_t found = sum.coefficient(quotient.terms[0].first);
    if (found != c * atom->by)
      continue;
    Expr rest = sum - single(atom) * c - quotient * found;
    return add(rest, atom->inner * c);
  }
  return sum;
}

unsigned depthOf(const Expr &e, const Atom *without) {
  unsigned depth = 0;
  for (auto [atom, c] : e.terms)
    if (atom != without)
      depth = std::max(depth,
                       atom->kind == Atom::Variable ? atom->depth : depthOf(atom->inner, without));
  return depth;
}

} // namespace dlc::cuda
