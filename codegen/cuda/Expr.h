//===- Expr.h - integer expressions of a kernel's indices ------------------===//
//
// Sums of variables, quotients and remainders with known ranges. Division and remainder are for
// values that are not negative where they are used; they simplify by ranges and divisibility, so
// that an index taken apart and put together again is the index.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CUDA_EXPR_H
#define DLC_CODEGEN_CUDA_EXPR_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace dlc::cuda {

struct Atom;

/// A constant plus atoms times coefficients; atoms in the order in which they were made.
struct Expr {
  Expr(int64_t constant = 0) : constant(constant) {}

  int64_t constant = 0;
  llvm::SmallVector<std::pair<const Atom *, int64_t>, 4> terms;

  bool isConstant() const { return terms.empty(); }
  /// The range, both ends included.
  int64_t low() const;
  int64_t high() const;
  /// The coefficient of an atom that stands by itself.
  int64_t coefficient(const Atom *atom) const;
  /// Whether the atom stands anywhere, quotients and remainders included.
  bool uses(const Atom *atom) const;
  /// As C++ text; `paren` puts it in parentheses where it is more than one word.
  std::string text(bool paren = false) const;
};

struct Atom {
  enum Kind { Variable, Quotient, Remainder } kind = Variable;
  std::string name; ///< of a variable
  Expr inner;       ///< what is divided, by `by`
  int64_t by = 1;
  int64_t low = 0, high = 0;
  unsigned order = 0;
  unsigned depth = 0; ///< how many scopes of the kernel's text a variable stands in
};

Expr operator+(const Expr &a, const Expr &b);
Expr operator-(const Expr &a, const Expr &b);
Expr operator*(const Expr &a, int64_t factor);
inline bool operator==(const Expr &a, const Expr &b) {
  return a.constant == b.constant && a.terms == b.terms;
}

/// Makes atoms, the same one for the same meaning.
class ExprContext {
public:
  Expr variable(const std::string &name, int64_t low, int64_t high, unsigned depth = 0);
  Expr divide(const Expr &e, int64_t by);
  Expr remainder(const Expr &e, int64_t by);
  /// a + b, joining what division took apart.
  Expr add(const Expr &a, const Expr &b);

private:
  const Atom *intern(Atom atom);
  std::map<std::string, std::unique_ptr<Atom>> atoms;
};

/// The deepest scope that a variable of the expression stands in, one atom left out.
unsigned depthOf(const Expr &e, const Atom *without = nullptr);

} // namespace dlc::cuda
#endif
