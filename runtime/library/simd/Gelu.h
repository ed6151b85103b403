//===- Gelu.h - GELU on vectors -------------------------------------------===//
//
// For inclusion by the files that are compiled for one architecture. GELU(x)
// is max(x, 0) minus a tail that depends on |x|: |x| (1 - Φ(|x|)) for the exact form, and the same
// with the logistic function in place of Φ for the tanh form. The tail is a piecewise polynomial
// around multiples of kPieceWidth, which needs no exponential and no division. The errors of both
// forms are below 1e-7. Beyond the last multiple the tail is 0 in f32, so no result is subnormal
// unless x is.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_GELU_H
#define DLC_RUNTIME_LIBRARY_SIMD_GELU_H

#include "runtime/library/simd/Functions.h"

namespace dlc::simd {
namespace {

constexpr int kPieces = 8, kPowers = 7;
constexpr float kPieceWidth = 0.8125f;

// Coefficients of minimax polynomials for the tail, one column for each multiple of kPieceWidth,
// and one row for each power of the distance of |x| to the nearest multiple. The first piece is
// exactly 0 at x = 0, and the last piece is 0 at its end.
alignas(32) constexpr float kErfTail[kPowers][kPieces] = {
    {0, 0x1.5a8832p-3f, 0x1.5aa72ap-4f, 0x1.274f9ep-6f, 0x1.eb9b6ap-10f, 0x1.9da15ep-14f,
     0x1.63f7dcp-19f, 0},
    {0x1.fffffcp-2f, -0x1.95ad78p-6f, -0x1.efcc0ap-4f, -0x1.5bd284p-5f, -0x1.8a58f4p-8f,
     -0x1.a1ae6ap-12f, -0x1.b0b7c2p-17f, -0x1.c08d16p-18f},
    {-0x1.98838cp-2f, -0x1.897942p-3f, 0x1.178e2cp-5f, 0x1.4a30b2p-5f, 0x1.1ca5acp-7f,
     0x1.8b80e6p-11f, 0x1.f747fap-16f, -0x1.848726p-13f},
    {-0x1.79804p-15f, 0x1.0984c8p-3f, 0x1.41a284p-5f, -0x1.084b8cp-6f, -0x1.d90e9ap-8f,
     -0x1.cd75aep-11f, -0x1.71513ep-15f, -0x1.ffbdap-10f},
    {0x1.119b4ep-4f, -0x1.1e5deep-9f, -0x1.112104p-5f, -0x1.00d0fcp-9f, 0x1.cdb3bcp-9f,
     0x1.6daed4p-11f, 0x1.8281p-15f, -0x1.2f6922p-7f},
    {-0x1.09dc8ap-10f, -0x1.580692p-6f, 0x1.6253ap-8f, 0x1.489a8cp-8f, -0x1.5d8fbap-11f,
     -0x1.98a5c2p-12f, -0x1.457452p-15f, -0x1.4bf52cp-6f},
    {-0x1.193f2p-7f, 0x1.b469a6p-9f, 0x1.c4b1fap-9f, -0x1.f51ffep-10f, -0x1.1909dap-12f,
     0x1.1decc4p-13f, 0x1.79d558p-16f, -0x1.104eccp-6f},
};
alignas(32) constexpr float kTanhTail[kPowers][kPieces] = {
    {0, 0x1.5ab64ep-3f, 0x1.5b5c84p-4f, 0x1.208206p-6f, 0x1.9b34d2p-10f, 0x1.b3d1a6p-15f,
     0x1.19296ep-21f, 0},
    {0x1.fffffcp-2f, -0x1.906f6cp-6f, -0x1.f1b9fep-4f, -0x1.5f7ecp-5f, -0x1.6ca828p-8f,
     -0x1.09fe1cp-12f, -0x1.c827c4p-19f, -0x1.010f3p-22f},
    {-0x1.988384p-2f, -0x1.89022ep-3f, 0x1.105602p-5f, 0x1.511de4p-5f, 0x1.1d073ap-7f,
     0x1.2c21c4p-11f, 0x1.5e4d78p-17f, -0x1.b54ca6p-18f},
    {-0x1.8ba932p-15f, 0x1.08b6dap-3f, 0x1.444182p-5f, -0x1.04741ap-6f, -0x1.f3021p-8f,
     -0x1.9a384p-11f, -0x1.4d7c4ep-16f, -0x1.214ep-14f},
    {0x1.1303e8p-4f, -0x1.60cdb2p-9f, -0x1.0b13f6p-5f, -0x1.51028ep-9f, 0x1.ea2eeap-9f,
     0x1.74d4bp-11f, 0x1.c60f78p-16f, -0x1.567444p-12f},
    {-0x1.169a0cp-10f, -0x1.563cdap-6f, 0x1.59951ap-8f, 0x1.4963bap-8f, -0x1.353d9ap-11f,
     -0x1.ce0394p-12f, -0x1.ffb8d8p-16f, -0x1.76e4cep-11f},
    {-0x1.1e8a9ap-7f, 0x1.d7a1aap-9f, 0x1.9e45a6p-9f, -0x1.bc62b2p-10f, -0x1.81274ep-12f,
     0x1.51346ep-13f, 0x1.70f89ap-16f, -0x1.33158cp-11f},
};

template <int V> DLC_INLINE Vec<V> computeGelu(const float (&tail)[kPowers][kPieces], Vec<V> x) {
  const Vec<V> magic = splat<V>(0x1.8p23f);
  Vec<V> size = absolute<V>(x);
  size = size > kPieceWidth * (kPieces - 1) ? splat<V>(kPieceWidth * (kPieces - 1)) : size;
  Vec<V> shifted = size * (1 / kPieceWidth) + magic;
  Ints<V> piece = Ints<V>(shifted);
  Vec<V> distance = size - (shifted - magic) * kPieceWidth;
  Vec<V> sum = lookUp<V>(tail[kPowers - 1], piece);
#pragma GCC unroll kPowers
  for (int power = kPowers - 2; power >= 0; --power)
    sum = sum * distance + lookUp<V>(tail[power], piece);
  return (x <= 0.0f ? Vec<V>{} : x) - sum;
}

template <int V> DLC_INLINE Vec<V> geluErf(Vec<V> x) { return computeGelu<V>(kErfTail, x); }
template <int V> DLC_INLINE Vec<V> geluTanh(Vec<V> x) { return computeGelu<V>(kTanhTail, x); }

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_GELU_H
