//===- DecideTest.cpp - selection of a candidate from several measurement sessions ===//
#include "codegen/select/Decide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace dlc;

namespace {

TunedCandidate timed(const std::string &kernel, const std::string &implementation, double estimate,
                     double behind = 1) {
  TunedCandidate c;
  c.kernel = kernel;
  c.implementation = implementation;
  c.estimate = estimate;
  c.min = c.median = 10 * behind;
  c.behind = c.behindLow = c.behindHigh = behind;
  c.runs = 10;
  c.error = 1e-7;
  c.checked = "f64";
  return c;
}

/// Returns the times of one measurement session. The cost model prefers the first candidate.
TuningEntry sittingOf(std::vector<double> times, const std::string &kernelOfFirst = "contract") {
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
    c.median = c.min = 0, c.runs = 0, c.behind = 1;
  return entry;
}

TuningEntry after(std::vector<TuningEntry> sittings) {
  TuningEntry entry = freshLike(sittings[0]);
  for (const TuningEntry &sitting : sittings)
    entry = combined(entry, sitting);
  return entry;
}

} // namespace

TEST(Decide, WhatTheModelTakesStandsAmongEquals) {
  TuningEntry equal = after({sittingOf({10.1, 10}), sittingOf({10, 10.1})});
  EXPECT_EQ(equal.choice()->implementation, "k0");
  // A lead in one session may be drift. A lead in all sessions is significant.
  TuningEntry once = after({sittingOf({10.8, 10})});
  EXPECT_EQ(once.choice()->implementation, "k0");
  EXPECT_FALSE(once.certain);
  TuningEntry always = after(std::vector<TuningEntry>(6, sittingOf({10.8, 10})));
  EXPECT_EQ(always.choice()->implementation, "k1");
  EXPECT_TRUE(always.certain);
}

TEST(Decide, FarLeadsNeedOneSitting) {
  TuningEntry entry = after({sittingOf({15, 10, 30})});
  EXPECT_EQ(entry.choice()->implementation, "k1");
  EXPECT_TRUE(entry.certain);
  EXPECT_EQ(entry.candidates[0].implementation, "k1");
  EXPECT_NEAR(entry.find("k0")->behind, 1.5, 1e-9);
  EXPECT_FALSE(isContender(entry, *entry.find("k2")));
}

TEST(Decide, SittingsThatContradictEachOtherDecideNothing) {
  TuningEntry entry =
      after({sittingOf({13, 10}), sittingOf({10, 11}), sittingOf({12, 10}), sittingOf({10, 12})});
  EXPECT_EQ(entry.choice()->implementation, "k0");
  EXPECT_FALSE(entry.certain);
  EXPECT_TRUE(isContender(entry, *entry.find("k1")));
}

TEST(Decide, LeadsOfOtherUnitsAreDoubtedMore) {
  // Between two vector kernels this lead would be significant. AMX tiles are shared with other
  // threads of the same core, so their times vary more.
  std::vector<TuningEntry> sittings(2, sittingOf({12, 10}, "tiles"));
  EXPECT_EQ(after(sittings).choice()->implementation, "k0");
  EXPECT_FALSE(after(sittings).certain);
  EXPECT_EQ(after(std::vector<TuningEntry>(2, sittingOf({12, 10}))).choice()->implementation, "k1");
}

TEST(Decide, OneSittingFarOffDecidesNothing) {
  std::vector<TuningEntry> sittings(5, sittingOf({10, 10.1}));
  sittings.push_back(sittingOf({160, 10}));
  TuningEntry entry = after(sittings);
  EXPECT_EQ(entry.choice()->implementation, "k0");
  EXPECT_LT(entry.find("k0")->behind, 1.05);
}

TEST(Decide, WhoSitsOutKeepsItsPlace) {
  TuningEntry entry = after({sittingOf({10, 10.2, 20})});
  TuningEntry second = sittingOf({10, 10.3});
  entry = combined(entry, second);
  EXPECT_EQ(entry.find("k2")->sittings, (std::vector<double>{2, 0}));
  EXPECT_EQ(entry.find("k1")->sittings.size(), 2u);
  EXPECT_EQ(entry.candidates.back().implementation, "k2");
  EXPECT_EQ(entry.find("k0")->runs, 20);
  // A candidate with a wrong result in any session is excluded.
  second.candidates[0].rejected = "wrong";
  entry = combined(entry, second);
  EXPECT_EQ(entry.choice()->implementation, "k1");
  EXPECT_EQ(entry.candidates.back().rejected, "wrong");
}

TEST(Decide, NobodyIsBetterThanOneWrongOne) {
  TuningEntry entry = sittingOf({10});
  entry.candidates[0].rejected = "wrong";
  EXPECT_EQ(entry.choice(), nullptr);
  EXPECT_TRUE(after({sittingOf({10})}).certain);
}

/// Two tuners on one machine. Each session has its own drift, each candidate its own noise.
TEST(Decide, TwoTunersAgree) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  int same = 0, near = 0, trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    double truth = std::exp(0.15 * normal(random));
    auto tune = [&] {
      TuningEntry entry = freshLike(sittingOf({10, 10}));
      for (int i = 0; i < 8; ++i) {
        entry = combined(entry, sittingOf({10 * truth * std::exp(0.03 * normal(random)), 10}));
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
