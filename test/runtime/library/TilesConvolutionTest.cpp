//===- TilesConvolutionTest.cpp - f32 convolutions as products of bf16 parts on AMX tiles ===//
#include "ProductsSample.h"

#include "runtime/library/tiles/Convolution.h"
#include "runtime/library/tiles/Describe.h"

#include <cmath>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Geometry {
  int64_t images, channels, features, height, width, window[2], strides[2], dilations[2], pads[2],
      behind[2]; ///< behind: padding after the last row and column

  int64_t out(int d) const {
    int64_t size = (d == 0 ? height : width) + pads[d] + behind[d];
    return (size - (window[d] - 1) * dilations[d] - 1) / strides[d] + 1;
  }
  json desc(int parts) const {
    return {{"kind", "convolution"},
            {"parts", parts},
            {"src", {images, channels, height, width}},
            {"dst", {images, features, out(0), out(1)}},
            {"window", {window[0], window[1]}},
            {"strides", {strides[0], strides[1]}},
            {"dilations", {dilations[0], dilations[1]}},
            {"pads", {pads[0], pads[1]}}};
  }
};

size_t at(int64_t index) { return static_cast<size_t>(index); }

/// Sum of one result, and the sum of the magnitudes of its terms.
struct Sum {
  double value = 0, size = 0;
};

Sum sumAt(const Geometry &g, const std::vector<float> &x, const std::vector<float> &w,
          bool transposed, int64_t image, int64_t oy, int64_t ox, int64_t o) {
  Sum sum;
  for (int64_t r = 0; r < g.window[0]; ++r)
    for (int64_t s = 0; s < g.window[1]; ++s) {
      int64_t y = oy * g.strides[0] + r * g.dilations[0] - g.pads[0];
      int64_t xx = ox * g.strides[1] + s * g.dilations[1] - g.pads[1];
      if (y < 0 || y >= g.height || xx < 0 || xx >= g.width)
        continue;
      for (int64_t c = 0; c < g.channels; ++c) {
        int64_t tap = r * g.window[1] + s, area = g.window[0] * g.window[1];
        int64_t weight = transposed ? (c * g.features + o) * area + area - 1 - tap
                                    : (o * g.channels + c) * area + tap;
        double product =
            static_cast<double>(x[at(((image * g.height + y) * g.width + xx) * g.channels + c)]) *
            static_cast<double>(w[at(weight)]);
        sum.value += product;
        sum.size += std::fabs(product);
      }
    }
  return sum;
}

/// Returns the largest error against f64, relative to the sum of the magnitudes of the terms.
double errorOf(const Geometry &g, int parts, bool packed, bool transposed, int threads) {
  std::vector<float> x = random(g.images * g.height * g.width * g.channels, 1),
                     w = random(g.features * g.channels * g.window[0] * g.window[1], 2),
                     y(at(g.images * g.out(0) * g.out(1) * g.features), NAN);
  json desc = g.desc(parts);
  desc["transposed"] = transposed;
  if (packed) {
    desc["weights"] = "packed";
    auto convolution = tiles::Convolution::parse(desc);
    Aligned weights(convolution.packedBytes());
    convolution.packWeights(w.data(), weights.data.get(), threads);
    run(desc, {&x, &w, &y}, 2, threads, weights.data.get(), convolution.packedBytes());
  } else {
    run(desc, {&x, &w, &y}, 2, threads);
  }
  double worst = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    int64_t pixel = i / g.features, row = pixel / g.out(1);
    Sum sum = sumAt(g, x, w, transposed, row / g.out(0), row % g.out(0), pixel % g.out(1),
                    i % g.features);
    double error = std::fabs(sum.value - static_cast<double>(y[at(i)]));
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error / std::max(sum.size, 1e-30));
  }
  return worst;
}

constexpr Geometry kGeometries[] = {
    {1, 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 1, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 16, 33, 7, 7, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 33, 16, 9, 5, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 1}},
    {3, 40, 70, 6, 11, {1, 1}, {2, 3}, {1, 1}, {0, 0}, {0, 0}},
    {1, 3, 64, 31, 29, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 2}},
    {2, 3, 20, 20, 65, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {1, 1, 5, 3, 4, {1, 11}, {3, 4}, {1, 1}, {0, 5}, {0, 5}},
    {1, 64, 32, 13, 14, {3, 5}, {1, 1}, {2, 3}, {2, 6}, {3, 4}},
    {1, 20, 35, 10, 10, {3, 3}, {3, 2}, {2, 2}, {0, 3}, {5, 0}},
    {5, 65, 31, 4, 3, {2, 2}, {1, 1}, {1, 1}, {1, 0}, {0, 1}},
    {1, 32, 32, 65, 65, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 8, 8, 4, 4, {3, 3}, {1, 1}, {1, 1}, {4, 5}, {4, 5}},
    // Filter taps that are in the padding for some of the results, or for all.
    {1, 40, 20, 20, 20, {3, 3}, {1, 1}, {12, 12}, {12, 12}, {12, 12}},
    {2, 16, 16, 9, 70, {3, 3}, {1, 1}, {7, 36}, {7, 36}, {7, 36}},
    {1, 32, 16, 11, 9, {3, 3}, {2, 2}, {5, 4}, {5, 4}, {5, 4}},
    {3, 16, 8, 5, 6, {3, 2}, {1, 1}, {8, 40}, {8, 40}, {8, 0}},
};

class TilesConvolution : public testing::Test {
protected:
  void SetUp() override {
    if (!tiles::isAvailable())
      GTEST_SKIP() << "this processor has no AMX tiles for bf16";
  }
};

TEST_F(TilesConvolution, SumsEveryTapOnce) {
  for (const Geometry &g : kGeometries)
    for (bool packed : {false, true})
      for (int threads : {1, 3}) {
        SCOPED_TRACE(g.desc(2).dump());
        EXPECT_LT(errorOf(g, 2, packed, false, threads), 0x1p-16);
        EXPECT_LT(errorOf(g, 3, packed, false, threads), 0x1p-21);
      }
}

TEST_F(TilesConvolution, TransposedWindowsAreGradients) {
  for (const Geometry &g : kGeometries)
    for (bool packed : {false, true}) {
      SCOPED_TRACE(g.desc(2).dump());
      EXPECT_LT(errorOf(g, 2, packed, true, 2), 0x1p-16);
    }
}

/// Images that are processed in several pieces, and several images processed together.
TEST_F(TilesConvolution, LargeAndManyImages) {
  constexpr Geometry large = {1, 96, 17, 150, 90, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  constexpr Geometry many = {70, 128, 9, 6, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  constexpr Geometry first = {2, 3, 8, 224, 224, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}};
  constexpr Geometry apart = {1, 512, 9, 65, 65, {3, 3}, {1, 1}, {18, 18}, {18, 18}, {18, 18}};
  for (const Geometry &g : {large, many, first, apart})
    for (int threads : {1, 2})
      EXPECT_LT(errorOf(g, 2, true, false, threads), 0x1p-16) << g.desc(2).dump();
}

TEST_F(TilesConvolution, StepsComeAfterTheSum) {
  constexpr Geometry g = {2, 24, 35, 8, 9, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}};
  int64_t results = g.images * g.out(0) * g.out(1) * g.features;
  std::vector<float> x = random(g.images * g.height * g.width * g.channels, 1),
                     w = random(g.features * g.channels * 9, 2), bias = random(g.features, 3),
                     y = random(results, 4), addend = random(results, 5),
                     factor = random(g.features, 6);
  json desc = g.desc(3);
  desc["bias"] = true;
  desc["post_ops"] = {{{"kind", "binary"}, {"alg", "mul"}, {"strides", {0, 1}}},
                      {{"kind", "binary"}, {"alg", "add"}, {"strides", {g.features, 1}}},
                      {{"kind", "eltwise"}, {"alg", "clip"}, {"alpha", -1}, {"beta", 6}}};
  run(desc, {&x, &w, &bias, &y, &factor, &addend}, 3, 2);
  for (int64_t i = 0; i < results; ++i) {
    int64_t o = i % g.features, pixel = i / g.features, row = pixel / g.out(1);
    Sum sum = sumAt(g, x, w, false, row / g.out(0), row % g.out(0), pixel % g.out(1), o);
    double wanted =
        (sum.value + static_cast<double>(bias[at(o)])) * static_cast<double>(factor[at(o)]) +
        static_cast<double>(addend[at(i)]);
    ASSERT_NEAR(y[at(i)], std::clamp(wanted, -1.0, 6.0), 1e-4) << i;
  }
}

TEST(TilesConvolutionDescription, WrongOnesAreRefused) {
  json good = kGeometries[2].desc(2);
  EXPECT_NO_THROW(tiles::Convolution::parse(good));
  auto refusal = [&](const char *member, const json &value) {
    json wrong = good;
    wrong[member] = value;
    try {
      tiles::Convolution::parse(wrong);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  auto contains = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(refusal("src", {1, 2, 3}), "must be [N, channels, spatial...]"));
  EXPECT_TRUE(contains(refusal("strides", {0, 1}), "'strides' must be 2 integers from 1 to"));
  EXPECT_TRUE(contains(refusal("pads", {-1, 1}), "no negative padding"));
  EXPECT_TRUE(contains(refusal("dst", {3, 33, 7, 7}), "of the same batch size"));
  EXPECT_TRUE(contains(refusal("parts", 0), "'parts' must be an integer from 1 to 3"));
  EXPECT_TRUE(contains(refusal("window", "3x3"), "'window' must be a list of at most 32 integers"));
}

TEST_F(TilesConvolution, ShortBuffersAreRefused) {
  const Geometry &g = kGeometries[2];
  std::vector<float> x(at(g.images * g.height * g.width * g.channels)),
      w(at(g.features * g.channels * 9)), y(at(g.images * g.out(0) * g.out(1) * g.features));
  EXPECT_NO_THROW(run(g.desc(2), {&x, &w, &y}, 2, 1));
  EXPECT_THROW(run(g.desc(2), {&x, &w, &y}, 3, 1), Error); // no buffer is writable
  for (std::vector<float> *buffer : {&x, &w, &y}) {
    buffer->pop_back();
    EXPECT_THROW(run(g.desc(2), {&x, &w, &y}, 2, 1), Error);
    buffer->push_back(0);
  }
}

} // namespace
