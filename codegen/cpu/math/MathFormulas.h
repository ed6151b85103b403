//===- MathFormulas.h - f32 and f64 functions as polynomials over any lane type ---===//
//
// Math functions as formulas without branches. Each formula is a template over a type `V` of vector
// lanes. Code generation instantiates it with MLIR values. Tests can instantiate it with plain
// numbers to check every float without compiling code.
//
// The polynomials are minimax fits over the interval that is given next to them; hexadecimal
// literals are rounded coefficients. `wide` formulas are computed in f64 and are accurate to about
// 40 bits, which is enough for correct rounding to f32 except for near-ties.
//===------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_MATH_MATHFORMULAS_H
#define DLC_CODEGEN_CPU_MATH_MATHFORMULAS_H

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

namespace dlc::cpu::formulas {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
/// ln 2 as a sum of two f32 numbers (Cody-Waite). The first number ends in zero bits, so that its
/// product with an exponent is exact.
inline constexpr double kLn2Hi = 0x1.62e400p-1, kLn2Lo = 0x1.7f7d1cf79abcap-20;
/// ln 2 and pi / 2, each as a sum of two f64 numbers (Cody-Waite).
inline constexpr double kLn2WideHi = 0x1.62e42fefa39efp-1, kLn2WideLo = 0x1.abc9e3b39803fp-56;
inline constexpr double kHalfPiHi = 0x1.921fb54442d18p+0, kHalfPiLo = 0x1.1a62633145c07p-54;
/// Constants 1.5 * 2^(mantissa bits) of f32 and f64, which round by addition: after x + kRounder,
/// the low bits of the sum hold the nearest integer of x.
inline constexpr double kRounder = 0x1.8p+23, kWideRounder = 0x1.8p+52;
inline constexpr int64_t kOneBits = 0x3f800000, kRounderBits = 0x4b400000,
                         kSqrtHalfBits = 0x3f3504f3;
inline constexpr int64_t kWideOneBits = 0x3ff0000000000000, kWideSqrtHalfBits = 0x3fe6a09e667f3bcd,
                         kWideRounderBits = 0x4338000000000000;

/// Returns c[0] + c[1] x + c[2] x^2 + ..
template <class V> V polynomial(V x, std::initializer_list<double> c) {
  const double *p = c.end();
  V sum = splatLike(x, *--p);
  while (p != c.begin())
    sum = fma(sum, x, splatLike(x, *--p));
  return sum;
}

template <class V> V clampAbove(V x, double most) {
  return select(x > most, splatLike(x, most), x);
}
template <class V> V clampBelow(V x, double least) {
  return select(x < least, splatLike(x, least), x);
}

//===------------------------------------------------------------------------===//
// Exponentials: x = n ln2 + r with |r| <= ln2 / 2, and e^x = 2^n e^r.
//===------------------------------------------------------------------------===//

/// Returns 2^n, where rounded = n + kRounder and -126 <= n <= 127.
template <class V> V powerOfTwo(V rounded) {
  return fromBits(shiftLeft(bits(rounded), 23) + kOneBits, rounded);
}

/// Returns p 2^n, where rounded = n + kRounder and -126 <= n <= 127.
template <class V> V scaleByPowerOfTwo(V p, V rounded) {
  if (hasVscalef(p))
    return scaleByVscalef(p, rounded - kRounder);
  return p * powerOfTwo(rounded);
}

/// Components of e^x = 2^n e^r. The polynomial q gives e^r - 1 = r + r^2 q(r). rounded = n +
/// kRounder, whose low bits hold n.
template <class V> struct ExpParts {
  V r, q, rounded;
  V expm1() const { return fma(r * r, q, r); }
  V exp() const { return expm1() + 1.0; }
  /// Returns 1 + e^x with one rounding, for x <= 0.
  V onePlusExp() const {
    V power = scaleByPowerOfTwo(splatLike(r, 1.0), clampBelow(rounded, kRounder - 126.0));
    return fma(power, expm1(), power + 1.0);
  }
};

/// Returns the components of e^x. If `low` is not null, the argument is x + *low, where *low is a
/// low-order correction of x.
template <class V> ExpParts<V> expParts(V x, const V *low = nullptr) {
  V rounded = fma(x, splatLike(x, kLog2E), splatLike(x, kRounder));
  V n = rounded - kRounder;
  V r = fma(n, splatLike(x, -kLn2Hi), x);
  r = fma(n, splatLike(x, -kLn2Lo), r);
  if (low)
    r = r + *low;
  // Minimax polynomial for |r| <= ln2 / 2 with an approximation error of 2^-28.7.
  V q = polynomial(
      r, {0.5, 0x1.555556p-3, 0x1.5554acp-5, 0x1.11108ep-7, 0x1.6d75dap-10, 0x1.a1a2e4p-13});
  return {r, q, rounded};
}

/// Parameters of a float type: rounding constant, exponent bias and number of mantissa bits.
struct FloatFormat {
  double rounder;
  int64_t rounderBits, bias;
  int mantissa;
};
inline constexpr FloatFormat kSingle{kRounder, kRounderBits, 127, 23},
    kDouble{kWideRounder, kWideRounderBits, 1023, 52};

/// Returns p 2^n for results that may be subnormal or overflow. rounded = n + format.rounder. The
/// power is split into two factors that are normal, so that the result is rounded once.
template <class V> V scaleWithSubnormals(V p, V rounded, const FloatFormat &format = kSingle) {
  if (hasVscalef(p))
    return scaleByVscalef(p, rounded - format.rounder);
  auto n = bits(rounded) - format.rounderBits;
  auto half = shiftRightSigned(n, 1);
  V first = fromBits(shiftLeft(half + format.bias, format.mantissa), p);
  V second = fromBits(shiftLeft(n - half + format.bias, format.mantissa), p);
  return p * first * second;
}

/// Arguments below which e^x is subnormal in f32 (kExpLeastNormal) or rounds to 0 (kExpLeast).
inline constexpr double kExpLeastNormal = -0x1.5d589ep+6, kExpLeast = -105.0;

template <class V> V expWithSubnormals(V x) {
  ExpParts<V> parts = expParts(clampBelow(clampAbove(x, 89.0), kExpLeast));
  return scaleWithSubnormals(parts.exp(), parts.rounded);
}

/// Returns e^x with subnormal results flushed to 0. Processors take a hundred times as long for
/// arithmetic with subnormals, and masks of -100 before a softmax would create thousands of them.
template <class V> V exp(V x) {
  V y = expWithSubnormals(clampBelow(x, kExpLeastNormal));
  return select(x < kExpLeastNormal, splatLike(x, 0.0), y);
}

template <class V> V expm1(V x) {
  ExpParts<V> parts = expParts(clampBelow(clampAbove(x, 89.0), -18.0));
  // Half of 2^n, because n may be 128, and 2^128 overflows in f32.
  V half = fromBits(shiftLeft(bits(parts.rounded) - 1, 23) + kOneBits, x);
  V result = fma(half, parts.expm1(), half - 0.5) * 2.0;
  return select(abs(x) < 0x1p-25, x, result);
}

/// Returns sigmoid(x), given e = e^-|x|.
template <class V> V sigmoidFromExp(V x, V e) {
  // The error of e affects the numerator and the denominator in the same direction, so that it
  // partly cancels.
  return divideApproximately(select(x > 0.0, splatLike(x, 1.0), e), e + 1.0);
}

template <class V> V sigmoidWithSubnormals(V x) {
  return sigmoidFromExp(x, expWithSubnormals(-abs(x)));
}

/// Returns sigmoid(x) with subnormal results flushed to 0.
template <class V> V sigmoid(V x) { return sigmoidFromExp(x, exp(-abs(x))); }

/// Coefficients of piecewise polynomials of tanh around the multiples of kTanhWidth. From kTanhMost
/// on, tanh rounds to 1. Row p has the coefficients of the p-th power of the distance to the
/// nearest multiple. kTanhWidth is chosen such that tanh of its multiples is close to f32 numbers.
/// The largest measured error is 1.02 ulp.
inline constexpr double kTanhWidth = 0x1.2b794p-1, kTanhMost = 9.02;
inline constexpr double kTanhPieces[8][16] = {
    {0.0, 0x1.0d6d4ep-1, 0x1.a5ff64p-1, 0x1.e24232p-1, 0x1.f69432p-1, 0x1.fd0e8ap-1, 0x1.ff15a4p-1,
     0x1.ffb734p-1, 0x1.ffe966p-1, 0x1.fff8fcp-1, 0x1.fffdd2p-1, 0x1.ffff52p-1, 0x1.ffffcap-1,
     0x1.fffffp-1, 0x1.fffffap-1, 0x1.fffffep-1},
    {0x1.0p+0, 0x1.72388ep-1, 0x1.485e02p-2, 0x1.ce0aa6p-4, 0x1.2ab3b6p-5, 0x1.77a5bcp-7,
     0x1.d44b08p-9, 0x1.2318cap-10, 0x1.69975ep-12, 0x1.c109e4p-14, 0x1.16cb54p-15, 0x1.5a2e46p-17,
     0x1.adda04p-19, 0x1.0ad6d2p-20, 0x1.4b54f6p-22, 0x1.0ea008p-23},
    {-0x1.d85e26p-24, -0x1.85a3a2p-2, -0x1.0ea548p-2, -0x1.b3319ep-4, -0x1.2536c6p-5, -0x1.75762p-7,
     -0x1.d2c3cep-9, -0x1.21e9ecp-10, -0x1.694386p-12, -0x1.c64b38p-14, -0x1.019576p-15,
     -0x1.393caep-18, -0x1.9bd812p-20, -0x1.814ed4p-19, 0x1.076ffp-19, 0x1.85496ep-20},
    {-0x1.55537cp-2, -0x1.4e3a96p-5, 0x1.c67446p-4, 0x1.ffd158p-5, 0x1.787c54p-6, 0x1.ec4046p-8,
     0x1.36865ap-9, 0x1.837c28p-11, 0x1.e1df6p-13, 0x1.2b4f7ap-14, 0x1.73b568p-16, 0x1.cd923cp-18,
     0x1.1e9132p-19, 0x1.69f704p-21, 0x1.c17848p-23, 0x1.10d37ap-24},
    {-0x1.3a64ecp-13, 0x1.2fc3cp-3, -0x1.b23934p-9, -0x1.8102c8p-6, -0x1.5b2a6ap-7, -0x1.e427b6p-9,
     -0x1.5f3edep-10, -0x1.00d03cp-11, -0x1.013f44p-13, 0x1.d08ae8p-19, -0x1.781b0ep-14,
     -0x1.778e1p-13, -0x1.bc14c4p-15, 0x1.697a5cp-16, -0x1.be16ecp-16, -0x1.24f65ap-16},
    {0x1.14006p-3, -0x1.8b564p-5, -0x1.bc225ap-6, 0x1.eaecdp-9, 0x1.d58c8p-9, 0x1.6e900ep-10,
     0x1.e58866p-12, 0x1.339e68p-13, 0x1.80a8eap-15, 0x1.deb64ap-17, 0x1.291d08p-18, 0x1.70b76cp-20,
     0x1.ca4a7ep-22, 0.0, 0.0, 0.0},
    {-0x1.b04158p-8, -0x1.0b94f6p-5, 0x1.179a9ap-6, 0x1.4bcddep-9, -0x1.05809ep-10, -0x1.dad006p-13,
     0x1.269266p-10, 0x1.d4766p-11, 0x1.7ffb3p-15, -0x1.444952p-12, 0x1.3fd0e8p-11, 0x1.661c36p-10,
     0x1.a707cep-12, 0.0, 0.0, 0.0},
    {-0x1.52337p-5, 0x1.d7f81p-6, -0x1.b8710ep-9, -0x1.ecf40cp-10, -0x1.add084p-16, 0x1.964486p-14,
     0x1.7baa12p-15, 0x1.f0b1ap-17, 0x1.26d108p-18, 0x1.66237ep-20, 0x1.df6bb6p-22, 0x1.3b0c46p-23,
     0x1.6c2ef2p-25, 0.0, 0.0, 0.0},
};

template <class V> V tanhPiecewise(V x) {
  V a = clampAbove(abs(x), kTanhMost);
  V rounded = fma(a, splatLike(x, 1.0 / kTanhWidth), splatLike(x, kRounder));
  V t = fma(rounded - kRounder, splatLike(x, -kTanhWidth), a);
  V sum = lookupTable16(rounded, kTanhPieces[7]);
  for (int power = 6; power >= 0; --power)
    sum = fma(sum, t, lookupTable16(rounded, kTanhPieces[power]));
  return copysign(sum, x);
}

template <class V> V tanh(V x) {
  if (hasTableLookup16(x))
    return tanhPiecewise(x);
  V a = abs(x);
  V z = x * x;
  // Minimax polynomial for |x| <= 0.55 with an approximation error of 2^-29.8.
  V near =
      polynomial(z, {-0x1.55554cp-2, 0x1.110d6ap-3, -0x1.b931fcp-5, 0x1.598276p-6, -0x1.9c9490p-8});
  near = fma(a * z, near, a);
  ExpParts<V> parts = expParts(clampAbove(a, 10.0) * 2.0);
  V far = 1.0 - divideApproximately(splatLike(x, 2.0),
                                    scaleByPowerOfTwo(parts.exp(), parts.rounded) + 1.0);
  return copysign(select(a < 0.55, near, far), x);
}

template <class V> V erf(V x) {
  V a = abs(x);
  V z = x * x;
  // Minimax polynomial for |x| <= 0.85 with an approximation error of 2^-27.1.
  V near = polynomial(z, {0x1.06eba8p-3, -0x1.812726p-2, 0x1.ce256ap-4, -0x1.b735eap-6,
                          0x1.4b7630p-8, -0x1.4cd860p-11});
  near = fma(x, near, x);
  // Polynomial p with 1 - erf(a) = e^-p(a) for 0.85 <= a <= 3.95. The error of erf is 2^-28.4.
  // Beyond 3.95, erf rounds to 1.
  V p =
      polynomial(clampAbove(a, 3.95), {0x1.b6671cp-14, 0x1.20c89cp+0, 0x1.45e5cap-1, 0x1.ac2398p-4,
                                       -0x1.70f448p-6, 0x1.98aac8p-9, -0x1.ab2298p-13});
  ExpParts<V> parts = expParts(-p);
  V far = 1.0 - scaleByPowerOfTwo(parts.exp(), parts.rounded);
  return select(a < 0.85, select(a < 0x1p-100, fma(x, splatLike(x, 0x1.06eba8p-3), x), near),
                copysign(far, x));
}

/// Rational approximation of the lower tail of the normal distribution: Phi(-a) = e^(-a^2/2) P(a) /
/// Q(a) for a <= 14.5. It is accurate relative to the result, with an approximation error of
/// 2^-26.3. All coefficients are positive, so that no terms cancel.
template <class V> struct NormalTail { V p, q; };
template <class V> NormalTail<V> normalTail(V a) {
  return {
      polynomial(a, {0x1.000000p-1, 0x1.c0d288p-2, 0x1.774684p-3, 0x1.4ce0bap-5, 0x1.0dc596p-8}),
      polynomial(a, {0x1.000000p+0, 0x1.acab74p+0, 0x1.33d8bcp+0, 0x1.e0c02cp-2, 0x1.a13a14p-4,
                     0x1.521adcp-7})};
}

/// Returns gelu(x) = x Phi(x) with subnormal results flushed to 0. Networks with large activations
/// have many such results, and arithmetic with subnormals is a hundred times slower.
template <class V> V geluErf(V x) {
  const double most = 13.1462463;
  V bounded = clampBelow(clampAbove(x, most), -most);
  V a = abs(bounded);
  V square = a * a;
  V low = fma(a, a, -square) * -0.5;
  ExpParts<V> parts = expParts(square * -0.5, &low);
  auto [p, q] = normalTail(a);
  V tail = divideApproximately(fma(p, parts.expm1(), p) * bounded, q);
  V below = scaleWithSubnormals(tail, parts.rounded);
  return select(x > 0.0, x - below, select(x < -most, splatLike(x, -0.0), below));
}

/// Returns the tanh approximation of GELU, x sigmoid(2u) with 2u = x (a + b x^2). The argument of
/// the exponential is a sum of two f32 numbers because its absolute error is the relative error of
/// the exponential.
template <class V> V geluTanh(V x) {
  const double a = 0x1.9884533d43651p+0, b = a * 0.044715;
  const double aHi = static_cast<float>(a), bHi = static_cast<float>(b);
  V c = clampAbove(abs(x), 11.0);
  V square = c * c;
  V squareLow = fma(c, c, -square);
  V t = square * bHi;
  V tLow = fma(square, splatLike(x, bHi), -t) + fma(square, splatLike(x, b - bHi), squareLow * bHi);
  V sum = t + aHi;
  // Two-sum (Knuth), which is exact whichever addend is larger.
  V back = sum - t;
  V sumLow = (t - (sum - back)) + (aHi - back) + (tLow + (a - aHi));
  V u = c * sum;
  V uLow = -fma(c, sumLow, fma(c, sum, -u));
  ExpParts<V> parts = expParts(-u, &uLow);
  V bounded = clampBelow(x, -11.0);
  V below = scaleWithSubnormals(fma(bounded, parts.expm1(), bounded), parts.rounded);
  // Results that would be subnormal are flushed to 0 because arithmetic with subnormals is slow.
  below = select(x < -10.1006368, splatLike(x, -0.0), below);
  return select(x > 0.0, x, below) / parts.onePlusExp();
}

//===------------------------------------------------------------------------===//
// Logarithms: x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).
//===------------------------------------------------------------------------===//

/// Returns log(x) = e ln2 + log(1 + f) for x = 2^e (1 + f).
template <class V> V logFromMantissaExponent(V e, V f) {
  V z = f * f;
  // Minimax polynomial with an approximation error of 2^-27.2.
  V p = polynomial(f, {0x1.55554ap-2, -0x1.000220p-2, 0x1.99a596p-3, -0x1.54788ap-3, 0x1.226e4ap-3,
                       -0x1.0ce07ap-3, 0x1.07d0f2p-3, -0x1.41ee0ep-4});
  V y = fma(e, splatLike(f, kLn2Lo), f * z * p);
  y = fma(z, splatLike(f, -0.5), y);
  return fma(e, splatLike(f, kLn2Hi), f + y);
}

template <class V> V log(V x) {
  auto tiny = x < 0x1p-126;
  V y = select(tiny, x * 0x1p+23, x);
  auto shifted = bits(y) - kSqrtHalfBits;
  auto e = shiftRightSigned(shifted, 23);
  V f = fromBits(bits(y) - shiftLeft(e, 23), x) - 1.0;
  V result = logFromMantissaExponent(
      toFloat(e, x) - select(tiny, splatLike(x, 23.0), splatLike(x, 0.0)), f);
  result = select(x < kInf, result, x);
  return select(x > 0.0, result,
                select(equal(x, splatLike(x, 0.0)), splatLike(x, -kInf), splatLike(x, kNan)));
}

template <class V> V log1p(V x) {
  V u = x + 1.0;
  V lost = x - (u - 1.0);
  auto shifted = bits(u) - kSqrtHalfBits;
  auto e = shiftRightSigned(shifted, 23);
  auto exponent = shiftLeft(e, 23);
  V f = fromBits(bits(u) - exponent, x) - 1.0;
  // `lost` is the rounding error of u = 1 + x, and u = 2^e (1 + f). Multiplication by `unit` = 2^-e
  // converts the error to an error of f.
  V unit = fromBits(kOneBits - exponent, x);
  V result = logFromMantissaExponent(toFloat(e, x), select(x < 0x1p+60, fma(lost, unit, f), f));
  result = select(x < kInf, result, x);
  result = select(x > -1.0, result,
                  select(equal(x, splatLike(x, -1.0)), splatLike(x, -kInf), splatLike(x, kNan)));
  return select(abs(x) < 0x1p-25, x, result);
}

//===------------------------------------------------------------------------===//
// Sine and cosine: the argument is reduced to |r| <= pi / 4 in f64 (for |x| < 2^40), and the
// polynomials are evaluated in f32.
//===------------------------------------------------------------------------===//

inline constexpr double kSinCosLimit = 0x1p+40;

template <class V> V sinOrCos(V x, bool cosine) {
  auto wide = widen(x);
  auto rounded = fma(wide, splatLike(wide, 0x1.45f306dc9c883p-1), splatLike(wide, kWideRounder));
  auto n = rounded - kWideRounder;
  auto reduced = fma(n, splatLike(wide, -kHalfPiHi), wide);
  V r = narrow(fma(n, splatLike(wide, -kHalfPiLo), reduced));
  auto quadrant = narrowInt(bits(rounded));
  if (cosine)
    quadrant = quadrant + 1;
  V z = r * r;
  // Minimax polynomials of sine and cosine for |r| <= pi / 4, with approximation errors of 2^-32.5
  // and 2^-33.1.
  V sine = polynomial(z, {-0x1.555556p-3, 0x1.111176p-7, -0x1.a05ba8p-13, 0x1.7ccf10p-19});
  sine = fma(r * z, sine, r);
  V cosinus = polynomial(z, {0x1.55554ap-5, -0x1.6c0c1ap-10, 0x1.99e0eep-16});
  cosinus = fma(z, fma(z, cosinus, splatLike(x, -0.5)), splatLike(x, 1.0));
  V result = select(isZero(quadrant & 1), sine, cosinus);
  result = fromBits(bits(result) ^ shiftLeft(quadrant & 2, 30), x);
  return cosine ? result : select(equal(x, splatLike(x, 0.0)), x, result);
}

//===------------------------------------------------------------------------===//
// Functions of f32 operands that are evaluated in f64 lanes.
//===------------------------------------------------------------------------===//

/// Returns log(x) = e ln2 + log(1 + f) for x = 2^e (1 + f), where x is positive and normal,
/// infinite or NaN.
template <class W> W wideLogFromMantissaExponent(W e, W f) {
  W s = f / (f + 2.0);
  W z = s * s;
  // log(1 + f) = 2 atanh(s) = 2 s + 2 s z q(z). The minimax polynomial q has an approximation error
  // of 2^-44.9.
  W q = polynomial(z, {0x1.555555561e2cfp-2, 0x1.999996a98ec6dp-3, 0x1.249411ce48200p-3,
                       0x1.c62b20245af58p-4, 0x1.9114dad92c0f3p-4});
  W twice = s * 2.0;
  return fma(e, splatLike(f, kLn2WideHi), fma(twice * z, q, twice));
}

template <class W> struct WideLogParts { W e, f, unit; };

template <class W> WideLogParts<W> wideLogParts(W x) {
  auto shifted = bits(x) + (kWideOneBits - kWideSqrtHalfBits);
  auto biased = shiftRight(shifted, 52);
  W e = fromBits(biased | int64_t(0x4330000000000000), x) - (0x1p+52 + 1023.0);
  W f = fromBits((shifted & int64_t(0x000fffffffffffff)) + kWideSqrtHalfBits, x) - 1.0;
  W unit = fromBits(shiftLeft(2046 - biased, 52), x);
  return {e, f, unit};
}

/// Returns log(1 + x) in f64 for x > -1.
template <class W> W wideLog1p(W x) {
  W u = x + 1.0;
  W lost = x - (u - 1.0);
  WideLogParts<W> parts = wideLogParts(u);
  W result = wideLogFromMantissaExponent(parts.e, fma(lost, parts.unit, parts.f));
  return select(x < kInf, result, x);
}

/// Components of e^x - 1 = 2^n (e^r - 1) + (2^n - 1) for |x| <= 700, with power = 2^n and p = e^r -
/// 1.
template <class W> struct WideExpParts {
  W power, p;
  W exp() const { return fma(power, p, power); }
  W expm1() const { return fma(power, p, power - 1.0); }
};

/// Reduces the argument of an exponential: returns r = x - n ln2 for the integer n nearest to x /
/// ln2, and n + kWideRounder, whose low bits hold n.
template <class W> std::pair<W, W> reduceExpArgument(W x) {
  W rounded = fma(x, splatLike(x, kLog2E), splatLike(x, kWideRounder));
  W n = rounded - kWideRounder;
  W r = fma(n, splatLike(x, -kLn2WideHi), x);
  r = fma(n, splatLike(x, -kLn2WideLo), r);
  return {r, rounded};
}

template <class W> WideExpParts<W> wideExpParts(W x) {
  auto [r, rounded] = reduceExpArgument(x);
  // Minimax polynomial for |r| <= ln2 / 2 with an approximation error of 2^-43.5.
  W q = polynomial(r, {0x1.fffffffff7193p-2, 0x1.555555554f503p-3, 0x1.5555557456d14p-5,
                       0x1.1111112991bb0p-7, 0x1.6c164d5c837cdp-10, 0x1.a0197f1d421b7p-13,
                       0x1.a15b3d9a95cd9p-16, 0x1.72f8c7294f9d2p-19});
  W power = fromBits(shiftLeft(bits(rounded), 52) + kWideOneBits, x);
  return {power, fma(r * r, q, r)};
}

//===------------------------------------------------------------------------===//
// Functions of f64 operands.
//===------------------------------------------------------------------------===//

/// Components of e^x = 2^n e^r: e^r - 1 for |r| <= ln2 / 2, and rounded = n + kWideRounder, whose
/// low bits hold n.
template <class W> struct DoubleExpParts { W expm1, rounded; };

template <class W> DoubleExpParts<W> doubleExpParts(W x) {
  auto [r, rounded] = reduceExpArgument(x);
  // Minimax polynomial for |r| <= ln2 / 2 with an approximation error of 2^-59.8.
  W q = polynomial(r, {0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555555p-5,
                       0x1.1111111110107p-7, 0x1.6c16c16c16a70p-10, 0x1.a01a01abd89bep-13,
                       0x1.a01a01a44abf5p-16, 0x1.71de02550ce57p-19, 0x1.27e4e13b55da5p-22,
                       0x1.af4daf810937cp-26, 0x1.1f6932a822f48p-29});
  return {fma(r * r, q, r), rounded};
}

template <class W> W doubleExp(W x) {
  DoubleExpParts<W> parts = doubleExpParts(clampBelow(clampAbove(x, 710.0), -746.0));
  return scaleWithSubnormals(parts.expm1 + 1.0, parts.rounded, kDouble);
}

/// Returns tanh(x) = -m / (m + 2) with the sign of x, where m = e^(-2|x|) - 1.
template <class W> W doubleTanh(W x) {
  DoubleExpParts<W> parts = doubleExpParts(clampAbove(abs(x), 20.0) * -2.0);
  W power = fromBits(shiftLeft(bits(parts.rounded), 52) + kWideOneBits, x);
  W m = fma(power, parts.expm1, power - 1.0);
  W divisor = m + 2.0;
  // `lost` is the rounding error of m + 2. The exact correction is y * lost / divisor. The division
  // is omitted: if m is near -1, `divisor` is near 1; otherwise the correction is small.
  W lost = m - (divisor - 2.0);
  W y = m / divisor;
  return copysign(fma(-y, lost, y), x);
}

/// Returns log(x) = e ln2 + log(1 + f) for x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). log(1
/// + f) is computed as f - s (f - r) with s = f / (f + 2).
template <class W> W doubleLog(W x) {
  // Parts of ln 2 = ln2Hi + ln2Lo (Cody-Waite). ln2Hi ends in zero bits, so that e * ln2Hi is
  // exact.
  constexpr double ln2Hi = 0x1.62e42feep-1, ln2Lo = 0x1.a39ef35793c76p-33;
  auto tiny = x < 0x1p-1022;
  WideLogParts<W> parts = wideLogParts(select(tiny, x * 0x1p+54, x));
  W e = parts.e - select(tiny, splatLike(x, 54.0), splatLike(x, 0.0)), f = parts.f;
  W s = f / (f + 2.0);
  W z = s * s;
  // Minimax polynomial with an approximation error of 2^-58.4.
  W r = z * polynomial(z, {0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2,
                           0x1.c71c51d8e78afp-3, 0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3,
                           0x1.2f112df3e5244p-3});
  W half = f * f * 0.5;
  W low = fma(e, splatLike(x, ln2Lo), s * (half + r));
  W result = fma(e, splatLike(x, ln2Hi), f - (half - low));
  result = select(x < kInf, result, x);
  return select(x > 0.0, result,
                select(equal(x, splatLike(x, 0.0)), splatLike(x, -kInf), splatLike(x, kNan)));
}

//===------------------------------------------------------------------------===//
// More functions of f32 operands that are evaluated in f64 lanes.
//===------------------------------------------------------------------------===//

/// Returns erfc(x) from 2 Phi(-sqrt(2) |x|), which rounds to 0 in f32 from |x| = 10.25 on.
template <class V> V erfc(V x) {
  auto a = clampAbove(widen(abs(x)), 10.25);
  auto [p, q] = normalTail(a * 0x1.6a09e667f3bcdp+0);
  auto tail = wideExpParts(-(a * a)).exp() * 2.0 * p / q;
  return narrow(select(x < 0.0, 2.0 - tail, tail));
}

template <class W> W wideClamp(W x, double most) { return clampBelow(clampAbove(x, most), -most); }

template <class V> V tan(V x) {
  auto wide = widen(x);
  auto rounded = fma(wide, splatLike(wide, 0x1.45f306dc9c883p-1), splatLike(wide, kWideRounder));
  auto n = rounded - kWideRounder;
  auto r = fma(n, splatLike(wide, -kHalfPiHi), wide);
  r = fma(n, splatLike(wide, -kHalfPiLo), r);
  auto z = r * r;
  auto sine = polynomial(z, {-0x1.5555555555549p-3, 0x1.111111110f842p-7, -0x1.a01a019c0a34fp-13,
                             0x1.71de3571082a0p-19, -0x1.ae5e60cd0e93ap-26});
  sine = fma(r * z, sine, r);
  auto cosine = polynomial(z, {0x1.555555555550dp-5, -0x1.6c16c16c0f6dep-10, 0x1.a01a01964b191p-16,
                               -0x1.27e4f47b3baa0p-22, 0x1.1ee7f9e4841cbp-29});
  cosine = fma(z, fma(z, cosine, splatLike(z, -0.5)), splatLike(z, 1.0));
  auto even = isZero(bits(rounded) & 1);
  V result = narrow(select(even, sine, -cosine) / select(even, cosine, sine));
  return select(equal(x, splatLike(x, 0.0)), x, result);
}

/// Returns asin(x) in f64 for 0 <= x <= 1/2.
template <class W> W wideAsin(W x) {
  W z = x * x;
  // Minimax polynomial with an approximation error of 2^-47.8.
  W p = polynomial(z, {0x1.5555555549017p-3, 0x1.3333334a005d4p-4, 0x1.6db6ce8202a3ap-5,
                       0x1.f1ca92fb32bf9p-6, 0x1.6e490cb129939p-6, 0x1.1f582062cf27ep-6,
                       0x1.9d1f8c9815c32p-7, 0x1.22f19370fa94dp-6, -0x1.cd51b40080c7fp-8,
                       0x1.0087618fd60bap-5});
  return fma(x * z, p, x);
}

template <class V> V asin(V x) {
  auto a = widen(abs(x));
  auto steep = a > 0.5;
  auto inner = wideAsin(select(steep, sqrt((1.0 - a) * 0.5), a));
  return copysign(
      narrow(select(steep, fma(inner, splatLike(a, -2.0), splatLike(a, kHalfPiHi)), inner)), x);
}

template <class V> V acos(V x) {
  auto w = widen(x);
  auto a = abs(w);
  auto steep = a > 0.5;
  auto inner = wideAsin(select(steep, sqrt((1.0 - a) * 0.5), a));
  // acos(a) = 2 asin(sqrt((1 - a) / 2)) for a > 1/2, and acos(-a) = pi - acos(a).
  auto twice = inner * 2.0;
  auto far = select(w < 0.0, kHalfPiHi * 2.0 - twice, twice);
  return narrow(select(steep, far, kHalfPiHi - copysign(inner, w)));
}

/// Returns atan(t) in f64 for 0 <= t <= 1.
template <class W> W wideAtan(W t) {
  W z = t * t;
  // Minimax polynomial with an approximation error of 2^-44.6.
  W p = polynomial(z, {-0x1.555555551f7d6p-2, 0x1.9999996b9b86dp-3, -0x1.24924242ed119p-3,
                       0x1.c71b65e6783afp-4, -0x1.7450e5c91c653p-4, 0x1.3ab66273ff347p-4,
                       -0x1.0f1fcc8c693e6p-4, 0x1.d2df471c94d51p-5, -0x1.83da75f7f1bbep-5,
                       0x1.268b4249cfd77p-5, -0x1.7e4b4fb99d53bp-6, 0x1.892439f2aa697p-7,
                       -0x1.24d48416f6952p-8, 0x1.146b86389d4e2p-10, -0x1.eb9ef9553a6f8p-14});
  return fma(t * z, p, t);
}

template <class V> V atan(V x) {
  auto a = widen(abs(x));
  auto steep = a > 1.0;
  auto inner = wideAtan(select(steep, 1.0 / a, a));
  return copysign(narrow(select(steep, kHalfPiHi - inner, inner)), x);
}

template <class V> V atan2(V y, V x) {
  auto a = widen(abs(y));
  auto b = widen(abs(x));
  auto steep = a - b > 0.0;
  auto least = select(steep, b, a);
  auto most = select(steep, a, b);
  // atan2 needs two exceptions from the usual division: the ratio of two infinities is 1, and 0 / 0
  // is 0.
  auto t = select(equal(least, most), splatLike(most, 1.0), least / most);
  auto inner = wideAtan(select(equal(most, splatLike(most, 0.0)), least, t));
  auto angle = select(steep, kHalfPiHi - inner, inner);
  auto left = copysign(splatLike(x, 1.0), x) < 0.0;
  return copysign(narrow(select(left, kHalfPiHi * 2.0 - angle, angle)), y);
}

/// Returns the inverse of erf in f64 for |x| < 1, as x f(w) with w = -log(1 - x^2).
template <class W> W wideErfinv(W x) {
  W a = abs(x);
  WideLogParts<W> parts = wideLogParts((1.0 - a) * (a + 1.0));
  W w = -wideLogFromMantissaExponent(parts.e, parts.f);
  W s = sqrt(w);
  // Minimax polynomial for w <= 5 with an approximation error of 2^-31.2.
  W near =
      polynomial(w - 2.5, {0x1.805c5cff6d8c4p+0, 0x1.f91e8973016bap-3, -0x1.11c3e0b28a293p-8,
                           -0x1.486399e8ec12dp-10, 0x1.c9bb5aedd33ccp-13, -0x1.4f760a3e66f20p-18,
                           -0x1.cbd4e1e25827cp-19, 0x1.0189500556d1bp-21, 0x1.1abbaf0b4c9abp-26,
                           -0x1.7ac1446a63a64p-27, 0x1.e0853f4f316a8p-32, 0x1.24292c19e35fbp-33});
  // Minimax polynomial for s <= 4.03, which holds for all f32 x. The approximation error is
  // 2^-29.5.
  W far =
      polynomial(s - 3.0, {0x1.6a9efbda7e0b1p+1, 0x1.006dc9c7350e2p+0, 0x1.35816d8cf3e9dp-7,
                           -0x1.f4def77bbf091p-8, 0x1.74b59a484aa1dp-8, -0x1.d3a0d5c8fefd8p-9,
                           0x1.8346bb3dd96e6p-10, -0x1.f0edbefb3d541p-14, -0x1.269977507a05fp-12,
                           0x1.4e2b8ba211616p-13, -0x1.ce34b7c7b5597p-16});
  // Minimax polynomial for s <= 6.1, which holds for all f64 x. The approximation error is 2^-24.5.
  W tail =
      polynomial(s - 5.0, {0x1.3664dead31287p+2, 0x1.02a30a53dd5f0p+0, -0x1.29e73109e39cap-13,
                           -0x1.c14b40ddb7e11p-13, 0x1.6008c8cbf6a08p-14, -0x1.63c2a4958c015p-16});
  return x * select(w < 5.0, near, select(s < 4.03, far, tail));
}

/// Handles the special cases of erfinv: returns `inside` if |x| < 1, an infinity with the sign of x
/// if |x| = 1, and NaN otherwise.
template <class V> V erfinvWithEdgeCases(V x, V inside) {
  V a = abs(x);
  V end = select(equal(a, splatLike(a, 1.0)), copysign(splatLike(x, kInf), x), splatLike(x, kNan));
  return select(a < 1.0, inside, end);
}

template <class V> V erfinv(V x) { return erfinvWithEdgeCases(x, narrow(wideErfinv(widen(x)))); }

template <class V> V sinh(V x) {
  auto parts = wideExpParts(clampAbove(widen(abs(x)), 100.0));
  auto m = parts.expm1();
  return copysign(narrow((m + m / (m + 1.0)) * 0.5), x);
}

template <class V> V cosh(V x) {
  auto e = wideExpParts(clampAbove(widen(abs(x)), 100.0)).exp();
  return narrow((e + 1.0 / e) * 0.5);
}

template <class V> V asinh(V x) {
  auto a = widen(abs(x));
  auto square = a * a;
  auto result = wideLog1p(a + square / (sqrt(square + 1.0) + 1.0));
  return copysign(narrow(select(a < kInf, result, a)), x);
}

template <class V> V acosh(V x) {
  auto d = widen(x) - 1.0;
  V result = narrow(wideLog1p(d + sqrt(fma(d, d, d * 2.0))));
  return select(x < 1.0, splatLike(x, kNan), result);
}

template <class V> V atanh(V x) {
  auto a = widen(abs(x));
  V result = narrow(wideLog1p(a * 2.0 / (1.0 - a)) * 0.5);
  return copysign(select(abs(x) > 1.0, splatLike(x, kNan), result), x);
}

template <class V> V pow(V x, V y) {
  auto a = widen(abs(x));
  auto exponent = widen(y);
  WideLogParts<decltype(a)> parts = wideLogParts(a);
  auto logarithm = wideLogFromMantissaExponent(parts.e, parts.f);
  logarithm = select(a < kInf, logarithm, a);
  logarithm =
      select(a > 0.0, logarithm, select(equal(a, splatLike(a, 0.0)), splatLike(a, -kInf), a));
  V result = narrow(wideExpParts(wideClamp(logarithm * exponent, 300.0)).exp());
  // Determines whether y is an odd integer. f32 numbers of at least 2^23 are integers, and those of
  // at least 2^24 are even.
  auto whole = equal(floor(y), y);
  V halved = y * 0.5;
  auto odd = both(whole, notEqual(floor(halved), halved));
  result = select(odd, copysign(result, x), result);
  auto negative = both(x<0.0, x> - kInf);
  result = select(both(negative, notEqual(floor(y), y)), splatLike(x, kNan), result);
  // Special cases of pow: x^0 = 1 and 1^y = 1 even if the other operand is NaN, and (-1)^inf = 1.
  auto one = either(equal(y, splatLike(y, 0.0)), equal(x, splatLike(x, 1.0)));
  one = either(one, both(equal(x, splatLike(x, -1.0)), equal(abs(y), splatLike(y, kInf))));
  return select(one, splatLike(x, 1.0), result);
}

/// Limit of |x / y| for the fast path of fmod. Below it, the truncated quotient in f64 is exact
/// because the quotient of two f32 numbers is farther from the next integer than the rounding
/// error.
inline constexpr double kFmodLimit = 0x1p+28;

template <class V> V fmod(V x, V y) {
  auto a = widen(abs(x));
  auto b = widen(abs(y));
  auto quotient = floor(a / b);
  auto rest = fma(-quotient, b, a);
  rest = select(equal(b, splatLike(b, kInf)), a, rest);
  V result = copysign(narrow(rest), x);
  // The result is NaN if x is infinite or NaN, or if y is zero or NaN.
  return select(both(abs(x) < kInf, notEqual(y, splatLike(y, 0.0))), select(equal(y, y), result, y),
                splatLike(x, kNan));
}

} // namespace dlc::cpu::formulas

#endif // DLC_CODEGEN_CPU_MATH_MATHFORMULAS_H
