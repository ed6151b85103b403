//===- Rational.h - fractions of 64-bit integers, checked for overflow ------===//
#ifndef DLC_RUNTIME_SIZE_RATIONAL_H
#define DLC_RUNTIME_SIZE_RATIONAL_H

#include <cstdint>

namespace dlc::size {

/// Fraction in lowest terms with a positive denominator. A result that does not fit, or a division
/// by zero, is invalid. Every operation on an invalid fraction returns an invalid one.
class Rational {
public:
  constexpr Rational(int64_t value = 0)
      : num(value == INT64_MIN ? 0 : value), den(value == INT64_MIN ? 0 : 1) {}
  static Rational ratio(int64_t numerator, int64_t denominator);
  static Rational invalid() { return ratio(1, 0); }

  bool isValid() const { return den != 0; }
  bool isInteger() const { return den == 1; }
  bool isZero() const { return den == 1 && num == 0; }
  int64_t numerator() const { return num; }
  int64_t denominator() const { return den; }
  /// Returns -1, 0 or 1.
  int sign() const { return (num > 0) - (num < 0); }
  /// Returns the largest integer that is not greater than the fraction.
  Rational floor() const;

  Rational operator-() const;
  friend Rational operator+(Rational a, Rational b);
  friend Rational operator-(Rational a, Rational b) { return a + -b; }
  friend Rational operator*(Rational a, Rational b);
  friend Rational operator/(Rational a, Rational b);
  /// Returns whether both fractions are valid and equal.
  friend bool operator==(Rational a, Rational b) {
    return a.den != 0 && a.num == b.num && a.den == b.den;
  }
  /// Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`. Both must be valid.
  static int compare(Rational a, Rational b);
  /// Returns the largest fraction of which both are integer multiples.
  static Rational gcd(Rational a, Rational b);

private:
  int64_t num, den;
};

inline bool operator<(Rational a, Rational b) { return Rational::compare(a, b) < 0; }
inline bool operator<=(Rational a, Rational b) { return Rational::compare(a, b) <= 0; }

} // namespace dlc::size

#endif // DLC_RUNTIME_SIZE_RATIONAL_H
