//===- Together.h - what all engines must do, on all ranks of a world ---------===//
#ifndef DLC_TEST_RUNTIME_COLLECTIVE_TOGETHER_H
#define DLC_TEST_RUNTIME_COLLECTIVE_TOGETHER_H

#include "runtime/collective/World.h"

namespace dlc::test {

/// These are called by all ranks and throw dlc::Error at the first wrong element.
///
/// Each collective, in and out of place.
void eachCollective(runtime::World &world);
/// Sums and maxima of each element type.
void eachType(runtime::World &world);
/// Forty under way at once, waited for from the last to the first.
void manyAtOnce(runtime::World &world);
/// The sum of four chunks, as one number of bits whatever the world; it must divide four.
uint64_t orderedSum(runtime::World &world);

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_COLLECTIVE_TOGETHER_H
