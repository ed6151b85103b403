//===- Quantized.h - mutations of quantized models ---------------------------------===//
#ifndef DLC_TEST_FUZZ_QUANTISED_H
#define DLC_TEST_FUZZ_QUANTISED_H

#include "test/fuzz/Mutate.h"

namespace dlc::fuzz {

/// Returns a well-formed model with wrong or unusual scales, zero points, block sizes, axes, types,
/// shapes or operands. Random bytes rarely lead to such models.
std::string damageModel(const std::string &bytes, Engine &engine);

} // namespace dlc::fuzz

#endif // DLC_TEST_FUZZ_QUANTISED_H
