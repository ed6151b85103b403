//===- DecideTest.cpp - selection of a candidate from several measurement sessions ===//
#include "codegen/select/Decide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace dlc;

namespace {

TunedCandidate timed(const std::string &kernel, const std::string &implementation, double estimate,
                     double slowdown = 1) {
  TunedCandidate c;
  c.kernel = kernel;
  c.implementation = implementation;
  c.estimate = estimate;
  c.min = c.median = 10 * slowdown;
  c.slowdown = c.slowdownLow = c.slowdownHigh = slowdown;
  c.runs = 10;
  c.error = 1e-7;
  c.checked = "f64";
  return c;
}

/// Returns the times of one measurement session. The cost model prefers the first candidate.
TuningEntry sessionOf(std::vector<double> times, const std::string &kernelOfFirst = "contract") {
  TuningEntry entry;
  entry.key.operation = "op";
  double best = *std::min_element(times.begin(), times.end());
  for (size_t i = 0; i < times.size(); ++i)
    entry.candidates.push_back(timed(i ? "onednn" : kernelOfFirst, "k" + std::to_string(i),
                                     double(5 + i), times[i] / best));
  return entry;
}

/// Returns the entry as it is before its first measurement session.
TuningEntry freshLike(TuningEntry entry) {
  for (TunedCandidate &c : entry.candidates)
    c.median = c.min = 0, c.runs = 0, c.slowdown = 1;
  return entry;
}

TuningEntry after(std::vector<TuningEntry> sessions) {
  TuningEntry entry = freshLike(sessions[0]);
  for (const TuningEntry &session : sessions)
    entry = mergeSession(entry, session);
  return entry;
}

} // namespace

TEST(Decide, WhatTheModelTakesStandsAmongEquals) {
  TuningEntry equal = after({sessionOf({10.1, 10}), sessionOf({10, 10.1})});
  EXPECT_EQ(equal.choice()->implementation, "k0");
  // A lead in one session may be drift. A lead in all sessions is significant.
  TuningEntry once = after({sessionOf({10.8, 10})});
  EXPECT_EQ(once.choice()->implementation, "k0");
  EXPECT_FALSE(once.certain);
  TuningEntry always = after(std::vector<TuningEntry>(6, sessionOf({10.8, 10})));
  EXPECT_EQ(always.choice()->implementation, "k1");
  EXPECT_TRUE(always.certain);
}

TEST(Decide, FarLeadsNeedOneSession) {
  TuningEntry entry = after({sessionOf({15, 10, 30})});
  EXPECT_EQ(entry.choice()->implementation, "k1");
  EXPECT_TRUE(entry.certain);
  EXPECT_EQ(entry.candidates[0].implementation, "k1");
  EXPECT_NEAR(entry.find("k0")->slowdown, 1.5, 1e-9);
  EXPECT_FALSE(isContender(entry, *entry.find("k2")));
}

TEST(Decide, SittingsThatContradictEachOtherDecideNothing) {
  TuningEntry entry =
      after({sessionOf({13, 10}), sessionOf({10, 11}), sessionOf({12, 10}), sessionOf({10, 12})});
  EXPECT_EQ(entry.choice()->implementation, "k0");
  EXPECT_FALSE(entry.certain);
  EXPECT_TRUE(isContender(entry, *entry.find("k1")));
}

TEST(Decide, LeadsOfOtherUnitsAreDoubtedMore) {
  // Between two vector kernels this lead would be significant. AMX tiles are shared with other
  // threads of the same core, so their times vary more.
  std::vector<TuningEntry> sessions(2, sessionOf({12, 10}, "tiles"));
  EXPECT_EQ(after(sessions).choice()->implementation, "k0");
  EXPECT_FALSE(after(sessions).certain);
  EXPECT_EQ(after(std::vector<TuningEntry>(2, sessionOf({12, 10}))).choice()->implementation, "k1");
}

TEST(Decide, OneOutlierDecidesNothing) {
  std::vector<TuningEntry> sessions(5, sessionOf({10, 10.1}));
  sessions.push_back(sessionOf({160, 10}));
  TuningEntry entry = after(sessions);
  EXPECT_EQ(entry.choice()->implementation, "k0");
  EXPECT_LT(entry.find("k0")->slowdown, 1.05);
}

TEST(Decide, WhoSitsOutKeepsItsPlace) {
  TuningEntry entry = after({sessionOf({10, 10.2, 20})});
  TuningEntry second = sessionOf({10, 10.3});
  entry = mergeSession(entry, second);
  EXPECT_EQ(entry.find("k2")->sessions, (std::vector<double>{2, 0}));
  EXPECT_EQ(entry.find("k1")->sessions.size(), 2u);
  EXPECT_EQ(entry.candidates.back().implementation, "k2");
  EXPECT_EQ(entry.find("k0")->runs, 20);
  // A candidate with a wrong result in any session is excluded.
  second.candidates[0].rejected = "wrong";
  entry = mergeSession(entry, second);
  EXPECT_EQ(entry.choice()->implementation, "k1");
  EXPECT_EQ(entry.candidates.back().rejected, "wrong");
}

TEST(Decide, WrongCandidatesDoNotWin) {
  TuningEntry entry = sessionOf({10});
  entry.candidates[0].rejected = "wrong";
  EXPECT_EQ(entry.choice(), nullptr);
  EXPECT_TRUE(after({sessionOf({10})}).certain);
}

/// Two tuners on one machine. Each session has its own drift, each candidate its own noise.
TEST(Decide, TwoTunersAgree) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  int same = 0, near = 0, trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    double truth = std::exp(0.15 * normal(random));
    auto tune = [&] {
      TuningEntry entry = freshLike(sessionOf({10, 10}));
      for (int i = 0; i < 8; ++i) {
        entry = mergeSession(entry, sessionOf({10 * truth * std::exp(0.03 * normal(random)), 10}));
        if (entry.certain)
          break;
      }
      return entry;
    };
    TuningEntry a = tune(), b = tune();
    same += a.choice()->implementation == b.choice()->implementation;
    near += a.choice()->implementation != b.choice()->implementation &&
            std::max(truth, 1 / truth) < 1.03;
    // The tuners must not agree by always selecting the same candidate.
    if (truth > 1.15) {
      EXPECT_EQ(a.choice()->implementation, "k1") << truth;
    }
  }
  EXPECT_GE(same + near, trials * 93 / 100);
}
