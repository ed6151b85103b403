//===- IndexExpr.h - integer expressions of indices, with ranges -----------===//
//
// Sums of variables, quotients, remainders, minima and maxima with known value ranges. Divisions
// and remainders require non-negative dividends. They are simplified by ranges and divisibility, so
// that an index that is unraveled and linearized again becomes the original index.
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

/// Affine index expression: a constant plus atoms (variables, quotients, ..) multiplied by
/// coefficients. The atoms are sorted by the order of their creation.
struct IndexExpr {
  IndexExpr(int64_t constant = 0) : constant(constant) {}

  int64_t constant = 0;
  llvm::SmallVector<std::pair<const IndexAtom *, int64_t>, 4> terms;

  bool isConstant() const { return terms.empty(); }
  /// Returns the lower bound of the expression's value (inclusive); high() returns the upper bound
  /// (inclusive).
  int64_t low() const;
  int64_t high() const;
  bool isWithin(int64_t size) const { return low() >= 0 && high() < size; }
  /// Returns the coefficient of an atom that is a term of this sum, or 0.
  int64_t coefficient(const IndexAtom *atom) const;
  /// Returns whether the atom occurs in this expression or inside one of its quotients, remainders,
  /// minima or maxima.
  bool uses(const IndexAtom *atom) const;
  /// Returns the expression as C++ text. If `paren` is set, an expression of more than one token is
  /// parenthesized.
  std::string text(bool paren = false) const;
};

/// Coordinates of an element: one expression per dimension.
using Coordinates = llvm::SmallVector<IndexExpr, 6>;

struct IndexAtom {
  enum Kind { Variable, Quotient, Remainder, Least, Greatest } kind = Variable;
  std::string name; ///< name of a variable
  IndexExpr inner;  ///< dividend, or the first operand of a minimum or maximum
  IndexExpr other;  ///< divisor, or the second operand of a minimum or maximum
  int64_t low = 0, high = 0;
  unsigned order = 0;
  unsigned depth = 0; ///< nesting depth of the scope that defines a variable
};

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator-(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator*(const IndexExpr &a, int64_t factor);
inline bool operator==(const IndexExpr &a, const IndexExpr &b) {
  return a.constant == b.constant && a.terms == b.terms;
}

/// Creates atoms and uniques them: structurally equal atoms are one object, so that pointers can be
/// compared.
class IndexContext {
public:
  IndexExpr variable(const std::string &name, int64_t low, int64_t high, unsigned depth = 0);
  /// Returns one variable per dimension: `prefix`0, `prefix`1, ... For a dimension of size 1
  /// returns the constant 0, or a variable if `units` is set.
  Coordinates variables(const std::string &prefix, llvm::ArrayRef<int64_t> shape,
                        bool units = false);
  IndexExpr divide(const IndexExpr &e, int64_t by);
  IndexExpr remainder(const IndexExpr &e, int64_t by);
  IndexExpr least(const IndexExpr &a, const IndexExpr &b);
  IndexExpr greatest(const IndexExpr &a, const IndexExpr &b);
  /// Returns a + b. The quotient and the remainder of one expression are merged into that
  /// expression: n * (e / n) + e % n = e.
  IndexExpr add(const IndexExpr &a, const IndexExpr &b);
  /// Whether `add` also merges two remainders: n * ((e / n) % m) + e % n = e % (n * m).
  bool joinsRemainders = false;

  /// Returns the row-major offset of the element with coordinates `at` in a tensor of shape
  /// `shape`.
  IndexExpr linear(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<IndexExpr> at);
  /// Returns the coordinates of the element at row-major offset `offset` in a tensor of shape
  /// `shape`.
  Coordinates unravel(llvm::ArrayRef<int64_t> shape, const IndexExpr &offset);
  /// Returns the coordinates in shape `to` of the element with coordinates `at` in shape `from`.
  Coordinates reshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                      llvm::ArrayRef<IndexExpr> at);

private:
  IndexExpr make(IndexAtom atom);
  std::map<std::string, std::unique_ptr<IndexAtom>> atoms;
};

/// Returns the maximum scope depth of the variables in the expression, ignoring the atom `without`.
unsigned computeDepth(const IndexExpr &e, const IndexAtom *without = nullptr);

/// Returns the coordinates in an operand of `shape` that NumPy broadcasting reads for the element
/// at `at`.
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
