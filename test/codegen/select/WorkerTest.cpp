//===- WorkerTest.cpp - worker processes for work that may crash --------------===//
#include "codegen/select/measure/Worker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dlc;

TEST(Worker, SaysWhatItFound) {
  std::vector<std::string> heard;
  int here = 1;
  WorkerExit end = runWorker(
      [&](WorkerConnection &line) {
        here = 2;
        line.say("first");
        line.say(std::string(100000, 'x'));
        line.say(std::to_string(here));
      },
      [&](const std::string &message) { heard.push_back(message); }, 20);
  EXPECT_EQ(end.death, "");
  ASSERT_EQ(heard.size(), 3u);
  EXPECT_EQ(heard[1].size(), 100000u);
  EXPECT_EQ(heard[2], "2");
  EXPECT_EQ(here, 1);
}

TEST(Worker, ACrashEndsTheWorkerAlone) {
  for (int signal : {SIGSEGV, SIGILL, SIGABRT, SIGKILL}) {
    std::string heard;
    WorkerExit end = runWorker(
        [&](WorkerConnection &line) {
          line.at(3);
          line.say("before");
          line.at(4);
          std::raise(signal);
        },
        [&](const std::string &message) { heard = message; }, 20);
    EXPECT_EQ(end.place, 4u);
    EXPECT_NE(end.death.find("crashed: "), std::string::npos);
    EXPECT_EQ(heard, "before");
    EXPECT_FALSE(end.hung);
  }
}

TEST(Worker, OneThatDoesNotEndIsKilled) {
  WorkerExit end = runWorker(
      [](WorkerConnection &line) {
        line.at(1);
        std::this_thread::sleep_for(std::chrono::hours(1));
      },
      [](const std::string &) {}, 0.3);
  EXPECT_EQ(end.place, 1u);
  EXPECT_TRUE(end.hung);
  EXPECT_NE(end.death.find("did not finish"), std::string::npos);
}

TEST(Worker, UnneededWorkersAreKilledWithoutBlame) {
  WorkerExit end = runWorker(
      [](WorkerConnection &line) {
        line.at(1);
        std::this_thread::sleep_for(std::chrono::hours(1));
      },
      [](const std::string &) {}, 60, [] { return true; });
  EXPECT_EQ(end.place, kNowhere);
  EXPECT_FALSE(end.hung);
}
