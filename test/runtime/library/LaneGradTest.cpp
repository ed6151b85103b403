//===- LaneGradTest.cpp - compares depthwise weight gradients of blocked and plain channels ===//
#include "LaneCases.h"

using namespace dlc;
using namespace dlc::test;

namespace {

// Windows that are processed completely and in parts, windows that extend past each border or are
// entirely outside, and channels that do not fill a vector.
const LaneCase kCases[] = {
    {2, 32, 16, {14, 14}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {3, 20, 20, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 0}, {1, 1}},
    {1, 9, 9, {7, 7}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}},
    {2, 50, 50, {6, 13}, {4, 11}, {1, 2}, {2, 1}, {3, 5}, {2, 5}},
    {1, 16, 8, {3, 3}, {5, 5}, {1, 1}, {1, 1}, {4, 4}, {4, 4}},
    {1, 8, 8, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 24, 24, {1, 40}, {1, 31}, {1, 1}, {1, 1}, {0, 15}, {0, 15}},
    {1, 33, 33, {30, 5}, {9, 1}, {1, 1}, {1, 1}, {4, 0}, {4, 0}},
};

TEST(LaneGrad, AgreesWithPlanes) {
  onEachProcessor([] {
    for (const LaneCase &c : kCases)
      for (int threads : {1, 2, 5}) {
        int64_t pixels = c.size[0] * c.size[1], results = c.out(0) * c.out(1);
        size_t weights = size_t(c.channels * c.kernel[0] * c.kernel[1]);
        // Small integers, so that every order of summation gives the same result.
        std::vector<float> x = randomFloats(c.images * c.channels * pixels, false),
                           dy = randomFloats(c.images * c.channels * results, false);
        std::vector<Array> plain = {Array::of(x), Array::of(dy), Array::output<float>(weights)};
        json desc = c.describe("conv_weight_grad");
        desc["groups"] = c.channels;
        runBuiltin(desc, plain);
        std::vector<Array> lanes = {Array::of(grouped(x, c, pixels)),
                                    Array::of(grouped(dy, c, results)),
                                    Array::output<float>(weights)};
        desc = c.describe("lane_weight_grad");
        desc["group"] = c.group;
        runBuiltin(desc, lanes, threads);
        EXPECT_EQ(lanes[2].as<float>(), plain[2].as<float>())
            << c.describe("case").dump() << " threads " << threads;
      }
  });
}

TEST(LaneGrad, RefusesOtherGroups) {
  json desc = kCases[0].describe("lane_weight_grad");
  std::vector<Array> arrays = {Array::output<float>(2 * 32 * 14 * 14)};
  for (int64_t group : {3, 4}) {
    desc["group"] = group;
    EXPECT_THROW(runBuiltin(desc, arrays), dlc::Error) << group;
  }
}

} // namespace
