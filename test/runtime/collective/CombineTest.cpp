//===- CombineTest.cpp - sums and maxima of every element type ----------------===//
#include "runtime/collective/Combine.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace dlc;
using namespace dlc::runtime;

namespace {

template <typename T>
std::vector<T> combined(Reduction how, DType type, std::vector<T> a, const std::vector<T> &b) {
  combine(how, type, a.data(), b.data(), a.size());
  return a;
}

uint16_t bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

} // namespace

TEST(Combine, IntegersStayInTheirRange) {
  EXPECT_EQ(combined<int32_t>(Reduction::Sum, DType::I32, {std::numeric_limits<int32_t>::max(), 5},
                              {1, -7}),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::min(), -2}));
  EXPECT_EQ(combined<uint8_t>(Reduction::Sum, DType::U8, {250}, {10}), (std::vector<uint8_t>{4}));
  EXPECT_EQ(combined<int64_t>(Reduction::Max, DType::I64, {-3, 9}, {-2, -10}),
            (std::vector<int64_t>{-2, 9}));
}

TEST(Combine, WhatIsNotANumberIsTheGreatest) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto both = combined<float>(Reduction::Max, DType::F32, {nan, 1, 2}, {1, nan, 3});
  EXPECT_TRUE(std::isnan(both[0]));
  EXPECT_TRUE(std::isnan(both[1]));
  EXPECT_EQ(both[2], 3);
}

TEST(Combine, HalvesGoByWayOfF32) {
  // More elements than one block of conversions.
  std::vector<uint16_t> ones(3000, bf16(1)), twos(3000, bf16(2));
  EXPECT_EQ(combined(Reduction::Sum, DType::BF16, ones, twos),
            std::vector<uint16_t>(3000, bf16(3)));
  EXPECT_EQ(combined(Reduction::Max, DType::BF16, ones, twos), twos);
  EXPECT_EQ(combined<uint16_t>(Reduction::Sum, DType::F16, {0x3c00}, {0x4000}),
            (std::vector<uint16_t>{0x4200}));
}

TEST(Combine, SumsInOrderDoNotDependOnWhereThePartsWere) {
  // (1e8 + 1) - 1e8 is 0 in f32, and (1e8 - 1e8) + 1 is 1.
  std::array<float, 6> parts{1e8f, 1e8f, 1, -1e8f, -1e8f, 1};
  sumInOrder(DType::F32, parts.data(), parts.data(), 3, 2);
  EXPECT_EQ(parts[0], 0);
  EXPECT_EQ(parts[1], 1);
}

TEST(Combine, SumsOfHalvesAreRoundedOnce) {
  // 256 + 1 is rounded to 256 in bf16. The sum of all five values is 260.
  std::vector<uint16_t> parts{bf16(256), bf16(1), bf16(1), bf16(1), bf16(1)};
  sumInOrder(DType::BF16, parts.data(), parts.data(), 5, 1);
  EXPECT_EQ(parts[0], bf16(260));
}
