//===- LanePoolTest.cpp - pools of many channels at a time, against those of one --===//
#include "BuiltinArrays.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace dlc;
using namespace dlc::test;

namespace {

/// Sizes of an image and of the pool over it.
struct Case {
  int64_t images, channels, group, size[2], kernel[2], strides[2], steps[2], low[2], high[2];
  int64_t out(int d) const {
    int64_t reach = (kernel[d] - 1) * steps[d] + 1;
    return (size[d] + low[d] + high[d] - reach) / strides[d] + 1;
  }
  json describe(const char *kind) const {
    return {{"kind", kind},
            {"dtype", "f32"},
            {"src", {images, channels, size[0], size[1]}},
            {"dst", {images, channels, out(0), out(1)}},
            {"kernel", {kernel[0], kernel[1]}},
            {"strides", {strides[0], strides[1]}},
            {"dilations", {steps[0] - 1, steps[1] - 1}},
            {"pads_l", {low[0], low[1]}}};
  }
};

/// [N, C, pixels] as [N, C / group, pixels, group].
template <typename T>
std::vector<T> grouped(const std::vector<T> &plain, const Case &c, int64_t pixels) {
  std::vector<T> result(plain.size());
  for (int64_t n = 0; n < c.images; ++n)
    for (int64_t k = 0; k < c.channels; ++k)
      for (int64_t p = 0; p < pixels; ++p)
        result[size_t(((n * c.channels / c.group + k / c.group) * pixels + p) * c.group +
                      k % c.group)] = plain[size_t((n * c.channels + k) * pixels + p)];
  return result;
}

std::vector<float> randomFloats(int64_t count, bool withNan) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> any(-9, 9); // equal ones are many
  std::vector<float> values(static_cast<size_t>(count));
  for (float &v : values)
    v = withNan && random() % 17 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                      : float(any(random));
  return values;
}

bool isSame(const std::vector<float> &a, const std::vector<float> &b, float most) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(b[i])) && !(std::abs(a[i] - b[i]) <= most))
      return false;
  return a.size() == b.size();
}

const Case kCases[] = {
    {2, 32, 16, {7, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {1, 16, 16, {5, 5}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {3, 16, 8, {6, 4}, {3, 2}, {1, 2}, {1, 1}, {1, 1}, {1, 0}},
    {2, 48, 48, {8, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 24, 24, {11, 10}, {3, 2}, {3, 1}, {2, 3}, {2, 1}, {0, 1}},
    {1, 8, 8, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    // So large that gradients are stored past the caches.
    {3, 32, 16, {300, 301}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
};

/// On all kinds of processors that this one can be.
template <typename Body> void onEachProcessor(Body body) {
  body();
  setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  body();
  unsetenv("ONEDNN_MAX_CPU_ISA");
}

TEST(LanePool, MaximaAndTheirPlaces) {
  onEachProcessor([] {
    for (const Case &c : kCases) {
      int64_t pixels = c.size[0] * c.size[1], results = c.out(0) * c.out(1);
      std::vector<float> x = randomFloats(c.images * c.channels * pixels, true);
      size_t count = size_t(c.images * c.channels * results);
      std::vector<Array> plain = {Array::of(x), Array::output<float>(count),
                                  Array::output<uint8_t>(count)};
      runBuiltin(c.describe("max_pool_positions"), plain);
      json desc = c.describe("lane_pool");
      desc["op"] = "max";
      desc["group"] = c.group;
      std::vector<Array> lanes = {Array::of(grouped(x, c, pixels)), Array::output<float>(count),
                                  Array::output<uint8_t>(count)};
      runBuiltin(desc, lanes);
      EXPECT_TRUE(isSame(lanes[1].as<float>(), grouped(plain[1].as<float>(), c, results), 0));
      EXPECT_EQ(lanes[2].as<uint8_t>(), grouped(plain[2].as<uint8_t>(), c, results));
      lanes.pop_back();
      lanes[1] = Array::output<float>(count);
      runBuiltin(desc, lanes);
      EXPECT_TRUE(isSame(lanes[1].as<float>(), grouped(plain[1].as<float>(), c, results), 0));

      std::vector<float> dy = randomFloats(int64_t(count), false);
      std::vector<uint8_t> positions = plain[2].as<uint8_t>();
      std::vector<Array> back = {Array::of(dy), Array::of(positions),
                                 Array::output<float>(x.size())};
      runBuiltin(c.describe("max_pool_grad"), back);
      desc["op"] = "max_grad";
      std::vector<Array> backLanes = {Array::of(grouped(dy, c, results)),
                                      Array::of(grouped(positions, c, results)),
                                      Array::output<float>(x.size())};
      runBuiltin(desc, backLanes);
      EXPECT_EQ(backLanes[2].as<float>(), grouped(back[2].as<float>(), c, pixels));
    }
  });
}

TEST(LanePool, AveragesAndTheirGradients) {
  onEachProcessor([] {
    for (const Case &c : kCases)
      for (bool includePad : {false, true}) {
        int64_t pixels = c.size[0] * c.size[1], results = c.out(0) * c.out(1);
        size_t count = size_t(c.images * c.channels * results),
               elements = size_t(c.images * c.channels * pixels);
        auto described = [&](const char *kind) {
          json desc = c.describe(kind);
          desc["include_pad"] = includePad;
          desc["pads_counted"] = {0, c.high[1]};
          desc["group"] = c.group;
          return desc;
        };
        std::vector<float> dy = randomFloats(int64_t(count), false);
        std::vector<Array> plain = {Array::of(dy), Array::output<float>(elements)};
        runBuiltin(described("avg_pool_grad"), plain);
        json desc = described("lane_pool");
        desc["op"] = "average_grad";
        std::vector<Array> lanes = {Array::of(grouped(dy, c, results)),
                                    Array::output<float>(elements)};
        runBuiltin(desc, lanes);
        std::vector<float> dx = lanes[1].as<float>();
        EXPECT_TRUE(isSame(dx, grouped(plain[1].as<float>(), c, pixels), 2e-5f));
        // The average is the transposed map: <average(x), dy> = <x, dx>.
        std::vector<float> x = grouped(randomFloats(int64_t(elements), false), c, pixels);
        desc["op"] = "average";
        std::vector<Array> forward = {Array::of(x), Array::output<float>(count)};
        runBuiltin(desc, forward);
        std::vector<float> y = forward[1].as<float>(), dyLanes = grouped(dy, c, results);
        double left = 0, right = 0, most = 0;
        for (size_t i = 0; i < count; ++i)
          left += double(y[i]) * dyLanes[i], most += std::abs(double(y[i]) * dyLanes[i]);
        for (size_t i = 0; i < elements; ++i)
          right += double(x[i]) * dx[i];
        EXPECT_NEAR(left, right, 1e-5 * most);
      }
  });
}

} // namespace
