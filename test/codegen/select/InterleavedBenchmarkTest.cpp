//===- InterleavedBenchmarkTest.cpp - interleaved benchmarks with simulated clocks -===//
#include "codegen/select/measure/InterleavedBenchmark.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <thread>

using namespace dlc;

namespace {

/// Simulated machine: its speed changes for all candidates, and it is disturbed for some time.
struct Weather {
  std::mt19937 random{7};
  double factor = 1;
  int untilDisturbed = 1 << 30, disturbedFor = 0;

  bool isDisturbed() {
    if (--untilDisturbed >= 0)
      return false;
    return --disturbedFor >= 0;
  }
};

class Fake : public Timeable {
public:
  Fake(Weather &weather, double time, double noise) : weather(weather), time(time), noise(noise) {}

  std::optional<TimeSample> sample(int, std::string &reason) override {
    ++samples;
    if (failsAt == samples) {
      reason = "it broke";
      return std::nullopt;
    }
    std::normal_distribution<double> normal(1, noise);
    bool disturbed = weather.isDisturbed();
    return TimeSample{time * weather.factor * normal(weather.random) * (disturbed ? 3 : 1),
                      disturbed};
  }

  Weather &weather;
  double time, noise;
  int samples = 0, failsAt = -1;
};

struct Field {
  Weather weather;
  std::vector<std::unique_ptr<Fake>> fakes;
  Fake &add(double time, double noise = 0.01) {
    return *fakes.emplace_back(std::make_unique<Fake>(weather, time, noise));
  }
  BenchmarkResult run(BenchmarkLimits limits = {}) {
    std::vector<Timeable *> timed;
    for (auto &fake : fakes)
      timed.push_back(fake.get());
    return runBenchmark(timed, limits);
  }
};

} // namespace

TEST(InterleavedBenchmark, FindsTheFastestAndSaysHowFarOthersAreBehind) {
  Field field;
  field.add(110);
  field.add(100);
  field.add(150);
  BenchmarkResult result = field.run();
  ASSERT_TRUE(result.enough);
  EXPECT_TRUE(result.certain);
  EXPECT_EQ(result.best, 1u);
  EXPECT_NEAR(result.candidates[0].slowdown, 1.10, 0.03);
  EXPECT_LE(result.candidates[0].slowdownLow, result.candidates[0].slowdown);
  EXPECT_GE(result.candidates[0].slowdownHigh, result.candidates[0].slowdown);
  EXPECT_EQ(result.candidates[1].slowdown, 1);
}

TEST(InterleavedBenchmark, HopelessOnesAreNotRunOften) {
  Field field;
  field.add(100, 0.03);
  field.add(101, 0.03);
  Fake &slow = field.add(800);
  BenchmarkResult result = field.run();
  EXPECT_LE(slow.samples, 4);
  EXPECT_NEAR(result.candidates[2].slowdown, 8, 1);
}

TEST(InterleavedBenchmark, EqualsAreATieAndCertain) {
  Field field;
  field.add(100, 0.02);
  field.add(100.5, 0.02);
  BenchmarkResult result = field.run();
  EXPECT_TRUE(result.certain);
  EXPECT_LT(result.candidates[0].slowdown, kTie);
  EXPECT_LT(result.candidates[1].slowdown, kTie);
  EXPECT_LT(std::max(result.candidates[0].slowdownHigh, result.candidates[1].slowdownHigh), kTie);
}

TEST(InterleavedBenchmark, WhatSlowsAllDownDecidesNothing) {
  // The machine's speed oscillates by a third during the benchmark.
  Field field;
  struct Drifting : Fake {
    using Fake::Fake;
    std::optional<TimeSample> sample(int n, std::string &reason) override {
      weather.factor = 1 + 0.5 * (0.5 + 0.5 * std::sin(++weather.untilDisturbed * 0.05));
      return Fake::sample(n, reason);
    }
  };
  Weather weather;
  weather.untilDisturbed = 0;
  weather.disturbedFor = 0;
  Drifting slow(weather, 105, 0.005), fast(weather, 100, 0.005);
  std::vector<Timeable *> timed{&slow, &fast};
  BenchmarkResult result = runBenchmark(timed, {});
  EXPECT_TRUE(result.certain);
  EXPECT_EQ(result.best, 1u);
  EXPECT_NEAR(result.candidates[0].slowdown, 1.05, 0.02);
}

TEST(InterleavedBenchmark, DisturbedRunsAreTakenAgain) {
  Field field;
  field.weather.untilDisturbed = 6;
  field.weather.disturbedFor = 10;
  field.add(100);
  field.add(120);
  BenchmarkResult result = field.run();
  ASSERT_TRUE(result.enough);
  EXPECT_EQ(result.disturbed, 10);
  EXPECT_EQ(result.best, 0u);
  // Disturbed measurements are not used.
  EXPECT_LT(result.candidates[0].median, 110);
  EXPECT_LT(result.candidates[1].median, 130);
}

TEST(InterleavedBenchmark, GivesUpWhereNothingIsUndisturbed) {
  Field field;
  field.weather.untilDisturbed = 0;
  field.weather.disturbedFor = 1 << 30;
  field.add(100);
  field.add(120);
  BenchmarkResult result = field.run({.undecided = 1e4, .patience = 5e4});
  EXPECT_FALSE(result.enough);
  EXPECT_FALSE(result.certain);
  EXPECT_GT(result.disturbed, 0);
}

TEST(InterleavedBenchmark, OneThatFailsIsOutAndSaysWhy) {
  Field field;
  field.add(100).failsAt = 3;
  field.add(120);
  BenchmarkResult result = field.run();
  ASSERT_TRUE(result.enough);
  EXPECT_EQ(result.best, 1u);
  EXPECT_EQ(result.candidates[0].failed, "it broke");
}

TEST(InterleavedBenchmark, NoiseLeavesTheOrderUncertainOrRight) {
  // With very noisy clocks, a result that is reported as certain must be correct.
  int wrong = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Field field;
    field.weather.random.seed(seed);
    field.add(100, 0.2);
    field.add(110, 0.2);
    BenchmarkResult result = field.run({.undecided = 2e3});
    wrong += result.certain && result.best != 0;
  }
  EXPECT_LE(wrong, 4);
}

TEST(InterleavedBenchmark, OneThatWasBrokenOffGoesOn) {
  Field field;
  // The clocks are so steady that the minimum number of rounds is sufficient, however many rounds
  // were measured before the first progress report.
  Fake &slow = field.add(110, 0.001), &fast = field.add(100, 0.001);
  std::vector<Timeable *> timed{&slow, &fast};
  Rounds last;
  BenchmarkLimits limits;
  limits.least = limits.undecided = 250e3;
  int told = 0;
  limits.progress = [&](const Rounds &rounds) {
    last = rounds;
    ++told;
  };
  // Each measurement takes some time, so that progress is reported.
  limits.turn = [](size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return nullptr;
  };
  runBenchmark(timed, limits);
  EXPECT_GE(told, 1);
  EXPECT_LE(told, 6);
  ASSERT_EQ(last.size(), 2u);
  ASSERT_GE(last[0].size(), 8u);
  // With the previous rounds the benchmark is decided immediately.
  slow.samples = fast.samples = 0;
  BenchmarkResult result = runBenchmark(timed, {.least = 0}, last);
  EXPECT_TRUE(result.certain);
  EXPECT_EQ(result.best, 1u);
  EXPECT_LE(fast.samples, 3);
  EXPECT_GE(result.candidates[1].samples, int(last[1].size()) - 1);
}
