//===- Rational.cpp - fractions of 64-bit integers, checked for overflow ----===//
#include "runtime/size/Rational.h"

#include <numeric>

using namespace dlc::size;

Rational Rational::ratio(int64_t numerator, int64_t denominator) {
  Rational result;
  result.den = 0;
  if (denominator == 0 || numerator == INT64_MIN || denominator == INT64_MIN)
    return result;
  const int64_t common = std::gcd(numerator, denominator);
  result.num = numerator / common;
  result.den = denominator / common;
  if (result.den < 0) {
    result.num = -result.num;
    result.den = -result.den;
  }
  return result;
}

Rational Rational::floor() const {
  if (den <= 1)
    return *this;
  return num / den - (num < 0);
}

Rational Rational::operator-() const {
  Rational result = *this;
  result.num = -num;
  return result;
}

namespace dlc::size {
Rational operator+(Rational a, Rational b) {
  if (!a.isValid() || !b.isValid())
    return Rational::invalid();
  const int64_t common = std::gcd(a.den, b.den);
  int64_t left, right, sum, den;
  if (__builtin_mul_overflow(a.num, b.den / common, &left) ||
      __builtin_mul_overflow(b.num, a.den / common, &right) ||
      __builtin_add_overflow(left, right, &sum) ||
      __builtin_mul_overflow(a.den, b.den / common, &den))
    return Rational::invalid();
  return Rational::ratio(sum, den);
}

Rational operator*(Rational a, Rational b) {
  if (!a.isValid() || !b.isValid())
    return Rational::invalid();
  // Reduces across the factors first, so that only results that do not fit overflow.
  const Rational left = Rational::ratio(a.num, b.den), right = Rational::ratio(b.num, a.den);
  int64_t num, den;
  if (__builtin_mul_overflow(left.num, right.num, &num) ||
      __builtin_mul_overflow(left.den, right.den, &den))
    return Rational::invalid();
  return Rational::ratio(num, den);
}

Rational operator/(Rational a, Rational b) {
  return b.isValid() ? a * Rational::ratio(b.den, b.num) : b;
}
} // namespace dlc::size

int Rational::compare(Rational a, Rational b) {
  const __int128 left = __int128(a.num) * b.den, right = __int128(b.num) * a.den;
  return (left > right) - (left < right);
}

Rational Rational::gcd(Rational a, Rational b) {
  if (!a.isValid() || !b.isValid())
    return invalid();
  const int64_t num = std::gcd(a.num, b.num);
  int64_t den;
  if (__builtin_mul_overflow(a.den, b.den / std::gcd(a.den, b.den), &den))
    return invalid();
  return ratio(num, den);
}
