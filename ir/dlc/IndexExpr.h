//===- IndexExpr.h - integer expressions of indices, with ranges -----------===//
//
// Sums of variables, quotients, remainders and extrema with known ranges. Division and remainder
// are for values that are not negative where they are used; they simplify by ranges and
// divisibility, so that an index taken apart and put together again is the index.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_INDEXEXPR_H
#define DLC_IR_DLC_INDEXEXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace dlc {

struct IndexAtom;

/// A constant plus atoms times coefficients; atoms in the order in which they were made.
struct IndexExpr {
  IndexExpr(int64_t constant = 0) : constant(constant) {}

  int64_t constant = 0;
  llvm::SmallVector<std::pair<const IndexAtom *, int64_t>, 4> terms;

  bool isConstant() const { return terms.empty(); }
  /// The range, both ends included.
  int64_t low() const;
  int64_t high() const;
  bool isWithin(int64_t size) const { return low() >= 0 && high() < size; }
  /// The coefficient of an atom that stands by itself.
  int64_t coefficient(const IndexAtom *atom) const;
  /// Whether the atom stands anywhere, quotients and remainders included.
  bool uses(const IndexAtom *atom) const;
  /// As C++ text; `paren` puts it in parentheses where it is more than one word.
  std::string text(bool paren = false) const;
};

/// Where an element stands: an expression for each dimension.
using Coordinates = llvm::SmallVector<IndexExpr, 6>;

struct IndexAtom {
  enum Kind { Variable, Quotient, Remainder, Least, Greatest } kind = Variable;
  std::string name; ///< of a variable
  IndexExpr inner;  ///< what is divided, or the first of two
  IndexExpr other;  ///< the divisor, or the second of two
  int64_t low = 0, high = 0;
  unsigned order = 0;
  unsigned depth = 0; ///< of the scope that a variable belongs to
};

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator-(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator*(const IndexExpr &a, int64_t factor);
inline bool operator==(const IndexExpr &a, const IndexExpr &b) {
  return a.constant == b.constant && a.terms == b.terms;
}

/// Makes atoms, the same one for the same meaning.
class IndexContext {
public:
  IndexExpr variable(const std::string &name, int64_t low, int64_t high, unsigned depth = 0);
  /// A variable for each dimension: `prefix`0, `prefix`1, ... One of a single element is 0, unless
  /// `units` says to keep it apart.
  Coordinates variables(const std::string &prefix, llvm::ArrayRef<int64_t> shape,
                        bool units = false);
  IndexExpr divide(const IndexExpr &e, int64_t by);
  IndexExpr remainder(const IndexExpr &e, int64_t by);
  IndexExpr least(const IndexExpr &a, const IndexExpr &b);
  IndexExpr greatest(const IndexExpr &a, const IndexExpr &b);
  /// a + b, joining what division took apart.
  IndexExpr add(const IndexExpr &a, const IndexExpr &b);
  /// Whether it joins two remainders to that by a product, too.
  bool joinsRemainders = false;

  /// The offset of an element in a row-major tensor.
  IndexExpr linear(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<IndexExpr> at);
  /// The coordinates of element `offset` of a row-major shape.
  Coordinates unravel(llvm::ArrayRef<int64_t> shape, const IndexExpr &offset);
  /// The coordinates in shape `to` of the element that stands at `at` in shape `from`.
  Coordinates reshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                      llvm::ArrayRef<IndexExpr> at);

private:
  IndexExpr make(IndexAtom atom);
  std::map<std::string, std::unique_ptr<IndexAtom>> atoms;
};

/// The deepest scope that a variable of the expression stands in, one atom left out.
unsigned depthOf(const IndexExpr &e, const IndexAtom *without = nullptr);

/// Where what is stretched by NumPy's rule is read for the element at `at`.
template <typename T>
llvm::SmallVector<T, 6> broadcastIndex(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<T> at,
                                       const T &zero) {
  llvm::SmallVector<T, 6> result;
  for (auto [size, i] : llvm::zip(shape, at.take_back(shape.size())))
    result.push_back(size == 1 ? zero : i);
  return result;
}

} // namespace dlc
#endif // DLC_IR_DLC_INDEXEXPR_H
