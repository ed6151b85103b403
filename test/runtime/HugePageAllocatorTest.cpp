//===- HugePageAllocatorTest.cpp - constants stored contiguously on huge pages ----===//
#include "runtime/device/cpu/HugePageAllocator.h"
#include "runtime/program/WeightsMemory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

using dlc::runtime::HugePageAllocator;

namespace {

constexpr size_t kPage = size_t(2) << 20;

TEST(HugePageAllocator, CopiesAreAdjacent) {
  HugePageAllocator hugePages;
  std::vector<char> first(kPage + 100, 'a'), second(1000, 'b');
  auto *one = static_cast<char *>(hugePages.copy(first.data(), first.size()).get());
  auto copy = hugePages.copy(second.data(), second.size());
  auto *two = static_cast<char *>(copy.get());
  ASSERT_TRUE(one && two);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(one) % kPage, 0u);
  EXPECT_EQ(two - one, ptrdiff_t(kPage + 128)); // each copy begins at a cache line
  EXPECT_EQ(std::memcmp(one, first.data(), first.size()), 0);
  EXPECT_EQ(std::memcmp(two, second.data(), second.size()), 0);
}

TEST(HugePageAllocator, SmallOnesBeginNoPage) {
  HugePageAllocator hugePages;
  std::vector<char> small(1000, 'a'), half(kPage / 2, 'b');
  EXPECT_EQ(hugePages.copy(small.data(), 0), nullptr);
  EXPECT_EQ(hugePages.copy(small.data(), small.size()), nullptr);
  EXPECT_NE(hugePages.copy(half.data(), half.size()), nullptr);
  EXPECT_NE(hugePages.copy(small.data(), small.size()), nullptr);
}

TEST(HugePageAllocator, CopiesOutliveIt) {
  std::vector<char> data(kPage, 'a');
  std::vector<std::shared_ptr<void>> copies;
  {
    HugePageAllocator hugePages;
    for (int i = 0; i < 40; ++i) // enough for more than one block
      copies.push_back(hugePages.copy(data.data(), data.size()));
  }
  for (auto &copy : copies) {
    ASSERT_TRUE(copy);
    EXPECT_EQ(std::memcmp(copy.get(), data.data(), data.size()), 0);
  }
}

TEST(HugePageAllocator, NoMemory) {
  HugePageAllocator hugePages;
  EXPECT_EQ(hugePages.copy(nullptr, size_t(1) << 60), nullptr);
}

TEST(HugePageAllocator, LastAllocationIsFreed) {
  HugePageAllocator hugePages;
  auto first = hugePages.allocate(kPage + 100), second = hugePages.allocate(1000);
  EXPECT_FALSE(hugePages.isLast(first.get()));
  ASSERT_TRUE(hugePages.isLast(second.get()));
  hugePages.freeLast();
  EXPECT_EQ(hugePages.allocate(500).get(), second.get());
}

TEST(Weights, ArePackedWhereTheyAreToStay) {
  std::vector<char> there(1000);
  {
    dlc::runtime::WeightsMemoryScope place([&](uint64_t bytes) {
      return bytes <= there.size() ? std::shared_ptr<void>(there.data(), [](void *) {}) : nullptr;
    });
    EXPECT_EQ(dlc::runtime::allocateWeights(1000).get(), there.data());
    auto larger = dlc::runtime::allocateWeights(1001);
    EXPECT_TRUE(larger && larger.get() != there.data());
  }
  EXPECT_NE(dlc::runtime::allocateWeights(1000).get(), there.data());
}

} // namespace
