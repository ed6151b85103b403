//===- SessionsTest.cpp - sessions for other languages, and cancelled compilations ------===//
#include "tools/compiler/Sessions.h"
#include "dlc/Error.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace {

const std::string dynamicModel = INPUTS "/dynamic.mlir";

TEST(SessionCache, OneForEachShape) {
  dlc::SessionCache sessions(dynamicModel, {.cacheDir = ""});
  ASSERT_EQ(sessions.inputs().size(), 1u);
  EXPECT_EQ(sessions.inputs()[0].shape, (std::vector<int64_t>{-1, 4}));
  auto two = sessions.get({{"x", {2, 4}}}), three = sessions.get({{"x", {3, 4}}});
  EXPECT_EQ(sessions.get({{"x", {2, 4}}}), two);
  EXPECT_NE(two, three);
  std::vector<float> x(8, 1.0f), y(8);
  const void *from = x.data();
  void *to = y.data();
  two->run({&from, 1}, {&to, 1});
  EXPECT_FLOAT_EQ(y[0], 0.25f);
}

TEST(SessionCache, OptionsAreCheckedAtOnce) {
  EXPECT_THROW(dlc::SessionCache(dynamicModel, {.precision = "f8"}), dlc::Error);
}

TEST(SessionCache, ACancelledCompilationLeavesNothingBroken) {
  std::atomic<bool> isCancelled = true;
  std::atomic<int> asked = 0;
  std::string told;
  auto cancel = [&] {
    ++asked;
    return isCancelled.load();
  };
  auto tell = [&](const std::string &what, int done, int total) {
    told += what + " " + std::to_string(done) + " of " + std::to_string(total) + "\n";
  };
  dlc::SessionCache sessions(dynamicModel, {.cacheDir = ""}, {cancel, tell});
  EXPECT_THROW(sessions.get({{"x", {2, 4}}}), dlc::SessionCache::Cancelled);
  EXPECT_GT(asked, 0);
  // An error of the compilation itself is not reported as a cancellation.
  isCancelled = false;
  EXPECT_THROW(sessions.get({{"x", {2, 5}}}), dlc::Error);
  EXPECT_NE(sessions.get({{"x", {2, 4}}}), nullptr);
  EXPECT_NE(told.find("generating code 1 of 1\n"), std::string::npos) << told;
  EXPECT_NE(told.find("compiling 12 of 12\n"), std::string::npos) << told;
}

} // namespace
