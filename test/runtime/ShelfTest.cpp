//===- ShelfTest.cpp - constants stored contiguously on huge pages ----------------===//
#include "runtime/device/cpu/Shelf.h"
#include "runtime/program/WeightsMemory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

using dlc::runtime::Shelf;

namespace {

constexpr size_t kPage = size_t(2) << 20;

TEST(Shelf, CopiesLieSideBySide) {
  Shelf shelf;
  std::vector<char> first(kPage + 100, 'a'), second(1000, 'b');
  auto *one = static_cast<char *>(shelf.copy(first.data(), first.size()).get());
  auto copy = shelf.copy(second.data(), second.size());
  auto *two = static_cast<char *>(copy.get());
  ASSERT_TRUE(one && two);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(one) % kPage, 0u);
  EXPECT_EQ(two - one, ptrdiff_t(kPage + 128)); // each copy begins at a cache line
  EXPECT_EQ(std::memcmp(one, first.data(), first.size()), 0);
  EXPECT_EQ(std::memcmp(two, second.data(), second.size()), 0);
}

TEST(Shelf, SmallOnesBeginNoPage) {
  Shelf shelf;
  std::vector<char> small(1000, 'a'), half(kPage / 2, 'b');
  EXPECT_EQ(shelf.copy(small.data(), 0), nullptr);
  EXPECT_EQ(shelf.copy(small.data(), small.size()), nullptr);
  EXPECT_NE(shelf.copy(half.data(), half.size()), nullptr);
  EXPECT_NE(shelf.copy(small.data(), small.size()), nullptr);
}

TEST(Shelf, CopiesOutliveIt) {
  std::vector<char> data(kPage, 'a');
  std::vector<std::shared_ptr<void>> copies;
  {
    Shelf shelf;
    for (int i = 0; i < 40; ++i) // enough for more than one block
      copies.push_back(shelf.copy(data.data(), data.size()));
  }
  for (auto &copy : copies) {
    ASSERT_TRUE(copy);
    EXPECT_EQ(std::memcmp(copy.get(), data.data(), data.size()), 0);
  }
}

TEST(Shelf, NoMemory) {
  Shelf shelf;
  EXPECT_EQ(shelf.copy(nullptr, size_t(1) << 60), nullptr);
}

TEST(Shelf, RoomThatIsTakenBack) {
  Shelf shelf;
  auto first = shelf.room(kPage + 100), second = shelf.room(1000);
  EXPECT_FALSE(shelf.isLast(first.get()));
  ASSERT_TRUE(shelf.isLast(second.get()));
  shelf.takeBack();
  EXPECT_EQ(shelf.room(500).get(), second.get());
}

TEST(Weights, ArePackedWhereTheyAreToStay) {
  std::vector<char> there(1000);
  {
    dlc::runtime::WeightsPlace place([&](uint64_t bytes) {
      return bytes <= there.size() ? std::shared_ptr<void>(there.data(), [](void *) {}) : nullptr;
    });
    EXPECT_EQ(dlc::runtime::allocateWeights(1000).get(), there.data());
    auto larger = dlc::runtime::allocateWeights(1001);
    EXPECT_TRUE(larger && larger.get() != there.data());
  }
  EXPECT_NE(dlc::runtime::allocateWeights(1000).get(), there.data());
}

} // namespace
