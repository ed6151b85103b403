//===- GpuTest.cpp - cost model of GPUs ------------------------------------===//
#include "codegen/machine/Gpu.h"

#include <gtest/gtest.h>

using namespace dlc;

TEST(Gpu, IsTheLastOneKnownBefore) {
  EXPECT_EQ(usualGpu(99).tensor16, usualGpu(90).tensor16);
  EXPECT_EQ(usualGpu(50).multiprocessors, usualGpu(75).multiprocessors);
  EXPECT_GT(usualGpu(100).gigabytes, usualGpu(90).gigabytes);
}

TEST(Gpu, IsWhatItSaysOfItself) {
  GpuCostParameters whole = usualGpu(90), half = getGpuParameters(90, {66, 1.98, 0});
  EXPECT_EQ(half.multiprocessors, 66);
  EXPECT_NEAR(half.tensor16 / whole.tensor16, 0.5, 1e-9);
  EXPECT_EQ(half.gigabytes, whole.gigabytes);
  EXPECT_NEAR(getGpuParameters(90, {0, 0, 1000}).gigabytes, 1000 * GpuEfficiencies().memory, 1e-9);
}

TEST(Gpu, LargeProductsComeNearTheRate) {
  GpuCostParameters gpu = usualGpu(90);
  GpuMatmulSizes large{1, 8192, 8192, 8192, gpu.tensor16};
  double least = large.flops() / gpu.tensor16 * 1e-3;
  EXPECT_GE(large.time(gpu), least);
  EXPECT_LE(large.time(gpu), 1.1 * least);
}

TEST(Gpu, FewBlocksLeaveMultiprocessorsIdle) {
  GpuCostParameters gpu = usualGpu(90);
  GpuMatmulSizes one{1, 64, 64, 200, gpu.tensor16};
  // One block runs on one multiprocessor. A long contraction is split into parts.
  EXPECT_GE(one.time(gpu), 100 * one.flops() / gpu.tensor16 * 1e-3);
  GpuMatmulSizes longer = one;
  longer.contracted = 200 * 256;
  EXPECT_LE(longer.time(gpu), 5 * one.time(gpu));
}
