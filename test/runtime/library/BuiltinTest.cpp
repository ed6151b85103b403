//===- BuiltinTest.cpp - the built-in kernels ---------------------------------===//
#include "BuiltinArrays.h"

#include "runtime/program/Numeric.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

using namespace dlc;
using namespace dlc::test;
using runtime::BFloat16;
using runtime::Float16;

namespace {

template <typename T> std::vector<T> randomValues(size_t count, int range, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<int>(random() % static_cast<unsigned>(range))));
  return values;
}

const float kNan = std::numeric_limits<float>::quiet_NaN();

} // namespace

TEST(Numeric, HalfConversionsOfEveryBitPattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half{static_cast<uint16_t>(bits)};
    BFloat16 brain{static_cast<uint16_t>(bits)};
    float h = half, b = brain;
    if (h == h)
      ASSERT_EQ(Float16::from(h).bits, bits);
    else
      ASSERT_NE(float(Float16::from(h)), float(Float16::from(h)));
    ASSERT_TRUE(b != b || BFloat16::from(b).bits == bits) << bits;
    // A value half-way between two representable neighbors is rounded to the even one.
    if (bits < 0x7bff) {
      float next = Float16{static_cast<uint16_t>(bits + 1)};
      ASSERT_EQ(Float16::from((h + next) / 2).bits, bits + (bits & 1)) << bits;
    }
  }
  EXPECT_EQ(Float16::from(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16::from(65519.0f).bits, 0x7bff);
}

TEST(Builtin, TopKAgainstSorting) {
  const int64_t outer = 3, inner = 4;
  for (int64_t len : {1, 7, 53, 300, 5000})
    for (int64_t k : {int64_t(1), std::min<int64_t>(len, 9), (len + 1) / 2, len})
      for (bool largest : {true, false})
        for (int range : {3, 100000}) {
          auto x = randomValues<float>(static_cast<size_t>(outer * len * inner), range, 7);
          std::vector<Array> arrays = {Array::of(x), Array::output<float>(outer * k * inner),
                                       Array::output<int64_t>(outer * k * inner)};
          runBuiltin({{"kind", "topk"},
                      {"dtype", "f32"},
                      {"outer", outer},
                      {"len", len},
                      {"inner", inner},
                      {"k", k},
                      {"largest", largest}},
                     arrays);
          auto values = arrays[1].as<float>();
          auto indices = arrays[2].as<int64_t>();
          for (int64_t o = 0; o < outer; ++o)
            for (int64_t i = 0; i < inner; ++i) {
              std::vector<std::pair<float, int64_t>> line;
              for (int64_t l = 0; l < len; ++l) {
                float v = x[(o * len + l) * inner + i];
                line.push_back({largest ? -v : v, l});
              }
              std::sort(line.begin(), line.end());
              for (int64_t j = 0; j < k; ++j) {
                int64_t at = (o * k + j) * inner + i;
                ASSERT_EQ(indices[at], line[j].second);
                ASSERT_EQ(values[at], largest ? -line[j].first : line[j].first);
              }
            }
        }
}

TEST(Builtin, TopKOfOtherTypes) {
  std::vector<Array> arrays = {Array::of<float>({1, kNan, 3}), Array::output<float>(2),
                               Array::output<int64_t>(2)};
  json desc = {{"kind", "topk"}, {"dtype", "f32"}, {"outer", 1},
               {"len", 3},       {"inner", 1},     {"k", 2}};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<int64_t>(), (std::vector<int64_t>{1, 2}));
  // Zeros of both signs are equal, and so are all NaNs.
  arrays = {Array::of<float>({-0.0f, kNan, 0.0f, -kNan, -INFINITY}), Array::output<float>(5),
            Array::output<int64_t>(5)};
  desc["len"] = desc["k"] = 5;
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<int64_t>(), (std::vector<int64_t>{1, 3, 0, 2, 4}));
  desc["largest"] = false;
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<int64_t>(), (std::vector<int64_t>{4, 0, 2, 1, 3}));
  desc["largest"] = true;
  desc["len"] = 3;
  desc["k"] = 2;
  for (const char *type : {"i32", "u32"}) {
    desc["dtype"] = type;
    arrays = {Array::of<uint32_t>({1, ~0u, 3}), Array::output<uint32_t>(2),
              Array::output<int64_t>(2)};
    runBuiltin(desc, arrays);
    EXPECT_EQ(arrays[2].as<int64_t>(),
              (type[0] == 'u' ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 0}));
  }
  desc["dtype"] = "u64";
  arrays = {Array::of<uint64_t>({1, ~0ull, 3}), Array::output<uint64_t>(2),
            Array::output<int64_t>(2)};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[1].as<uint64_t>(), (std::vector<uint64_t>{~0ull, 3}));
  desc["dtype"] = "bf16";
  desc["largest"] = false;
  arrays = {Array::of<uint16_t>({0x3f80, 0xc000, 0x0000}), Array::output<uint16_t>(2),
            Array::output<int64_t>(2)};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<int64_t>(), (std::vector<int64_t>{1, 2}));
}

TEST(Builtin, ArgReduce) {
  auto run = [](const std::vector<float> &x, const char *op, bool last) {
    std::vector<Array> arrays = {Array::of(x), Array::output<int64_t>(2)};
    runBuiltin({{"kind", "arg_reduce"},
                {"op", op},
                {"select_last", last},
                {"dtype", "f32"},
                {"outer", 1},
                {"len", 3},
                {"inner", 2}},
               arrays);
    return arrays[1].as<int64_t>();
  };
  using Indices = std::vector<int64_t>;
  const std::vector<float> x = {1, 5, 3, 5, 3, 2};
  EXPECT_EQ(run(x, "max", false), (Indices{1, 0}));
  EXPECT_EQ(run(x, "max", true), (Indices{2, 1}));
  EXPECT_EQ(run(x, "min", false), (Indices{0, 2}));
  EXPECT_EQ(run({1, 5, kNan, 5, kNan, 2}, "min", false), (Indices{1, 2}));
  EXPECT_EQ(run({1, 5, kNan, 5, kNan, 2}, "max", true), (Indices{2, 1}));
}

static void cumulates(int64_t outer, int64_t len, int64_t inner) {
  auto x = randomValues<int32_t>(static_cast<size_t>(outer * len * inner), 3, 5);
  for (bool product : {false, true})
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true}) {
        std::vector<Array> arrays = {Array::of(x), Array::output<int32_t>(x.size())};
        runBuiltin({{"kind", "cumulative"},
                    {"op", product ? "prod" : "sum"},
                    {"dtype", "i32"},
                    {"outer", outer},
                    {"len", len},
                    {"inner", inner},
                    {"exclusive", exclusive},
                    {"reverse", reverse}},
                   arrays);
        auto y = arrays[1].as<int32_t>();
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i) {
            uint32_t sum = product;
            for (int64_t step = 0; step < len; ++step) {
              int64_t l = reverse ? len - 1 - step : step, at = (o * len + l) * inner + i;
              uint32_t before = sum, value = static_cast<uint32_t>(x[at]);
              sum = product ? sum * value : sum + value;
              ASSERT_EQ(y[at], static_cast<int32_t>(exclusive ? before : sum));
            }
          }
      }
}

TEST(Builtin, Cumulative) {
  cumulates(3, 50, 130);
  // Contiguous lines: several at a time and the remainder. Long lines are split into pieces, for
  // one and for several threads.
  cumulates(21, 50, 1);
  cumulates(1, 20011, 1);
  cumulates(3, 5000, 1);
  // A long bf16 sum of ones must not saturate at 256.
  std::vector<uint16_t> ones(5000, 0x3f80);
  std::vector<Array> arrays = {Array::of(ones), Array::output<uint16_t>(5000)};
  runBuiltin({{"kind", "cumulative"}, {"dtype", "bf16"}, {"outer", 1}, {"len", 5000}, {"inner", 1}},
             arrays);
  EXPECT_EQ(float(BFloat16{arrays[1].as<uint16_t>()[4999]}), 4992.0f);
}

TEST(Builtin, ScatterElements) {
  json desc = {{"kind", "scatter_elements"}, {"dtype", "f32"}, {"index", "i64"}, {"data", {3, 3}},
               {"indices", {2, 3}},          {"axis", 0}};
  auto run = [&](const char *reduction, const std::vector<int64_t> &indices) {
    desc["reduction"] = reduction;
    std::vector<Array> arrays = {Array::of<float>(std::vector<float>(9, 2)), Array::of(indices),
                                 Array::of<float>({1, 2, 3, 4, 5, 6}), Array::output<float>(9)};
    runBuiltin(desc, arrays);
    return arrays[3].as<float>();
  };
  using Values = std::vector<float>;
  EXPECT_EQ(run("none", {1, 0, 2, 0, 2, 1}), (Values{4, 2, 2, 1, 2, 6, 2, 5, 3}));
  EXPECT_EQ(run("none", {1, -3, -1, 1, 2, 1}), (Values{2, 2, 2, 4, 2, 6, 2, 5, 3}));
  EXPECT_EQ(run("add", {1, 1, 1, 1, 1, 1}), (Values{2, 2, 2, 7, 9, 11, 2, 2, 2}));
  EXPECT_EQ(run("mul", {1, 1, 1, 1, 1, 1}), (Values{2, 2, 2, 8, 20, 36, 2, 2, 2}));
  EXPECT_EQ(run("max", {1, 1, 1, 1, 1, 1}), (Values{2, 2, 2, 4, 5, 6, 2, 2, 2}));
  EXPECT_EQ(run("min", {1, 1, 1, 1, 1, 1}), (Values{2, 2, 2, 1, 2, 2, 2, 2, 2}));
  for (int64_t bad : {int64_t(3), int64_t(-4), INT64_MAX, INT64_MIN}) {
    std::string error = errorOf([&] { run("none", {1, 0, 2, 0, bad, 1}); });
    EXPECT_NE(error.find("command 0 'tested'"), std::string::npos) << error;
    EXPECT_NE(error.find("out of range for axis 0 of 3"), std::string::npos) << error;
  }
}

TEST(Builtin, ScatterElementsLargeInParallel) {
  const int64_t rows = 200, columns = 300;
  auto indices = randomValues<int32_t>(rows * columns, columns, 3);
  auto updates = randomValues<int32_t>(rows * columns, 100, 4);
  std::vector<int32_t> expected(rows * columns, 1);
  for (int64_t i = 0; i < rows * columns; ++i)
    expected[i / columns * columns + indices[i]] += updates[i];
  std::vector<Array> arrays = {Array::of(std::vector<int32_t>(rows * columns, 1)),
                               Array::of(indices), Array::of(updates),
                               Array::output<int32_t>(rows * columns)};
  runBuiltin({{"kind", "scatter_elements"},
              {"dtype", "i32"},
              {"index", "i32"},
              {"data", {rows, columns}},
              {"indices", {rows, columns}},
              {"axis", 1},
              {"reduction", "add"}},
             arrays);
  EXPECT_EQ(arrays[3].as<int32_t>(), expected);
}

TEST(Builtin, ScatterElementsAlongEachAxis) {
  const std::vector<int64_t> dims = {30, 40, 50}, strides = {2000, 50, 1};
  const int64_t total = 60000;
  for (size_t axis = 0; axis < 3; ++axis) {
    auto indices = randomValues<int64_t>(total, dims[axis], 5);
    auto updates = randomValues<int32_t>(total, 100, 6);
    std::vector<int32_t> expected(total, 3);
    for (int64_t i = 0; i < total; ++i)
      expected[i + (indices[i] - i / strides[axis] % dims[axis]) * strides[axis]] += updates[i];
    std::vector<Array> arrays = {Array::of(std::vector<int32_t>(total, 3)), Array::of(indices),
                                 Array::of(updates), Array::output<int32_t>(total)};
    runBuiltin({{"kind", "scatter_elements"},
                {"dtype", "i32"},
                {"index", "i64"},
                {"data", dims},
                {"indices", dims},
                {"axis", axis},
                {"reduction", "add"}},
               arrays);
    EXPECT_EQ(arrays[3].as<int32_t>(), expected) << axis;
  }
}

TEST(Builtin, ScatterNd) {
  const int64_t slice = 5000;
  std::vector<int16_t> data(4 * slice), updates(3 * slice), expected(4 * slice);
  for (size_t i = 0; i < updates.size(); ++i)
    updates[i] = static_cast<int16_t>(i);
  json desc = {{"kind", "scatter_nd"}, {"dtype", "i16"},    {"index", "i64"},
               {"data", {4, slice}},   {"indices", {3, 1}}, {"reduction", "add"}};
  const std::vector<int64_t> indices = {3, -1, 0};
  std::vector<Array> arrays = {Array::of(data), Array::of(indices), Array::of(updates),
                               Array::output<int16_t>(4 * slice)};
  runBuiltin(desc, arrays);
  for (int64_t i = 0; i < slice; ++i) {
    expected[3 * slice + i] = static_cast<int16_t>(updates[i] + updates[slice + i]);
    expected[i] = updates[2 * slice + i];
  }
  EXPECT_EQ(arrays[3].as<int16_t>(), expected);
  // With `zeros` the data operand is zero and has no buffer.
  json zeros = desc;
  zeros["zeros"] = 1;
  std::vector<Array> fewer = {arrays[1], arrays[2], Array::output<int16_t>(4 * slice)};
  runBuiltin(zeros, fewer);
  EXPECT_EQ(fewer[2].as<int16_t>(), expected);
  arrays[1] = Array::of<int64_t>({0, 4, 0});
  EXPECT_NE(errorOf([&] { runBuiltin(desc, arrays); }).find("index 4 is out of range"),
            std::string::npos);
}

TEST(Builtin, Nms) {
  const std::vector<float> boxes = {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                    0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100,   1, 101};
  const std::vector<float> scores = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};
  json desc = {{"kind", "nms"}, {"dtype", "f32"}, {"overlap", "f32"},
               {"batch", 1},    {"classes", 1},   {"boxes", 6}};
  auto run = [&](int64_t k, float overlap, std::vector<uint8_t> candidates) {
    desc["k"] = k;
    std::vector<Array> arrays = {Array::of(boxes),
                                 Array::of(scores),
                                 Array::of(candidates),
                                 Array::of<float>({overlap}),
                                 Array::output<int64_t>(size_t(k)),
                                 Array::output<int64_t>(1)};
    runBuiltin(desc, arrays);
    std::vector<int64_t> places = arrays[4].as<int64_t>();
    const size_t count = size_t(arrays[5].as<int64_t>()[0]);
    for (size_t i = count; i < places.size(); ++i)
      EXPECT_EQ(places[i], 0);
    places.resize(count);
    return places;
  };
  using Indices = std::vector<int64_t>;
  const std::vector<uint8_t> all(6, 1);
  EXPECT_EQ(run(6, 0.5f, all), (Indices{3, 0, 5}));
  EXPECT_EQ(run(2, 0.5f, all), (Indices{3, 0}));
  EXPECT_EQ(run(0, 0.5f, all), (Indices{}));
  EXPECT_EQ(run(6, 0.5f, {1, 1, 1, 0, 1, 0}), (Indices{0, 4}));
  EXPECT_EQ(run(6, 0.5f, std::vector<uint8_t>(6)), (Indices{}));
  EXPECT_EQ(run(6, 1, all), (Indices{3, 0, 1, 2, 4, 5}));
  EXPECT_EQ(run(6, -1, all), (Indices{3}));
}

/// Distant boxes are not compared. For every box size the result must equal that of comparing all
/// pairs.
TEST(Builtin, NmsOfManyBoxes) {
  const size_t n = 1500;
  for (float size : {0.5f, 30.f, 3000.f})
    for (float overlap : {0.f, 0.3f, 0.7f}) {
      std::mt19937 random(1);
      auto numbers = [&](size_t count, float high) {
        std::vector<float> values(count);
        std::uniform_real_distribution<float> draw(0, high);
        std::generate(values.begin(), values.end(), [&] { return draw(random); });
        return values;
      };
      std::vector<float> at = numbers(2 * n, 1000), sides = numbers(2 * n, size), boxes;
      for (size_t i = 0; i < n; ++i)
        boxes.insert(boxes.end(), {at[2 * i], at[2 * i + 1], at[2 * i] + sides[2 * i],
                                   at[2 * i + 1] + sides[2 * i + 1] / 2});
      std::vector<float> scores = numbers(n, 1);
      std::vector<size_t> order(n), wanted;
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t i, size_t j) { return scores[i] > scores[j]; });
      auto sideOf = [&](size_t i, int d, bool high) {
        double a = boxes[4 * i + d], b = boxes[4 * i + 2 + d];
        return high ? std::max(a, b) : std::min(a, b);
      };
      auto areaOf = [&](size_t i) {
        return (sideOf(i, 0, true) - sideOf(i, 0, false)) *
               (sideOf(i, 1, true) - sideOf(i, 1, false));
      };
      for (size_t i : order)
        if (std::none_of(wanted.begin(), wanted.end(), [&](size_t j) {
              double common = 1;
              for (int d : {0, 1})
                common *= std::max(0.0, std::min(sideOf(i, d, true), sideOf(j, d, true)) -
                                            std::max(sideOf(i, d, false), sideOf(j, d, false)));
              double all = areaOf(i) + areaOf(j) - common;
              return (all > 0 ? common / all : 0) > overlap;
            }))
          wanted.push_back(i);
      std::vector<Array> arrays = {Array::of(boxes),
                                   Array::of(scores),
                                   Array::of(std::vector<uint8_t>(n, 1)),
                                   Array::of<float>({overlap}),
                                   Array::output<int64_t>(n),
                                   Array::output<int64_t>(1)};
      runBuiltin({{"kind", "nms"},
                  {"dtype", "f32"},
                  {"overlap", "f32"},
                  {"batch", 1},
                  {"classes", 1},
                  {"boxes", n},
                  {"k", n}},
                 arrays);
      std::vector<int64_t> places = arrays[4].as<int64_t>();
      places.resize(size_t(arrays[5].as<int64_t>()[0]));
      EXPECT_EQ(places, std::vector<int64_t>(wanted.begin(), wanted.end()))
          << size << " " << overlap;
      EXPECT_GT(wanted.size(), 0u);
    }
}

TEST(Builtin, MaxPoolIndices) {
  std::vector<float> x(2 * 25);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 25 + 1);
  auto run = [&](json more, std::vector<int64_t> dst) {
    size_t outputs = static_cast<size_t>(2 * dst[2] * dst[3]);
    std::vector<Array> arrays = {Array::of(x), Array::output<float>(outputs),
                                 Array::output<int64_t>(outputs)};
    json desc = {
        {"kind", "max_pool_indices"}, {"dtype", "f32"}, {"src", {1, 2, 5, 5}}, {"dst", dst}};
    desc.update(more);
    runBuiltin(desc, arrays);
    return std::pair(arrays[1].as<float>(), arrays[2].as<int64_t>());
  };
  auto [values, indices] = run({{"kernel", {2, 2}}, {"strides", {2, 2}}}, {1, 2, 2, 2});
  EXPECT_EQ(values, (std::vector<float>{7, 9, 17, 19, 7, 9, 17, 19}));
  EXPECT_EQ(indices, (std::vector<int64_t>{6, 8, 16, 18, 31, 33, 41, 43}));
  auto columns = run({{"kernel", {2, 2}}, {"strides", {2, 2}}, {"storage_order", 1}}, {1, 2, 2, 2});
  EXPECT_EQ(columns.second, (std::vector<int64_t>{6, 16, 8, 18, 31, 41, 33, 43}));
  auto dilated = run({{"kernel", {2, 2}}, {"dilations", {1, 1}}, {"pads_l", {2, 2}}}, {1, 2, 7, 7});
  EXPECT_EQ(dilated.first[0], 1);
  EXPECT_EQ(dilated.first[48], 25);
}

TEST(Builtin, MaxPoolPositionsAndGradient) {
  // Windows of 2 x 2 with strides of 2. The first row of the upper windows is padding.
  json desc = {{"kind", "max_pool_positions"},
               {"dtype", "f32"},
               {"src", {1, 1, 3, 4}},
               {"dst", {1, 1, 2, 2}},
               {"kernel", {2, 2}},
               {"strides", {2, 2}},
               {"pads_l", {1, 0}}};
  std::vector<Array> arrays = {Array::of<float>({1, 5, kNan, 3, 2, 4, 7, 7, 6, 0, 7, 8}),
                               Array::output<float>(4), Array::output<uint8_t>(4)};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[1].as<float>()[0], 5);
  EXPECT_TRUE(std::isnan(arrays[1].as<float>()[1]));
  EXPECT_EQ(arrays[2].as<uint8_t>(), (std::vector<uint8_t>{3, 2, 2, 3}));
  desc["kind"] = "max_pool_grad";
  auto gradient = [&](std::vector<uint8_t> positions) {
    std::vector<Array> arrays = {Array::of<float>({1, 10, 100, 1000}), Array::of(positions),
                                 Array::output<float>(12)};
    runBuiltin(desc, arrays);
    return arrays[2].as<float>();
  };
  EXPECT_EQ(gradient({3, 2, 2, 3}), (std::vector<float>{0, 1, 10, 0, 0, 0, 0, 0, 100, 0, 0, 1000}));
  // Positions in the padding and outside of the window contribute nothing.
  EXPECT_EQ(gradient({0, 1, 4, 255}), std::vector<float>(12));
}

TEST(Builtin, AvgPoolGradient) {
  json desc = {{"kind", "avg_pool_grad"}, {"dtype", "f32"},   {"src", {1, 1, 1, 3}},
               {"dst", {1, 1, 1, 4}},     {"kernel", {1, 2}}, {"pads_l", {0, 1}}};
  auto gradient = [&] {
    std::vector<Array> arrays = {Array::of<float>({8, 4, 2, 16}), Array::output<float>(3)};
    runBuiltin(desc, arrays);
    return arrays[1].as<float>();
  };
  // The outer windows contain one element, or two positions if padding is counted.
  EXPECT_EQ(gradient(), (std::vector<float>{10, 3, 17}));
  desc["include_pad"] = true;
  EXPECT_EQ(gradient(), (std::vector<float>{6, 3, 17}));
  desc["pads_counted"] = {0, 1};
  EXPECT_EQ(gradient(), (std::vector<float>{6, 3, 9}));
}

TEST(Builtin, ConvWeightGradient) {
  // dw[k] = sum of dy[p] * x[2 p + k - 1].
  json desc = {{"kind", "conv_weight_grad"},
               {"dtype", "f32"},
               {"src", {1, 1, 4}},
               {"dst", {1, 2, 2}},
               {"kernel", {3}},
               {"strides", {2}},
               {"pads_l", {1}}};
  std::vector<Array> arrays = {Array::of<float>({1, 2, 3, 4}), Array::of<float>({10, 100, 1, 2}),
                               Array::output<float>(6)};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<float>(), (std::vector<float>{200, 310, 420, 4, 7, 10}));
  // Negative padding crops the input.
  desc.update({{"src", {1, 1, 5}}, {"pads_l", {-1}}, {"kernel", {1}}});
  arrays = {Array::of<float>({9, 1, 9, 3, 9}), Array::of<float>({10, 100, 1, 2}),
            Array::output<float>(2)};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<float>(), (std::vector<float>{310, 7}));
  // An empty batch: the sum has no terms.
  desc.update({{"src", {0, 1, 5}}, {"dst", {0, 2, 2}}});
  arrays = {Array::of<float>({}), Array::of<float>({}), Array::output<float>(2)};
  runBuiltin(desc, arrays);
  EXPECT_EQ(arrays[2].as<float>(), (std::vector<float>{0, 0}));
}

TEST(Builtin, RandomIsPhilox) {
  // Published test vector of Philox: counter and key zero give 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  std::vector<Array> arrays = {Array::output<float>(4)};
  json desc = {{"kind", "random"}, {"op", "uniform"}, {"dtype", "f32"}, {"count", 4}, {"seed", 0}};
  runBuiltin(desc, arrays);
  std::vector<float> expected;
  for (uint32_t word : {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u})
    expected.push_back(static_cast<float>(word >> 8) / 16777216.0f);
  EXPECT_EQ(arrays[0].as<float>(), expected);
}

TEST(Builtin, RandomCounterAndWidths) {
  // Published test vector of Philox: counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822
  // 299f31d0 gives d16cfe09 94fdcceb 5001e420 24126ea1. The block number is the counter's low half.
  auto draw = [](auto type, const char *dtype) {
    using T = decltype(type);
    std::vector<Array> arrays = {
        Array::of<int64_t>({0x299f31d0a4093822}), Array::of<int64_t>({0x0370734413198a2e}),
        Array::of<int64_t>({int64_t(0x85a308d3243f6a88u)}), Array::output<T>(4)};
    runBuiltin({{"kind", "random"},
                {"op", "uniform"},
                {"dtype", dtype},
                {"count", 4},
                {"seed", "buffer"},
                {"counter", "buffer"},
                {"offset", "buffer"}},
               arrays);
    return arrays[3].as<T>();
  };
  std::vector<float> floats;
  std::vector<double> doubles;
  for (uint32_t word : {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}) {
    floats.push_back(static_cast<float>(word >> 8) / 16777216.0f);
    doubles.push_back(floats.back());
  }
  EXPECT_EQ(draw(float(), "f32"), floats);
  EXPECT_EQ(draw(double(), "f64"), doubles);
  // 16-bit types use as many leading bits as their mantissa holds: d1 / 2^8 = 0.81640625 is 0x3f51.
  EXPECT_EQ(draw(uint16_t(), "bf16")[0], 0x3f51);
  // d16c >> 5 = 68b = 1675, and 1675 / 2^11 = 0.81787109375 is 0x3a8b.
  EXPECT_EQ(draw(uint16_t(), "f16")[0], 0x3a8b);
}

TEST(Builtin, RandomDependsOnSeedAndOffsetOnly) {
  auto draw = [](int threads, int64_t count, int64_t seed, int64_t offset) {
    std::vector<Array> arrays = {Array::of<int64_t>({seed}), Array::of<int64_t>({offset}),
                                 Array::output<float>(static_cast<size_t>(count))};
    runBuiltin({{"kind", "random"},
                {"op", "normal"},
                {"dtype", "f32"},
                {"count", count},
                {"seed", "buffer"},
                {"offset", "buffer"},
                {"mean", 1},
                {"scale", 2}},
               arrays, threads);
    return arrays[2].as<float>();
  };
  const int64_t n = 100000;
  auto values = draw(1, n, 42, 0);
  EXPECT_EQ(values, draw(3, n, 42, 0));
  EXPECT_NE(values, draw(1, n, 43, 0));
  auto later = draw(1, n - 400, 42, 100);
  EXPECT_TRUE(std::equal(later.begin(), later.end(), values.begin() + 400));
  double mean = 0, square = 0;
  for (float value : values)
    mean += value / double(n), square += double(value) * value / double(n);
  EXPECT_NEAR(mean, 1, 0.03);
  EXPECT_NEAR(square - mean * mean, 4, 0.1);
}

TEST(Builtin, RandomOfOtherKinds) {
  const int64_t n = 10001;
  std::vector<Array> arrays = {Array::output<double>(n)};
  runBuiltin({{"kind", "random"},
              {"op", "uniform"},
              {"dtype", "f64"},
              {"count", n},
              {"seed", 1},
              {"low", -2},
              {"high", 6}},
             arrays);
  double mean = 0;
  for (double value : arrays[0].as<double>()) {
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 6);
    mean += value / double(n);
  }
  EXPECT_NEAR(mean, 2, 0.1);
  std::vector<float> probabilities(n, 0.25f);
  arrays = {Array::of(probabilities), Array::output<uint8_t>(n)};
  runBuiltin({{"kind", "random"},
              {"op", "bernoulli"},
              {"dtype", "bool"},
              {"count", n},
              {"seed", 1},
              {"probability", "buffer"},
              {"probability_dtype", "f32"}},
             arrays);
  int64_t ones = 0;
  for (uint8_t value : arrays[1].as<uint8_t>()) {
    ASSERT_LE(value, 1);
    ones += value;
  }
  EXPECT_NEAR(static_cast<double>(ones) / double(n), 0.25, 0.02);
}

TEST(Builtin, WrongDescriptions) {
  std::vector<Array> arrays = {Array::output<float>(4)};
  for (json desc :
       {json{{"kind", "nonsense"}}, json{{"kind", 5}},
        json{{"kind", "random"}, {"op", "uniform"}, {"dtype", "f32"}, {"count", 5}},
        json{{"kind", "random"}, {"op", "uniform"}, {"dtype", "f32"}, {"count", -5}},
        json{{"kind", "random"}, {"op", "uniform"}, {"dtype", "u8"}, {"count", 4}, {"low", -1}},
        json{{"kind", "cumulative"}, {"dtype", "f32"}, {"outer", 1}, {"len", 1}, {"inner", 1}},
        json{{"kind", "topk"}, {"dtype", "f32"}, {"outer", 1}, {"len", 1}, {"inner", 1}, {"k", 2}},
        json{{"kind", "topk"},
             {"dtype", "f32"},
             {"outer", 1 << 30},
             {"len", 1 << 30},
             {"inner", 1},
             {"k", 2}},
        json{{"kind", "scatter_nd"},
             {"dtype", "f32"},
             {"index", "i8"},
             {"data", {1}},
             {"indices", {1, 1}}}})
    EXPECT_NE(errorOf([&] { runBuiltin(desc, arrays); }), "") << desc;
}

/// Replaces every value of several descriptions with values of every kind. The kernel must reject
/// the description or stay within the buffers, which the address sanitizer checks. It never writes
/// to an input.
TEST(Builtin, AnyValueAnywhereInADescription) {
  const size_t n = 24;
  auto floats = Array::of<float>(randomValues<float>(n, 20, 1));
  auto indices = Array::of<int64_t>(randomValues<int64_t>(n, 2, 2));
  auto out = Array::output<float>(n), outIndices = Array::output<int64_t>(n);
  struct Case {
    json desc;
    std::vector<Array> arrays;
  };
  auto windowed = [](json desc) {
    desc.update({{"dtype", "f32"},
                 {"src", {1, 1, 4, 6}},
                 {"dst", {1, 1, 2, 3}},
                 {"kernel", {2, 2}},
                 {"strides", {2, 2}},
                 {"pads_l", {0, 0}},
                 {"dilations", {0, 0}}});
    return desc;
  };
  const Case cases[] = {
      {{{"kind", "topk"},
        {"dtype", "f32"},
        {"outer", 2},
        {"len", 4},
        {"inner", 3},
        {"k", 2},
        {"largest", true}},
       {floats, out, outIndices}},
      {{{"kind", "arg_reduce"},
        {"op", "max"},
        {"dtype", "f32"},
        {"outer", 2},
        {"len", 4},
        {"inner", 3}},
       {floats, outIndices}},
      {{{"kind", "cumulative"},
        {"op", "sum"},
        {"dtype", "f32"},
        {"outer", 2},
        {"len", 4},
        {"inner", 3}},
       {floats, out}},
      {{{"kind", "scatter_elements"},
        {"dtype", "f32"},
        {"index", "i64"},
        {"data", {4, 6}},
        {"indices", {2, 6}},
        {"axis", 0},
        {"reduction", "add"}},
       {floats, indices, floats, out}},
      {{{"kind", "scatter_nd"},
        {"dtype", "f32"},
        {"index", "i64"},
        {"data", {4, 6}},
        {"indices", {2, 1}},
        {"reduction", "mul"}},
       {floats, indices, floats, out}},
      {{{"kind", "nms"},
        {"dtype", "f32"},
        {"overlap", "f32"},
        {"batch", 1},
        {"classes", 2},
        {"boxes", 6},
        {"k", 2}},
       {floats, floats, Array::of(std::vector<uint8_t>(12, 1)), floats, outIndices,
        Array::output<int64_t>(2)}},
      {windowed({{"kind", "max_pool_indices"}, {"storage_order", 0}}), {floats, out, outIndices}},
      {windowed({{"kind", "max_pool_positions"}}), {floats, out, Array::output<uint8_t>(6)}},
      {windowed({{"kind", "max_pool_grad"}}), {floats, floats, out}},
      {windowed({{"kind", "avg_pool_grad"}, {"include_pad", true}, {"pads_counted", {0, 0}}}),
       {floats, out}},
      {{{"kind", "conv_weight_grad"},
        {"dtype", "f32"},
        {"src", {1, 1, 4, 6}},
        {"dst", {1, 2, 2, 3}},
        {"kernel", {2, 2}},
        {"strides", {2, 2}},
        {"pads_l", {0, 0}},
        {"dilations", {0, 0}},
        {"groups", 1}},
       {floats, floats, out}},
      {{{"kind", "random"},
        {"op", "uniform"},
        {"dtype", "f32"},
        {"count", 20},
        {"seed", 1},
        {"low", 0},
        {"high", 1}},
       {out}}};
  const json values[] = {nullptr,
                         -1,
                         0,
                         1,
                         3,
                         5,
                         1 << 20,
                         int64_t(1) << 45,
                         INT64_MAX,
                         1e300,
                         "",
                         "max",
                         "buffer",
                         "f64",
                         "i8",
                         "u64",
                         "bool",
                         true,
                         {},
                         {1},
                         {2, 2},
                         {0, 0},
                         {1 << 20, 1 << 20},
                         {4, 6, 1}};
  int refused = 0, ran = 0;
  for (const Case &one : cases) {
    auto whole = one.arrays;
    ASSERT_EQ(errorOf([&] { runBuiltin(one.desc, whole); }), "");
    json flat = one.desc.flatten();
    for (auto &[pointer, old] : flat.items())
      for (const json &value : values) {
        json desc = one.desc;
        desc[json::json_pointer(pointer)] = value;
        auto arrays = one.arrays;
        (errorOf([&] { runBuiltin(desc, arrays); }).empty() ? ran : refused)++;
        for (size_t i = 0; i < arrays.size(); ++i)
          if (!arrays[i].isOutput)
            EXPECT_EQ(arrays[i].bytes, one.arrays[i].bytes) << "buffer " << i << " of " << desc;
      }
  }
  std::cout << refused << " refused, " << ran << " ran\n";
  EXPECT_GT(refused, 500);
  EXPECT_GT(ran, 50);
}
