//===- WatchTest.cpp - detection of slow, hanging and dead ranks --------------===//
#include "runtime/collective/Watch.h"

#include <gmock/gmock.h>

using namespace dlc::runtime;
using testing::HasSubstr;

TEST(Watch, ASlowStepIsNoFault) {
  HeartbeatMonitor watch(1, 10, 0);
  for (int second = 1; second < 100; ++second) {
    watch.take({.step = 3, .started = 7, .life = static_cast<uint64_t>(second)}, second);
    EXPECT_EQ(watch.fault(8, 1, second), "");
  }
}

TEST(Watch, OneThatHangsIsNamed) {
  HeartbeatMonitor watch(1, 10, 0);
  for (int second = 1; second <= 11; ++second) {
    watch.take({.step = 3, .started = 7, .life = 5}, second);
    EXPECT_EQ(watch.fault(8, 0, second), "") << second;
  }
  watch.take({.step = 3, .started = 7, .life = 5}, 12);
  EXPECT_THAT(watch.fault(8, 0, 12), HasSubstr("rank 1 hangs in step 3"));
  // No rank waits, or the ranks do not wait for rank 1.
  EXPECT_EQ(watch.fault(7, 0, 12), "");
  EXPECT_EQ(watch.fault(8, 5, 12), "");
}

TEST(Watch, OneThatIsStoppedIsNamed) {
  HeartbeatMonitor watch(2, 10, 0);
  watch.take({.step = 4}, 1);
  EXPECT_EQ(watch.fault(0, 0, 11), "");
  EXPECT_THAT(watch.fault(0, 0, 12), HasSubstr("rank 2 has sent no heartbeat for 11 s"));
}

TEST(Watch, AStoppedRankReportsNoOther) {
  HeartbeatMonitor watch(2, 10, 0);
  watch.take({.step = 4, .started = 6}, 1);
  watch.restartTimeouts(100);
  EXPECT_EQ(watch.fault(7, 0, 105), "");
  EXPECT_THAT(watch.fault(7, 0, 111), HasSubstr("rank 2 has sent no heartbeat for 11 s"));
}

TEST(Watch, OneThatDiedIsNamed) {
  HeartbeatMonitor watch(2, 10, 0);
  watch.take({.process = 77, .step = 4}, 1);
  EXPECT_THAT(watch.fault(0, 0, 1, /*gone=*/true), HasSubstr("rank 2 died in step 4 (process 77)"));
  watch.take({.process = 77, .step = 4, .leaving = 1}, 1);
  EXPECT_EQ(watch.fault(0, 0, 1, /*gone=*/true), "");
}

TEST(Watch, OneThatIsStoppedDoesNotHang) {
  HeartbeatMonitor watch(2, 10, 0);
  watch.take({.step = 4, .started = 6}, 0.5);
  EXPECT_EQ(watch.fault(7, 0.1, 10.4), "");
  EXPECT_THAT(watch.fault(7, 0.1, 10.6), HasSubstr("rank 2 has sent no heartbeat for 10 s"));
}

TEST(Watch, OneThatLeavesTooEarlyIsNamed) {
  HeartbeatMonitor watch(2, 10, 0);
  watch.take({.step = 4, .started = 6, .leaving = 1}, 1);
  EXPECT_EQ(watch.fault(6, 0, 100), "");
  EXPECT_THAT(watch.fault(7, 0, 2), HasSubstr("rank 2 left in step 4 after 6 collectives"));
}
