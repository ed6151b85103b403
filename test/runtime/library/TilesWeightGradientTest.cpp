//===- TilesWeightGradientTest.cpp - gradients of bf16 convolution weights on AMX tiles ===//
#include "ProductsSample.h"

#include "runtime/library/tiles/Describe.h"
#include "runtime/library/tiles/WeightGradient.h"

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
  json desc() const {
    return {{"kind", "weight_gradient"},
            {"src", {images, channels, height, width}},
            {"diff_dst", {images, features, out(0), out(1)}},
            {"window", {window[0], window[1]}},
            {"strides", {strides[0], strides[1]}},
            {"dilations", {dilations[0], dilations[1]}},
            {"pads", {pads[0], pads[1]}}};
  }
};

size_t at(int64_t index) { return static_cast<size_t>(index); }

/// Returns random values that bf16 represents exactly.
std::vector<uint16_t> narrow(int64_t count, unsigned seed) {
  std::vector<uint16_t> values;
  for (float value : random(count, seed)) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    values.push_back(static_cast<uint16_t>(bits >> 16));
  }
  return values;
}

double wide(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return static_cast<double>(result);
}

struct Operands {
  std::vector<uint16_t> x, dy;
  std::vector<float> dw;

  explicit Operands(const Geometry &g)
      : x(narrow(g.images * g.height * g.width * g.channels, 1)),
        dy(narrow(g.images * g.out(0) * g.out(1) * g.features, 2)),
        dw(at(g.features * g.channels * g.window[0] * g.window[1]), NAN) {}

  void run(const json &desc, int threads, size_t written = 2) {
    std::vector<runtime::BufferInfo> infos = {
        {x.size() * 2, written == 0}, {dy.size() * 2, written == 1}, {dw.size() * 4, written == 2}};
    void *addresses[] = {x.data(), dy.data(), dw.data()};
    Runnable("tiles", desc, infos, threads).run(addresses);
  }
};

/// Returns the largest error against f64, relative to the sum of the magnitudes of the terms.
double errorOf(const Geometry &g, const Operands &operands) {
  double worst = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(operands.dw.size()); ++i) {
    int64_t s = i % g.window[1], r = i / g.window[1] % g.window[0],
            c = i / g.window[1] / g.window[0] % g.channels,
            o = i / g.window[1] / g.window[0] / g.channels;
    double sum = 0, size = 0;
    for (int64_t image = 0; image < g.images; ++image)
      for (int64_t oy = 0; oy < g.out(0); ++oy)
        for (int64_t ox = 0; ox < g.out(1); ++ox) {
          int64_t y = oy * g.strides[0] + r * g.dilations[0] - g.pads[0];
          int64_t x = ox * g.strides[1] + s * g.dilations[1] - g.pads[1];
          if (y < 0 || y >= g.height || x < 0 || x >= g.width)
            continue;
          double product =
              wide(operands.x[at(((image * g.height + y) * g.width + x) * g.channels + c)]) *
              wide(operands.dy[at(((image * g.out(0) + oy) * g.out(1) + ox) * g.features + o)]);
          sum += product;
          size += std::fabs(product);
        }
    double error = std::fabs(sum - static_cast<double>(operands.dw[at(i)]));
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error / std::max(size, 1e-30));
  }
  return worst;
}

constexpr Geometry kGeometries[] = {
    {1, 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 1, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {3, 40, 70, 13, 17, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {2, 65, 33, 29, 31, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {3, 40, 70, 6, 11, {1, 1}, {2, 3}, {1, 1}, {0, 0}, {0, 0}},
    {2, 16, 33, 7, 7, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 33, 16, 9, 5, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 1}},
    {1, 3, 64, 31, 29, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 2}},
    {2, 3, 20, 20, 65, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {1, 1, 5, 3, 4, {1, 11}, {3, 4}, {1, 1}, {0, 5}, {0, 5}},
    {1, 64, 32, 13, 14, {3, 5}, {1, 1}, {2, 3}, {2, 6}, {3, 4}},
    {1, 20, 35, 10, 10, {3, 3}, {3, 2}, {2, 2}, {0, 3}, {5, 0}},
    {5, 65, 31, 4, 3, {2, 2}, {1, 1}, {1, 1}, {1, 0}, {0, 1}},
    {1, 17, 15, 65, 65, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 8, 8, 4, 4, {3, 3}, {1, 1}, {1, 1}, {4, 5}, {4, 5}},
    {2, 9, 7, 12, 12, {1, 1}, {1, 1}, {1, 1}, {1, 2}, {0, 1}},
};

class TilesWeightGradient : public testing::Test {
protected:
  void SetUp() override {
    if (!tiles::isAvailable())
      GTEST_SKIP() << "this processor has no AMX tiles for bf16";
  }
};

TEST_F(TilesWeightGradient, SumsEveryPixelOnce) {
  for (const Geometry &g : kGeometries) {
    SCOPED_TRACE(g.desc().dump());
    std::vector<float> before;
    for (int threads : {1, 3}) {
      Operands operands(g);
      operands.run(g.desc(), threads);
      EXPECT_LT(errorOf(g, operands), 0x1p-20);
      // The order of a sum's terms is fixed and does not depend on the threads.
      if (!before.empty()) {
        EXPECT_EQ(before, operands.dw);
      }
      before = operands.dw;
    }
  }
}

/// Images that are processed one after the other, and pixels that are processed in several slabs.
TEST_F(TilesWeightGradient, SlabsAreAdded) {
  constexpr Geometry images = {5, 96, 40, 60, 44, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  constexpr Geometry pixels = {3, 200, 136, 50, 30, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  for (const Geometry &g : {images, pixels}) {
    Operands operands(g);
    operands.run(g.desc(), 2);
    EXPECT_LT(errorOf(g, operands), 0x1p-20) << g.desc().dump();
  }
}

TEST(TilesWeightGradientDescription, WrongOnesAreRefused) {
  json good = kGeometries[5].desc();
  EXPECT_NO_THROW(tiles::WeightGradient::parse(good));
  auto refusal = [&](const char *member, const json &value) {
    json wrong = good;
    wrong[member] = value;
    try {
      tiles::WeightGradient::parse(wrong);
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
  EXPECT_TRUE(contains(refusal("diff_dst", {3, 33, 7, 7}), "of the same batch size"));
  EXPECT_TRUE(contains(refusal("dilations", {1 << 30, 1 << 30}), "images are too large"));
}

TEST_F(TilesWeightGradient, ShortBuffersAreRefused) {
  const Geometry &g = kGeometries[5];
  Operands operands(g);
  EXPECT_NO_THROW(operands.run(g.desc(), 1));
  EXPECT_THROW(operands.run(g.desc(), 1, 1), Error); // dst is not writable
  operands.x.pop_back();
  EXPECT_THROW(operands.run(g.desc(), 1), Error);
  operands.x.push_back(0);
  operands.dy.pop_back();
  EXPECT_THROW(operands.run(g.desc(), 1), Error);
  operands.dy.push_back(0);
  operands.dw.pop_back();
  EXPECT_THROW(operands.run(g.desc(), 1), Error);
}

} // namespace
