//===- GraphCaptureTest.cpp - captures of device commands that fail -----------===//
#include "runtime/session/GraphCapture.h"

#include <gtest/gtest.h>

#include <new>

using namespace dlc::runtime;

namespace {

/// A device that counts captures and graphs.
struct CountingDevice {
  int begun = 0, ended = 0, launched = 0, graphs = 0;
  dlc_device_table table{};
  DeviceKind kind;

  CountingDevice() {
    table.capture_begin = [](void *device, void *, char *, size_t) {
      ++static_cast<CountingDevice *>(device)->begun;
      return 0;
    };
    table.capture_end = [](void *device, void *, void **graph, char *, size_t) {
      auto *self = static_cast<CountingDevice *>(device);
      ++self->ended;
      ++self->graphs;
      *graph = self;
      return 0;
    };
    table.graph_launch = [](void *device, void *, void *, char *, size_t) {
      ++static_cast<CountingDevice *>(device)->launched;
      return 0;
    };
    table.graph_destroy = [](void *device, void *) {
      --static_cast<CountingDevice *>(device)->graphs;
    };
    kind.name = "counting";
    kind.table = &table;
  }
};

TEST(GraphCapture, EndsTheCaptureAfterAnyException) {
  CountingDevice counting;
  {
    Device device({"counting", 0}, counting.kind, &counting);
    GraphCapture capture(device, 0, 1);
    const std::vector<void *> addresses = {&counting};
    int calls = 0;
    bool fails = false;
    auto submit = [&](void *) {
      ++calls;
      if (fails)
        throw std::bad_alloc();
    };
    capture.run(nullptr, nullptr, addresses, submit);
    EXPECT_EQ(counting.begun, 0);
    fails = true;
    EXPECT_THROW(capture.run(nullptr, nullptr, addresses, submit), std::bad_alloc);
    EXPECT_EQ(counting.begun, 1);
    EXPECT_EQ(counting.ended, 1);
    EXPECT_EQ(counting.graphs, 0);
    // The next run captures the commands again.
    fails = false;
    capture.run(nullptr, nullptr, addresses, submit);
    EXPECT_EQ(counting.ended, 2);
    EXPECT_EQ(counting.launched, 1);
    EXPECT_EQ(calls, 3);
  }
  EXPECT_EQ(counting.graphs, 0);
}

TEST(GraphCapture, SubmitsCommandsIfACaptureReportsAnError) {
  CountingDevice counting;
  Device device({"counting", 0}, counting.kind, &counting);
  GraphCapture capture(device, 0, 1);
  const std::vector<void *> addresses = {&counting};
  int first = 0, second = 0, calls = 0;
  auto submit = [&](void *stream) {
    ++calls;
    if (stream == &second)
      fail("this command cannot be captured");
  };
  for (int run = 0; run < 3; ++run)
    capture.run(&first, &second, addresses, submit);
  EXPECT_EQ(counting.begun, 1);
  EXPECT_EQ(counting.ended, 1);
  EXPECT_EQ(counting.graphs, 0);
  EXPECT_EQ(counting.launched, 0);
  EXPECT_EQ(calls, 4); // the capture, and all runs
}

} // namespace
