//===- WinogradStatisticsTest.cpp - channel sums in the epilogue of Winograd convolutions ===//
#include "WinogradHelp.h"

#include "runtime/library/winograd/Plan.h"

#include <gmock/gmock.h>

#include <set>

using namespace dlc::test::winograd;

namespace {

struct ChannelStatistics {
  Numbers result, first, shift, square;
};

/// Runs the convolution. If a step adds an operand, the result's buffer contains `addend` before.
ChannelStatistics compute(const json &desc, int threads, const Operands &operands,
                          const Numbers &bias, const Numbers &addend) {
  std::string error;
  auto call = callOf(desc, threads, error);
  EXPECT_TRUE(call) << error << " " << desc;
  Numbers none(bias.size(), NAN);
  ChannelStatistics made{addend, none, none, none};
  if (!call)
    return made;
  auto at = [](const Numbers &numbers) { return const_cast<float *>(numbers.data()); };
  std::vector<void *> buffers = {at(operands.x), at(operands.w)};
  if (desc.value("bias", false))
    buffers.push_back(at(bias));
  for (const json &step : desc["steps"])
    if (step["do"] == "add")
      buffers.push_back(made.result.data());
  for (Numbers *written : {&made.result, &made.first, &made.shift, &made.square})
    buffers.push_back(written->data());
  call->run(buffers.data());
  return made;
}

/// Compares the statistics with f64 sums over the stored results. Errors of a channel are relative
/// to its deviation from its first element.
void check(const Layer &l, const json &desc, const ChannelStatistics &made) {
  for (int64_t o = 0; o < l.o; ++o) {
    auto value = [&](int64_t n, int64_t y, int64_t x) {
      return double(made.result[at(blockIn(desc), l.o, l.outHeight(), l.outWidth(), n, o, y, x)]);
    };
    double shift = 0, square = 0;
    for (int64_t n = 0; n < l.n; ++n)
      for (int64_t y = 0; y < l.outHeight(); ++y)
        for (int64_t x = 0; x < l.outWidth(); ++x) {
          double d = value(n, y, x) - value(0, 0, 0);
          shift += d;
          square += d * d;
        }
    ASSERT_EQ(double(made.first[size_t(o)]), value(0, 0, 0)) << desc << " of " << o;
    double all = double(l.n * l.outHeight() * l.outWidth());
    shift /= all;
    square /= all;
    ASSERT_NEAR(made.shift[size_t(o)], shift, 2e-6 * std::sqrt(square)) << desc << " of " << o;
    ASSERT_NEAR(made.square[size_t(o)], square, 4e-6 * square) << desc << " of " << o;
  }
}

/// Checks every algorithm and layout, with and without a bias.
void everyForm(const Layer &l, const std::vector<int> &threads, const json &steps = json::array(),
               float mean = 0) {
  Operands operands(l);
  Numbers bias = randomNumbers(size_t(l.o), 4);
  for (float &b : bias)
    b += mean;
  Numbers addend = randomNumbers(operands.dy.size(), 5);
  for (int block : blocks())
    for (int tile : {2, 4})
      for (bool last : {false, true})
        for (bool transposed : {false, true})
          for (int count : threads) {
            if (l.c % block != 0 || l.o % block != 0)
              continue;
            json desc = describe(l, "convolution", tile, block);
            desc["channels_last"] = last;
            desc["transposed"] = transposed;
            desc["bias"] = mean != 0;
            desc["steps"] = steps;
            ChannelStatistics plain = compute(desc, count, operands, bias, addend);
            EXPECT_TRUE(std::isnan(plain.shift[0]));
            EXPECT_TRUE(std::isnan(plain.square[0]));
            desc["statistics"] = true;
            ChannelStatistics made = compute(desc, count, operands, bias, addend);
            check(l, desc, made);
            EXPECT_EQ(made.result, plain.result) << desc;
          }
}

TEST(WinogradStatistics, OddSizes) {
  for (int64_t window : {3, 5}) {
    int64_t pad = window / 2;
    for (int64_t size : {1, 2, 3, 5, 9})
      everyForm({2, 16, 32, size, 2 * size + 1, window, pad, pad, pad, pad}, {1, 2});
    for (int64_t size : {7, 33})
      everyForm({3, 16, 16, size, size, window, 0, pad, pad, 0}, {1, 3});
  }
}

TEST(WinogradStatistics, Channels) {
  everyForm({1, 24, 40, 6, 6, 3, 1, 1, 1, 1}, {1, 2});
  everyForm({3, 48, 80, 5, 7, 3, 1, 1, 1, 1}, {1, 2, 3});
}

TEST(WinogradStatistics, Splits) {
  std::set<std::pair<bool, bool>> seen;
  auto all = [&](const Layer &l) {
    everyForm(l, {2, 5});
    for (int block : blocks())
      for (int tile : {2, 4})
        for (int threads : {2, 5}) {
          auto request = dlc::winograd::Convolution::parse(describe(l, "convolution", tile, block));
          dlc::winograd::WorkPartition plan(request, threads);
          seen.insert({plan.sharesTiles, plan.parts(request.shape) > 1});
        }
  };
  all({2, 16, 16, 45, 47, 3, 1, 1, 1, 1});
  all({1, 16, 16, 33, 31, 5, 2, 2, 2, 2});
  all({1, 80, 272, 5, 6, 3, 1, 1, 1, 1});
  if (blocks().empty())
    return;
  EXPECT_THAT(seen, testing::IsSupersetOf({std::pair(false, true), {true, false}}));
}

/// Statistics are computed from the stored values, after all steps.
TEST(WinogradStatistics, AfterSteps) {
  json steps = {{{"do", "add"}}, {{"do", "relu"}}, {{"do", "linear"}, {"alpha", 2}, {"beta", -1}}};
  everyForm({2, 32, 48, 7, 6, 3, 1, 1, 1, 1}, {2}, steps);
  everyForm({1, 16, 96, 5, 3, 5, 2, 2, 2, 2}, {2}, steps, 3);
}

/// The variance remains accurate if the mean is ten thousand times larger than the standard
/// deviation.
TEST(WinogradStatistics, LargeMean) {
  everyForm({4, 16, 32, 19, 18, 3, 1, 1, 1, 1}, {1, 2}, json::array(), 5e4F);
  everyForm({1, 16, 64, 9, 9, 5, 2, 2, 2, 2}, {2}, json::array(), -1e5F);
}

/// The result must depend on the number of threads that the call was created for only, not on how
/// many threads run or in which order.
TEST(WinogradStatistics, Repeatable) {
  Layer l{3, 16, 32, 31, 33, 3, 1, 1, 1, 1};
  Operands operands(l);
  Numbers bias(size_t(l.o)), none(operands.dy.size());
  for (int block : blocks()) {
    json desc = describe(l, "convolution", 4, block);
    desc["steps"] = json::array();
    desc["statistics"] = true;
    ChannelStatistics first = compute(desc, 4, operands, bias, none);
    for (int i = 0; i < 5; ++i) {
      ChannelStatistics again = compute(desc, 4, operands, bias, none);
      EXPECT_EQ(first.shift, again.shift);
      EXPECT_EQ(first.square, again.square);
    }
  }
}

TEST(WinogradStatistics, NaN) {
  Layer l{1, 16, 16, 9, 9, 3, 1, 1, 1, 1};
  Operands operands(l);
  operands.x[at(0, l.c, l.height, l.width, 0, 0, 8, 8)] = NAN;
  for (int block : blocks()) {
    json desc = describe(l, "convolution", 4, block);
    desc["channels_last"] = true;
    desc["steps"] = json::array();
    desc["statistics"] = true;
    ChannelStatistics made =
        compute(desc, 1, operands, Numbers(size_t(l.o)), Numbers(operands.dy.size()));
    EXPECT_TRUE(std::isnan(made.shift[0]));
    EXPECT_TRUE(std::isnan(made.square[15]));
  }
}

TEST(WinogradStatistics, WrongDescriptions) {
  Layer l{1, 16, 16, 8, 8, 3, 1, 1, 1, 1};
  auto message = [](const json &desc) {
    std::string error;
    EXPECT_FALSE(callOf(desc, 1, error)) << desc;
    return error;
  };
  json bad = describe(l, "convolution_weights", 4, 8);
  bad["statistics"] = true;
  EXPECT_THAT(message(bad), testing::HasSubstr("not for a gradient of weights"));
  bad = describe(l, "convolution", 4, 8);
  bad["statistics"] = "yes";
  EXPECT_THAT(message(bad), testing::HasSubstr("'statistics' must be true or false"));
}

} // namespace
