//===- ScalarLanes.h - one plain number as "lanes", to run math formulas without a compiler ---===//
#ifndef DLC_TEST_CODEGEN_SCALARLANES_H
#define DLC_TEST_CODEGEN_SCALARLANES_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace dlc::test {

/// T is float or double.
template <class T> struct Lane {
  T v;
};
/// I is int32_t or int64_t, with wrapping arithmetic.
template <class I> struct IntLane {
  I v;
};

struct Mask {
  bool v;
};

template <class T> using BitsOf = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T> Lane<T> like(Lane<T>, double c) { return {static_cast<T>(c)}; }
template <class T> Lane<T> operator+(Lane<T> a, Lane<T> b) { return {a.v + b.v}; }
template <class T> Lane<T> operator-(Lane<T> a, Lane<T> b) { return {a.v - b.v}; }
template <class T> Lane<T> operator*(Lane<T> a, Lane<T> b) { return {a.v * b.v}; }
template <class T> Lane<T> operator/(Lane<T> a, Lane<T> b) { return {a.v / b.v}; }
template <class T> Lane<T> operator-(Lane<T> a) { return {-a.v}; }
template <class T> Lane<T> operator+(Lane<T> a, double b) { return a + like(a, b); }
template <class T> Lane<T> operator-(Lane<T> a, double b) { return a - like(a, b); }
template <class T> Lane<T> operator*(Lane<T> a, double b) { return a * like(a, b); }
template <class T> Lane<T> operator+(double a, Lane<T> b) { return like(b, a) + b; }
template <class T> Lane<T> operator-(double a, Lane<T> b) { return like(b, a) - b; }
template <class T> Lane<T> operator/(double a, Lane<T> b) { return like(b, a) / b; }
template <class T> Mask operator<(Lane<T> a, double b) { return {a.v < static_cast<T>(b)}; }
template <class T> Mask operator>(Lane<T> a, double b) { return {a.v > static_cast<T>(b)}; }
template <class T> Mask equal(Lane<T> a, Lane<T> b) { return {a.v == b.v}; }
template <class T> Mask notEqual(Lane<T> a, Lane<T> b) { return {a.v != b.v}; }
inline Mask both(Mask a, Mask b) { return {a.v && b.v}; }
inline Mask either(Mask a, Mask b) { return {a.v || b.v}; }
template <class T> Lane<T> select(Mask m, Lane<T> a, Lane<T> b) { return {m.v ? a.v : b.v}; }

template <class T> Lane<T> fma(Lane<T> a, Lane<T> b, Lane<T> c) {
  if constexpr (sizeof(T) == 4)
    return {__builtin_fmaf(a.v, b.v, c.v)};
  else
    return {__builtin_fma(a.v, b.v, c.v)};
}
template <class T> Lane<T> abs(Lane<T> a) { return {std::fabs(a.v)}; }
template <class T> Lane<T> sqrt(Lane<T> a) { return {std::sqrt(a.v)}; }
template <class T> Lane<T> floor(Lane<T> a) { return {std::floor(a.v)}; }
template <class T> Lane<T> copysign(Lane<T> a, Lane<T> b) { return {std::copysign(a.v, b.v)}; }
inline Lane<double> widen(Lane<float> a) { return {a.v}; }
inline Lane<float> narrow(Lane<double> a) { return {static_cast<float>(a.v)}; }

template <class I> IntLane<I> wrap(std::make_unsigned_t<I> v) { return {static_cast<I>(v)}; }
template <class I> std::make_unsigned_t<I> plain(IntLane<I> v) {
  return static_cast<std::make_unsigned_t<I>>(v.v);
}
template <class T> IntLane<BitsOf<T>> bits(Lane<T> a) { return {std::bit_cast<BitsOf<T>>(a.v)}; }
template <class T> Lane<T> fromBits(IntLane<BitsOf<T>> i, Lane<T>) { return {std::bit_cast<T>(i.v)}; }
template <class T> Lane<T> toFloat(IntLane<BitsOf<T>> i, Lane<T>) { return {static_cast<T>(i.v)}; }
inline IntLane<int32_t> narrowInt(IntLane<int64_t> a) { return {static_cast<int32_t>(a.v)}; }
template <class I> IntLane<I> operator+(IntLane<I> a, IntLane<I> b) { return wrap<I>(plain(a) + plain(b)); }
template <class I> IntLane<I> operator-(IntLane<I> a, IntLane<I> b) { return wrap<I>(plain(a) - plain(b)); }
template <class I> IntLane<I> operator^(IntLane<I> a, IntLane<I> b) { return {a.v ^ b.v}; }
template <class I> IntLane<I> operator+(IntLane<I> a, int64_t b) { return a + IntLane<I>{static_cast<I>(b)}; }
template <class I> IntLane<I> operator-(IntLane<I> a, int64_t b) { return a - IntLane<I>{static_cast<I>(b)}; }
template <class I> IntLane<I> operator-(int64_t a, IntLane<I> b) { return IntLane<I>{static_cast<I>(a)} - b; }
template <class I> IntLane<I> operator&(IntLane<I> a, int64_t b) { return {static_cast<I>(a.v & b)}; }
template <class I> IntLane<I> operator|(IntLane<I> a, int64_t b) { return {static_cast<I>(a.v | b)}; }
template <class I> IntLane<I> shiftLeft(IntLane<I> a, int n) { return wrap<I>(plain(a) << n); }
template <class I> IntLane<I> shiftRight(IntLane<I> a, int n) { return wrap<I>(plain(a) >> n); }
template <class I> IntLane<I> shiftRightSigned(IntLane<I> a, int n) { return {a.v >> n}; }
template <class I> Mask isZero(IntLane<I> a) { return {a.v == 0}; }

} // namespace dlc::test

#endif // DLC_TEST_CODEGEN_SCALARLANES_H
