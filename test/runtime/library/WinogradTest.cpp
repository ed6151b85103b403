//===- WinogradTest.cpp - compares Winograd convolutions with f64 sums ------------===//
#include "WinogradHelp.h"

#include "runtime/library/winograd/Plan.h"

#include <gmock/gmock.h>

#include <set>

using namespace dlc::test::winograd;

namespace {

void everyForm(const Layer &l, const std::vector<int> &threads = {1, 2}) {
  Operands operands(l);
  for (int block : blocks())
    for (int tile : {2, 4})
      for (bool last : {false, true})
        for (int count : threads) {
          if (l.c % block != 0 || l.o % block != 0)
            continue;
          json desc = describe(l, "convolution", tile, block);
          desc["channels_last"] = last;
          auto check = [&](double factor) {
            EXPECT_LE(run(l, desc, count, operands), factor * bound(l, tile))
                << desc << ", " << count << " threads";
          };
          for (auto [transposed, packed] :
               {std::pair(false, false), {false, true}, {true, true}, {true, false}}) {
            desc["transposed"] = transposed;
            desc["packed"] = packed;
            check(1);
          }
          desc = describe(l, "convolution_weights", tile, block);
          desc["channels_last"] = last;
          check(2);
        }
}

TEST(Winograd, OddSizes) {
  for (int64_t window : {3, 5}) {
    int64_t pad = window / 2;
    for (int64_t size : {1, 2, 3, 4, 5, 9})
      everyForm({2, 16, 32, size, 2 * size + 1, window, pad, pad, pad, pad});
    for (int64_t size : {1, 3, 7, 15, 33})
      everyForm({1, 16, 16, size, size, window, pad, pad, pad, pad}, {1});
  }
}

TEST(Winograd, Padding) {
  everyForm({1, 16, 16, 9, 8, 3, 0, 0, 0, 0});
  everyForm({1, 16, 16, 9, 8, 3, 2, 0, 1, 2});
  everyForm({1, 16, 16, 9, 8, 5, 4, 3, 0, 1});
  // Negative padding crops the image.
  everyForm({1, 16, 16, 9, 8, 3, -1, -2, 0, -1});
}

TEST(Winograd, Channels) {
  everyForm({1, 24, 40, 6, 6, 3, 1, 1, 1, 1});
  everyForm({1, 48, 80, 6, 6, 3, 1, 1, 1, 1});
  everyForm({3, 144, 160, 5, 5, 3, 1, 1, 1, 1}, {1, 2, 3});
  everyForm({1, 80, 96, 5, 5, 5, 2, 2, 2, 2}, {1, 2, 5});
}

/// Every way in which a plan can split the work, and a check that each one occurs.
TEST(Winograd, Splits) {
  std::set<std::pair<bool, bool>> forward, gradient;
  auto cut = [](const Layer &l, const char *kind, int tile, int block, int threads) {
    auto request = dlc::winograd::Convolution::parse(describe(l, kind, tile, block));
    dlc::winograd::WorkPartition plan(request, threads);
    return std::pair(plan.sharesTiles, request.shape.tiles() > plan.tiles);
  };
  auto all = [&](const Layer &l, const std::vector<int> &threads) {
    everyForm(l, threads);
    for (int block : blocks())
      for (int tile : {2, 4})
        for (int count : threads) {
          forward.insert(cut(l, "convolution", tile, block, count));
          gradient.insert(cut(l, "convolution_weights", tile, block, count));
        }
  };
  all({1, 16, 16, 65, 65, 3, 1, 1, 1, 1}, {2, 5});
  all({1, 16, 16, 33, 31, 5, 2, 2, 2, 2}, {2, 5});
  all({1, 80, 272, 5, 6, 3, 1, 1, 1, 1}, {2, 5});
  all({1, 32, 64, 1, 1, 5, 2, 2, 2, 2}, {2, 5});
  // With this number of threads, one weight gradient for each thread exceeds the caches.
  all({1, 64, 64, 17, 15, 5, 2, 2, 2, 2}, {32});
  if (blocks().empty())
    return;
  // Splits by tiles, in one piece or several, and all threads on the same tiles.
  using testing::IsSupersetOf;
  EXPECT_THAT(forward, IsSupersetOf({std::pair(false, false), {false, true}, {true, false}}));
  EXPECT_THAT(gradient, IsSupersetOf({std::pair(false, true), {true, true}}));
}

/// Applies the steps to the sums. `other` is the previous content of the result's buffer.
std::vector<double> stepped(const json &steps, const Layer &l, int block, std::vector<double> sums,
                            const Numbers &bias, const Numbers &factor, const Numbers &other) {
  for (int64_t n = 0; n < l.n; ++n)
    for (int64_t o = 0; o < l.o; ++o)
      for (int64_t y = 0; y < l.outHeight(); ++y)
        for (int64_t x = 0; x < l.outWidth(); ++x) {
          size_t i = at(block, l.o, l.outHeight(), l.outWidth(), n, o, y, x);
          double v = sums[i] + double(bias[size_t(o)]);
          for (const json &step : steps) {
            std::string what = step["do"];
            double alpha = step.value("alpha", 0.0), beta = step.value("beta", 0.0);
            if (what == "relu")
              v = v < 0 ? v * alpha : v;
            else if (what == "clip")
              v = std::min(beta, std::max(alpha, v));
            else if (what == "linear")
              v = v * alpha + beta;
            else if (what == "multiply_channels")
              v *= double(factor[size_t(o)]);
            else
              v += double(what == "add" ? other[i] : factor[size_t(o)]);
          }
          sums[i] = v;
        }
  return sums;
}

/// Checks steps with a preceding bias in every algorithm and layout. The result's buffer contains
/// the addend.
void checkSteps(const Layer &l, const json &steps, int threads) {
  Operands operands(l);
  Numbers bias = randomNumbers(size_t(l.o), 4), factor = randomNumbers(size_t(l.o), 5),
          other = randomNumbers(operands.dy.size(), 6);
  for (auto [block, last] : {std::pair(8, false), {8, true}, {16, false}, {16, true}})
    for (int tile : {2, 4}) {
      if (dlc::runtime::hostLanes() < block)
        continue;
      json desc = describe(l, "convolution", tile, block);
      desc["channels_last"] = last;
      desc["bias"] = true;
      desc["steps"] = steps;
      std::string error;
      auto call = callOf(desc, threads, error);
      ASSERT_TRUE(call) << error;
      Numbers result = other;
      std::vector<void *> buffers = {operands.x.data(), operands.w.data(), bias.data()};
      for (const json &step : steps)
        if (step["do"] == "add")
          buffers.push_back(result.data());
        else if (std::string(step["do"]).ends_with("channels"))
          buffers.push_back(factor.data());
      buffers.push_back(result.data());
      call->run(buffers.data());
      std::vector<double> want =
          stepped(steps, l, blockIn(desc), operands.want(l, blockIn(desc), false, false), bias,
                  factor, other);
      // Activations reduce the results but not their errors.
      EXPECT_LE(errorOf(result, want), 10 * bound(l, tile)) << desc;
    }
}

const json kSteps[] = {{{"do", "multiply_channels"}},
                       {{"do", "add"}},
                       {{"do", "relu"}, {"alpha", 0.25}},
                       {{"do", "add_channels"}},
                       {{"do", "linear"}, {"alpha", 2}, {"beta", -1}},
                       {{"do", "clip"}, {"alpha", -9}, {"beta", 11}},
                       {{"do", "relu"}}};

TEST(Winograd, EachStep) {
  for (const json &step : kSteps) {
    checkSteps({2, 32, 48, 7, 6, 3, 1, 1, 1, 1}, json::array({step}), 2);
    checkSteps({1, 16, 32, 1, 1, 3, 1, 1, 1, 1}, json::array({step}), 1);
    checkSteps({1, 16, 96, 5, 3, 5, 2, 2, 2, 2}, json::array({step}), 2);
  }
}

TEST(Winograd, AllSteps) {
  json all = json::array();
  for (const json &step : kSteps)
    all.push_back(step);
  checkSteps({2, 32, 48, 7, 6, 3, 1, 1, 1, 1}, all, 2);
  checkSteps({1, 80, 96, 5, 5, 5, 2, 2, 2, 2}, all, 2);
  checkSteps({1, 16, 16, 65, 63, 3, 1, 1, 1, 1}, all, 2);
}

TEST(Winograd, NaN) {
  Layer l{1, 16, 16, 8, 8, 3, 1, 1, 1, 1};
  Operands operands(l);
  operands.x[0] = NAN;
  for (int block : blocks()) {
    json desc = describe(l, "convolution", 4, block);
    desc["steps"] = {{{"do", "relu"}}};
    std::string error;
    auto call = callOf(desc, 1, error);
    Numbers result(operands.dy.size(), 0);
    void *buffers[] = {operands.x.data(), operands.w.data(), result.data()};
    call->run(buffers);
    EXPECT_TRUE(std::isnan(result[0]));
  }
}

TEST(Winograd, WrongDescriptions) {
  Layer l{1, 16, 16, 8, 8, 3, 1, 1, 1, 1};
  json good = describe(l, "convolution", 4, 8);
  auto message = [](const json &desc) {
    std::string error;
    EXPECT_FALSE(callOf(desc, 1, error)) << desc;
    return error;
  };
  json bad = good;
  bad["tile"] = 3;
  EXPECT_THAT(message(bad),
              testing::HasSubstr("'tile' must be an integer from 2 to 4, divisible by 2"));
  bad = good;
  bad["window"] = 7;
  EXPECT_THAT(message(bad),
              testing::HasSubstr("'window' must be an integer from 3 to 5; found: 7"));
  bad = good;
  bad["src"] = {1, 12, 8, 8};
  EXPECT_THAT(message(bad), testing::HasSubstr("a multiple of 8"));
  bad = good;
  bad["dst"] = {1, int64_t(1) << 39, 1 << 20, 8};
  EXPECT_THAT(message(bad), testing::HasSubstr("is too large"));
  bad = good;
  bad["steps"] = {{{"do", "sing"}}};
  EXPECT_THAT(message(bad), testing::HasSubstr("'do' must be relu, clip, "));
  bad = good;
  bad["kind"] = "pooling";
  EXPECT_THAT(message(bad), testing::HasSubstr("'kind' must be"));
}

} // namespace
