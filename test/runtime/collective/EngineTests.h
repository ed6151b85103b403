//===- EngineTests.h - tests of collectives that every engine must pass -------===//
#ifndef DLC_TEST_RUNTIME_COLLECTIVE_ENGINETESTS_H
#define DLC_TEST_RUNTIME_COLLECTIVE_ENGINETESTS_H

#include "runtime/collective/World.h"

namespace dlc::test {

/// All ranks call these functions, which throw dlc::Error at the first wrong element.
///
/// Each collective, in place and out of place.
void eachCollective(runtime::World &world);
/// Sums and maxima of each element type.
void eachType(runtime::World &world);
/// Forty collectives that are in progress at the same time. The ranks wait for the last one first.
void manyAtOnce(runtime::World &world);
/// Sums four chunks in order and returns the bits of the result, which must not depend on the
/// world. The size of the world must divide four.
uint64_t orderedSum(runtime::World &world);

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_COLLECTIVE_ENGINETESTS_H
