//===- Random.h - random number generator of dlc.random -------------------===//
//
// Element i of the result is computed from word i % 4 of the block that Philox 4x32-10 makes from
//   key     (seed low, seed high)                    the operation's `seed` operand, 32 bits each
//   counter (i / 4 low, i / 4 high, c low, c high)   c is the operation's `counter` operand
// A uniform number is (word >> 8) * 2^-24. For f16 it is (word >> 21) * 2^-11 and for bf16
// (word >> 24) * 2^-8: the same number truncated to the precision of the type, because rounding
// could give 1.
// Normal numbers are made in pairs from the words (w0, w1) and (w2, w3) by the Box-Muller
// transform:
//   u1 = ((w0 >> 8) + 1) * 2^-24,  u2 = (w1 >> 8) * 2^-24,
//   sqrt(-2 ln u1) * cos(2 pi u2) for the even element and sqrt(-2 ln u1) * sin(2 pi u2) for the
//   odd one.
//
// All implementations return the same bits for uniform numbers. Normal numbers agree up to the
// accuracy of the log, sqrt, sin and cos implementations.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_REFERENCE_OPS_RANDOM_H
#define DLC_IR_REFERENCE_OPS_RANDOM_H

#include <array>
#include <cstdint>

namespace dlc::ref {

/// Returns one block of four random words of the counter-based generator Philox 4x32-10.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_OPS_RANDOM_H
