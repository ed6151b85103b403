//===- CopyTest.cpp - asynchronous copies -----------------------------------------===//
#include "dlc/eager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <thread>

using namespace dlc;

namespace {

const bool kOnGpus = std::getenv("DLC_TEST_GPUS") != nullptr;
const char *const kThere = kOnGpus ? "cuda:0" : "cpu:1";
const char *const kElsewhere = kOnGpus ? "cuda:1" : "cpu:2";

Tensor counted(int64_t count, int32_t first = 0) {
  Tensor x(DType::I32, {count});
  for (int64_t i = 0; i < count; ++i)
    x.data<int32_t>()[i] = first + int32_t(i);
  return x;
}

void expectCounted(const Tensor &x, int32_t first = 0) {
  Tensor here = x.to("cpu");
  for (int64_t i = 0; i < here.elements(); ++i)
    ASSERT_EQ(here.data<int32_t>()[i], first + int32_t(i));
}

constexpr int64_t kCount = 4 << 20;

TEST(DeviceApiCopies, WhoLooksWaits) {
  Tensor x = counted(kCount).pin();
  Tensor there = x.to(kThere, true), copy = there;
  EXPECT_EQ(there.device(), Device(kThere));
  EXPECT_EQ(there.to(kThere, true).raw(), copy.raw());
  Tensor further = there.to(kElsewhere, true), back = further.to("cpu", true);
  expectCounted(back);
  expectCounted(copy);
  std::ostringstream text;
  text << counted(2).to(kThere, true);
  EXPECT_EQ(text.str(), std::string("tensor([0, 1], i32, ") + kThere + ")");
  EXPECT_EQ((Tensor::ones({4}).to(kThere, true) + Tensor::ones({4}).to(kThere, true)).shape(),
            std::vector<int64_t>{4});
  EXPECT_EQ(sum(Tensor::ones({4}).to(kThere, true)).item(), 4);
}

TEST(DeviceApiCopies, SourcesLiveUntilTheCopyIsDone) {
  std::vector<Tensor> there;
  for (int32_t i = 0; i < 16; ++i)
    there.push_back(counted(1 << 18, i).pin().to(kThere, true));
  for (int32_t i = 0; i < 16; ++i)
    expectCounted(there[size_t(i)], i);
}

TEST(DeviceApiCopies, TargetsMayGoFirst) {
  Tensor x = counted(kCount).pin();
  for (int i = 0; i < 8; ++i)
    x.to(kThere, true);
  expectCounted(x);
}

TEST(DeviceApiCopies, SeveralThreadsMayWait) {
  Tensor there = counted(kCount).to(kThere, true);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { expectCounted(there); });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(DeviceApiCopies, ManyAtOnce) {
  std::vector<Tensor> sources, targets;
  for (int32_t i = 0; i < 8; ++i)
    sources.push_back(counted(kCount / 16, i));
  for (int round = 0; round < 4; ++round)
    for (int32_t i = 0; i < 8; ++i)
      targets.push_back(sources[size_t(i)].to(i % 2 ? kThere : kElsewhere, true));
  for (size_t i = 0; i < targets.size(); ++i)
    expectCounted(targets[i], int32_t(i % 8));
}

TEST(DeviceApiCopies, Errors) {
  Tensor x = counted(4);
  try {
    x.to(kOnGpus ? "cuda:77" : "cpu:77", true);
    ADD_FAILURE() << "there is such a device";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("device not found:"));
  }
}

TEST(DeviceApiCopies, CInterface) {
  DLDevice device{};
  ASSERT_EQ(dlc_device_parse(kThere, &device), nullptr);
  int64_t shape[] = {3}, other[] = {2};
  float numbers[] = {1, 2.5f, -3}, back[3] = {};
  void *memory = nullptr;
  ASSERT_EQ(dlc_memory_allocate(device, sizeof numbers, &memory), nullptr);
  DLTensor from{numbers, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLTensor there{memory, device, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLTensor home{back, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  dlc_copy *copy = nullptr;
  ASSERT_EQ(dlc_tensor_copy_begin(&there, &from, &copy), nullptr);
  EXPECT_NE(copy, nullptr);
  ASSERT_EQ(dlc_copy_end(copy), nullptr);
  ASSERT_EQ(dlc_tensor_copy_begin(&home, &there, &copy), nullptr);
  ASSERT_EQ(dlc_copy_end(copy), nullptr);
  EXPECT_EQ(back[1], 2.5f);
  // Copies that convert elements are synchronous.
  int32_t whole[3] = {};
  DLTensor integers{whole, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, nullptr, 0};
  ASSERT_EQ(dlc_tensor_copy_begin(&integers, &there, &copy), nullptr);
  EXPECT_EQ(copy, nullptr);
  EXPECT_EQ(whole[2], -3);
  EXPECT_EQ(dlc_copy_end(copy), nullptr);
  home.shape = other;
  dlc_error *error = dlc_tensor_copy_begin(&home, &there, &copy);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(dlc_error_message(error), testing::HasSubstr("shape [3] cannot be copied to one of"));
  dlc_error_free(error);
  dlc_memory_free(device, memory);
}

} // namespace
