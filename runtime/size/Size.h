//===- Size.h - sizes as expressions over symbols, in a normal form ----------===//
//
// A size is a sum of products of symbols and atoms with rational coefficients. Atoms are rounded
// quotients, minima and maxima of sizes. Every operation returns the normal form: products are
// expanded, terms are sorted, and atoms that the ranges and divisors of symbols decide are
// replaced. Two sizes whose normal forms are identical have equal values for all values of the
// symbols.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SIZE_SIZE_H
#define DLC_RUNTIME_SIZE_SIZE_H

#include "runtime/size/Rational.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::size {

/// Named size that is known when a program runs: a multiple of `divisor` within a range.
struct Symbol {
  std::string name;
  int64_t minimum = 1;
  std::optional<int64_t> maximum; ///< absent if there is no maximum
  int64_t divisor = 1;
  int64_t nominal = 64; ///< value for which the compiler optimizes, such as in cost estimates

  bool operator==(const Symbol &) const = default;
};
using SymbolRef = std::shared_ptr<const Symbol>;

struct Atom;

/// Power of a symbol or of an atom: exactly one of the two is set.
struct Factor {
  SymbolRef symbol;
  std::shared_ptr<const Atom> atom;
  unsigned power = 1;
};
/// Product of factors, sorted, each symbol or atom once. Empty: 1.
using Monomial = std::vector<Factor>;
struct Term {
  Rational coefficient;
  Monomial monomial;
};
/// Bounds of a value, inclusive. An absent bound is infinite or not known.
struct Interval {
  std::optional<Rational> low, high;
};

/// Limits of an expression. An operation whose result exceeds them returns an invalid size.
constexpr unsigned kMaxTerms = 64, kMaxNodes = 512, kMaxDepth = 8, kMaxDegree = 8,
                   kMaxOperands = 16;

class Size {
public:
  Size(int64_t constant = 0) : Size(Rational(constant)) {}
  explicit Size(Rational constant);
  explicit Size(SymbolRef symbol);
  explicit Size(std::shared_ptr<const Atom> atom);
  /// Sums the terms, in any order.
  explicit Size(std::vector<Term> terms);

  /// Returns whether the size is defined. An overflow, a division by a size that may be 0, and an
  /// exceeded limit make a size invalid. An invalid size equals no size, not even itself.
  bool isValid() const { return !why; }
  /// Returns the reason why the size is invalid, or null.
  const char *reason() const { return why; }
  static Size invalid(const char *reason);

  /// Returns the terms, sorted by decreasing degree.
  const std::vector<Term> &terms() const { return sum; }
  /// Returns the value if the size has no symbols, or nullopt.
  std::optional<Rational> rational() const;
  /// Returns the value if the size is an integer without symbols, or nullopt.
  std::optional<int64_t> constant() const;
  /// Returns the nesting depth of atoms: 0 for a polynomial over symbols.
  unsigned depth() const { return levels; }
  /// Returns the number of terms and factors, including those in operands of atoms.
  unsigned nodes() const { return count; }

  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  Size scaled(Rational factor) const;
  /// Returns whether the normal forms are identical.
  friend bool operator==(const Size &a, const Size &b);

private:
  void normalize();

  std::vector<Term> sum;
  const char *why = nullptr;
  unsigned levels = 0, count = 0;
};

/// Part of a size that is not a polynomial. Its value is an integer multiple of `unit`.
struct Atom {
  enum Kind {
    Floor,    ///< the one operand, rounded down
    Quotient, ///< the first operand divided by the second, which is positive, rounded down
    Min,
    Max
  };
  Kind kind = Floor;
  std::vector<Size> operands;
  Interval bounds{};
  Rational unit = 1;
};

/// `floorDiv` rounds down, and `ceilDiv` rounds up. The result is invalid unless the divisor is a
/// constant other than 0, or is positive for all values of the symbols.
Size floorDiv(const Size &a, const Size &b);
Size ceilDiv(const Size &a, const Size &b);
/// Returns a - b * floorDiv(a, b).
Size mod(const Size &a, const Size &b);
Size min(const Size &a, const Size &b);
Size max(const Size &a, const Size &b);
/// Returns the integer size `q` with `a` = `q` * `b`, or nullopt if none is found.
std::optional<Size> divideExact(const Size &a, const Size &b);

/// Returns a fraction of which all values of the size are integer multiples: the largest one that
/// is derived from the coefficients and the divisors of symbols. It is 0 for the size 0.
Rational computeUnit(const Size &a);

/// Compare symbols or atoms, products, and sizes in a total order of their structure. The result is
/// negative if `a` precedes `b`, 0 if both are identical, and positive if `a` follows `b`.
int compareStructure(const Factor &a, const Factor &b);
int compareStructure(const Monomial &a, const Monomial &b);
int compareStructure(const Size &a, const Size &b);

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_SIZE_H
