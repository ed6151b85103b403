//===- Quantised.h - damages to what quantised models say --------------------------===//
#ifndef DLC_TEST_FUZZ_QUANTISED_H
#define DLC_TEST_FUZZ_QUANTISED_H

#include "test/fuzz/Mutate.h"

namespace dlc::fuzz {

/// A model that is well formed and says something wrong, or odd: of scales, zero points, block
/// sizes, axes, types, shapes, operands. Bytes at random seldom do.
std::string damageModel(const std::string &bytes, Engine &engine);

} // namespace dlc::fuzz

#endif // DLC_TEST_FUZZ_QUANTISED_H
