//===- Random.h - the random numbers that dlc.random means ----------------===//
//
// Element i of the result takes lane i % 4 of the block that Philox 4x32-10 makes from
//   key     (seed low, seed high)                              the operation's `seed`, 32 bits each
//   counter (i / 4 low, i / 4 high, c low, c high)             c is the operation's `counter`
//   operand
// A uniform number is (word >> 8) * 2^-24; f16 takes (word >> 21) * 2^-11 and bf16 (word >> 24) *
// 2^-8, which are the same number cut to what the type holds (rounding could give 1). Normal
// numbers come in pairs from the words (w0, w1) and (w2, w3) by Box and Muller: u1 = ((w0 >> 8) +
// 1) * 2^-24, u2 = (w1 >> 8) * 2^-24, then sqrt(-2 ln u1) * cos(2 pi u2) for the even lane and sin
// for the odd one.
//
// Every implementation gives the same bits for uniform numbers; normal ones agree as well as their
// functions do.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_REFERENCE_RANDOM_H
#define DLC_IR_REFERENCE_RANDOM_H

#include <array>
#include <cstdint>

namespace dlc::ref {

/// One block of Philox 4x32-10.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_RANDOM_H
