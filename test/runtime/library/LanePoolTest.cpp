//===- LanePoolTest.cpp - compares pooling of blocked and of single channels ------===//
#include "LaneCases.h"

using namespace dlc;
using namespace dlc::test;

namespace {

const LaneCase kCases[] = {
    {2, 32, 16, {7, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {1, 16, 16, {5, 5}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {3, 16, 8, {6, 4}, {3, 2}, {1, 2}, {1, 1}, {1, 1}, {1, 0}},
    {2, 48, 48, {8, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 24, 24, {11, 10}, {3, 2}, {3, 1}, {2, 3}, {2, 1}, {0, 1}},
    {1, 8, 8, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    // Large enough that gradients are written by non-temporal stores.
    {3, 32, 16, {300, 301}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
};

TEST(LanePool, MaximaAndTheirPlaces) {
  onEachProcessor([] {
    for (const LaneCase &c : kCases) {
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

template <typename Byte> void holdBytes(const LaneCase &c, const char *dtype) {
  int64_t pixels = c.size[0] * c.size[1], results = c.out(0) * c.out(1);
  std::mt19937 random(5);
  std::vector<Byte> x(size_t(c.images * c.channels * pixels));
  for (Byte &value : x)
    value = Byte(random());
  size_t count = size_t(c.images * c.channels * results);
  auto output = [&] { return Array::output<Byte>(count); };
  std::vector<Array> plain = {Array::of(x), output(), Array::output<uint8_t>(count)},
                     lanes = {Array::of(grouped(x, c, pixels)), output()};
  json desc = c.describe("max_pool_positions");
  desc["dtype"] = dtype;
  runBuiltin(desc, plain);
  desc["kind"] = "lane_pool";
  desc["op"] = "max";
  desc["group"] = c.group;
  runBuiltin(desc, lanes);
  EXPECT_EQ(lanes[1].as<Byte>(), grouped(plain[1].as<Byte>(), c, results));
}

TEST(LanePool, MaximaOfBytes) {
  onEachProcessor([] {
    for (LaneCase c : kCases)
      for (int64_t wider : {1, 5}) {
        c.channels *= wider, c.group *= wider;
        holdBytes<uint8_t>(c, "u8");
        holdBytes<int8_t>(c, "i8");
      }
  });
}

TEST(LanePool, AveragesAndTheirGradients) {
  onEachProcessor([] {
    for (const LaneCase &c : kCases)
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
        // Average pooling and its gradient are adjoint: <average(x), dy> = <x, dx>.
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
