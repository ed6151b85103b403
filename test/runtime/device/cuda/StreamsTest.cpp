//===- StreamsTest.cpp - streams that run as late as their events permit ------===//
#include "test/runtime/device/cuda/Gpu.h"

using namespace dlc::cuda::test;

namespace {

/// Tests on the emulated GPU, whose order of execution can be set.
class Streams : public Gpu {
protected:
  void SetUp() override {
    if (!emulated())
      GTEST_SKIP() << "a real GPU runs when it likes";
    Gpu::SetUp();
  }
  void TearDown() override {
    const char *order = std::getenv("DLC_EMULATED_ORDER");
    if (emulated())
      configure("order", order ? order : "late");
    Gpu::TearDown();
  }

  /// Copies on two streams, where the second copy reads the result of the first. Returns the value
  /// that arrives.
  float handOver(bool wait) {
    void *a = allocate(4), *b = allocate(4), *s = stream(), *t = stream(), *there = event();
    std::vector<float> value = {42};
    ok(table().fill, device, s, a, uint8_t{0}, uint64_t{4});
    ok(table().stream_synchronize, device, s);
    upload(s, a, value);
    ok(table().event_record, device, there, s);
    if (wait)
      ok(table().event_wait, device, t, there);
    ok(table().copy, device, t, b, static_cast<const void *>(a), uint64_t{4}, int{DLC_COPY_WITHIN},
       static_cast<void *>(nullptr));
    float got = download(t, b, 1)[0];
    ok(table().stream_synchronize, device, s);
    return got;
  }
};

TEST_F(Streams, NothingRunsBeforeItMust) {
  configure("order", "late");
  void *a = allocate(4), *s = stream();
  std::vector<float> got = {-1}, value = {5};
  ok(table().copy, device, s, a, static_cast<const void *>(value.data()), uint64_t{4},
     int{DLC_COPY_HOST_TO_DEVICE}, static_cast<void *>(nullptr));
  ok(table().copy, device, s, static_cast<void *>(got.data()), static_cast<const void *>(a),
     uint64_t{4}, int{DLC_COPY_DEVICE_TO_HOST}, static_cast<void *>(nullptr));
  EXPECT_EQ(got[0], -1);
  // Therefore changing a host buffer before the copy has run changes the result.
  value[0] = 6;
  ok(table().stream_synchronize, device, s);
  EXPECT_EQ(got[0], 6);
}

TEST_F(Streams, AnEventIsReachedWithoutTheRest) {
  configure("order", "late");
  void *a = allocate(4), *s = stream(), *early = event();
  std::vector<float> first = {-1}, second = {-1}, value = {5};
  upload(s, a, value);
  auto fetch = [&](std::vector<float> &to) {
    ok(table().copy, device, s, static_cast<void *>(to.data()), static_cast<const void *>(a),
       uint64_t{4}, int{DLC_COPY_DEVICE_TO_HOST}, static_cast<void *>(nullptr));
  };
  fetch(first);
  ok(table().event_record, device, early, s);
  fetch(second);
  ok(table().event_synchronize, device, early);
  EXPECT_EQ(first[0], 5);
  EXPECT_EQ(second[0], -1);
  ok(table().stream_synchronize, device, s);
}

TEST_F(Streams, WaitsHoldInEveryOrder) {
  for (const char *order : {"late", "random", "eager"}) {
    configure("order", order);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(handOver(true), 42) << order;
  }
}

TEST_F(Streams, AMissingWaitShows) {
  configure("order", "late");
  EXPECT_NE(handOver(false), 42);
  configure("order", "random");
  int wrong = 0;
  for (int seed = 0; seed < 20; ++seed) {
    configure("seed", std::to_string(seed).c_str());
    wrong += handOver(false) != 42;
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, 20);
}

/// An event that was never recorded counts as reached: work that follows a wait for it runs.
TEST_F(Streams, AnUnrecordedEventIsReached) {
  for (const char *order : {"late", "random"}) {
    configure("order", order);
    void *s = stream(), *never = event(), *a = allocate(4);
    ok(table().fill, device, s, a, uint8_t{0}, uint64_t{4});
    ok(table().event_wait, device, s, never);
    upload(s, a, {7});
    ok(table().event_synchronize, device, never);
    EXPECT_EQ(download(s, a, 1), std::vector<float>{7}) << order;
  }
}

TEST_F(Streams, EventsTellTheTimeBetweenThem) {
  void *s = stream(), *from = event(), *to = event(), *a = allocate(1 << 20);
  ok(table().event_record, device, from, s);
  ok(table().fill, device, s, a, uint8_t{1}, uint64_t{1} << 20);
  ok(table().event_record, device, to, s);
  ok(table().stream_synchronize, device, s);
  float milliseconds = -1;
  ok(table().event_elapsed, device, from, to, &milliseconds);
  EXPECT_GE(milliseconds, 0);
  EXPECT_LT(milliseconds, 10000);
}

TEST_F(Streams, AGraphMustComeTogetherAtItsEnd) {
  void *s = stream(), *t = stream(), *forked = event(), *a = allocate(4), *graph = nullptr;
  ok(table().capture_begin, device, s);
  ok(table().fill, device, s, a, uint8_t{1}, uint64_t{4});
  ok(table().event_record, device, forked, s);
  ok(table().event_wait, device, t, forked);
  ok(table().fill, device, t, a, uint8_t{2}, uint64_t{4});
  std::string error = failing(table().capture_end, device, s, &graph);
  EXPECT_NE(error.find("UNJOINED"), std::string::npos) << error;
  // Both streams are usable again.
  ok(table().stream_synchronize, device, t);
}

TEST_F(Streams, AStreamThatIsCapturedCannotBeWaitedFor) {
  void *s = stream(), *graph = nullptr;
  ok(table().capture_begin, device, s);
  std::string error = failing(table().stream_synchronize, device, s);
  EXPECT_NE(error.find("CAPTURE"), std::string::npos) << error;
  ok(table().capture_end, device, s, &graph);
  table().graph_destroy(device, graph);
}

} // namespace
