//===- DirectTest.cpp - compares convolutions by matmuls with f64 sums ------------===//
#include "ProductsSample.h"

#include "runtime/library/direct/Describe.h"
#include "runtime/library/direct/Plan.h"

#include <gmock/gmock.h>

#include <set>

using namespace dlc::test;

namespace {

struct Layer {
  int64_t n, c, o, height, width;
  std::array<int64_t, 2> window{1, 1}, strides{1, 1}, dilations{1, 1}, low{0, 0}, high{0, 0};

  int64_t out(size_t d) const {
    return ((d ? width : height) + low[d] + high[d] - (window[d] - 1) * dilations[d] - 1) /
               strides[d] +
           1;
  }
};

json describe(const Layer &l, int block, bool last) {
  return {{"kind", "convolution"},
          {"block", block},
          {"src", {l.n, l.c, l.height, l.width}},
          {"dst", {l.n, l.o, l.out(0), l.out(1)}},
          {"window", l.window},
          {"strides", l.strides},
          {"dilations", l.dilations},
          {"pads", l.low},
          {"channels_last", last}};
}

/// Returns the expected results: `after` is applied to each sum.
template <typename After>
std::vector<double> wanted(const Layer &l, int block, const std::vector<float> &x,
                           const std::vector<float> &w, const After &after) {
  std::vector<double> want(size_t(l.n * l.o * l.out(0) * l.out(1)));
  for (int64_t n = 0; n < l.n; ++n)
    for (int64_t o = 0; o < l.o; ++o)
      for (int64_t y = 0; y < l.out(0); ++y)
        for (int64_t column = 0; column < l.out(1); ++column) {
          double sum = 0;
          for (int64_t ky = 0; ky < l.window[0]; ++ky)
            for (int64_t kx = 0; kx < l.window[1]; ++kx) {
              int64_t inY = y * l.strides[0] - l.low[0] + ky * l.dilations[0];
              int64_t inX = column * l.strides[1] - l.low[1] + kx * l.dilations[1];
              if (inY < 0 || inX < 0 || inY >= l.height || inX >= l.width)
                continue;
              for (int64_t c = 0; c < l.c; ++c)
                sum += double(x[at(block, l.c, l.height, l.width, n, c, inY, inX)]) *
                       double(w[size_t(((o * l.c + c) * l.window[0] + ky) * l.window[1] + kx)]);
            }
          size_t place = at(block, l.o, l.out(0), l.out(1), n, o, y, column);
          want[place] = after(sum, place, o);
        }
  return want;
}

/// Runs a call and returns its result. `operands` are passed between the weights and the result.
std::vector<float> resultOf(const json &desc, int threads, const std::vector<float> &x,
                            const std::vector<float> &w, size_t count,
                            std::vector<std::vector<float>> operands = {}) {
  dlc::direct::PackedWeights packed = dlc::direct::packWeights(desc, w.data(), threads);
  EXPECT_TRUE(packed.data) << packed.error;
  std::vector<float> result(count, NAN);
  std::vector<void *> buffers = {const_cast<float *>(x.data()), packed.data.get()};
  std::vector<dlc::runtime::BufferInfo> infos = {{x.size() * sizeof(float), false},
                                                 {packed.bytes, false}};
  for (auto &operand : operands) {
    buffers.push_back(operand.data());
    infos.push_back({operand.size() * sizeof(float), false});
  }
  buffers.push_back(result.data());
  infos.push_back({count * sizeof(float), true});
  Runnable("direct", desc, infos, threads).run(buffers.data());
  return result;
}

void everyForm(const Layer &l, const std::vector<int> &threads = {1, 2, 3}) {
  auto x = random(l.n * l.c * l.height * l.width, 1);
  auto w = random(l.o * l.c * l.window[0] * l.window[1], 2);
  for (int block : blocks())
    for (bool last : {false, true}) {
      if (l.c % block != 0 || l.o % block != 0)
        continue;
      auto want =
          wanted(l, last ? 0 : block, x, w, [](double sum, size_t, int64_t) { return sum; });
      for (int count : threads) {
        json desc = describe(l, block, last);
        EXPECT_LE(errorOf(resultOf(desc, count, x, w, want.size()), want), 2e-6)
            << desc << ", " << count << " threads";
      }
    }
}

TEST(Direct, OnePixel) {
  for (int64_t size : {1, 2, 3, 5, 7, 15})
    everyForm({2, 16, 48, size, size + 1});
  everyForm({1, 48, 16, 4, 30});
  everyForm({1, 176, 80, 13, 13}); // channels summed in two ranges
}

TEST(Direct, Windows) {
  everyForm({1, 16, 32, 9, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  everyForm({2, 32, 16, 9, 8, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 1}});
  everyForm({1, 16, 16, 12, 11, {5, 2}, {2, 3}, {1, 2}, {2, 0}, {1, 3}});
  everyForm({1, 16, 16, 9, 8, {3, 3}, {1, 1}, {2, 2}, {5, 2}, {0, 2}});
  everyForm({1, 16, 16, 9, 8, {1, 1}, {1, 1}, {1, 1}, {1, 0}, {0, 2}});
  everyForm({1, 16, 16, 9, 8, {1, 1}, {2, 1}});
  // Negative padding crops the image.
  everyForm({1, 16, 16, 9, 8, {1, 1}, {1, 1}, {1, 1}, {-2, -1}, {2, 1}});
  everyForm({1, 16, 16, 9, 8, {3, 3}, {1, 1}, {1, 1}, {-1, -2}, {0, -1}});
}

/// Every way in which a plan can split the work.
TEST(Direct, Splits) {
  std::set<std::tuple<bool, bool, bool>> seen;
  auto all = [&](const Layer &l) {
    everyForm(l, {1, 2, 5});
    for (int block : blocks())
      for (int threads : {1, 2, 5}) {
        auto request = dlc::direct::Convolution::parse(describe(l, block, false));
        dlc::direct::WorkPartition plan(request, threads);
        seen.insert({request.readsInPlace(), plan.sharesPixels, plan.imageParts > 1});
      }
  };
  all({1, 16, 160, 7, 7});
  all({3, 16, 160, 7, 9, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}});
  all({1, 16, 160, 15, 16});
  all({1, 16, 160, 15, 16, {2, 2}});
  all({1, 16, 32, 5, 5, {3, 3}});
  EXPECT_EQ(seen.size(), 8u);
  json desc = describe({1, 16, 160, 7, 7}, blocks().front(), false);
  EXPECT_TRUE(dlc::direct::describeSourceAccess(desc, 2).inPlace &&
              dlc::direct::describeSourceAccess(desc, 2).whole);
  EXPECT_FALSE(dlc::direct::describeSourceAccess(desc, 1).whole);
  desc["channels_last"] = true;
  EXPECT_FALSE(dlc::direct::describeSourceAccess(desc, 2).inPlace);
}

/// Rows of the window that contain only padding, in some parts of an image or in all.
TEST(Direct, WindowsBeyondTheImage) {
  everyForm({1, 16, 160, 14, 14, {3, 3}, {1, 1}, {12, 12}, {12, 12}, {12, 12}});
  everyForm({2, 32, 16, 5, 6, {3, 3}, {2, 1}, {4, 1}, {4, 1}, {4, 1}});
  everyForm({1, 16, 16, 3, 3, {2, 1}, {1, 1}, {1, 1}, {6, 0}, {2, 0}}); // some results contain only
                                                                        // padding
  auto partOf = [](const Layer &l) {
    return dlc::direct::describeSourceAccess(describe(l, blocks().front(), false), 1).windowPart;
  };
  EXPECT_EQ(partOf({1, 16, 16, 9, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}), 1);
  EXPECT_EQ(partOf({1, 16, 16, 4, 4, {3, 3}, {1, 1}, {4, 1}, {4, 1}, {4, 1}}), 1.0 / 3);
}

TEST(Direct, Steps) {
  Layer l{2, 32, 48, 7, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  auto x = random(l.n * l.c * l.height * l.width, 1), w = random(l.o * l.c * 9, 2);
  auto bias = random(l.o, 3), scale = random(l.o, 4), add = random(l.n * l.o * 7 * 6, 5);
  for (int block : blocks())
    for (bool last : {false, true})
      for (int threads : {1, 2}) {
        json desc = describe(l, block, last);
        desc["bias"] = true;
        desc["steps"] = {{{"do", "multiply_channels"}},
                         {{"do", "add"}},
                         {{"do", "relu"}, {"alpha", 0.25}},
                         {{"do", "add_channels"}},
                         {{"do", "linear"}, {"alpha", 0.5}, {"beta", 1}},
                         {{"do", "clip"}, {"alpha", -2}, {"beta", 6}}};
        auto want = wanted(l, last ? 0 : block, x, w, [&](double sum, size_t place, int64_t o) {
          double v = (sum + bias[size_t(o)]) * scale[size_t(o)] + add[place];
          v = (v > 0 ? v : v / 4) + bias[size_t(o)];
          return std::clamp(v / 2 + 1, -2.0, 6.0);
        });
        EXPECT_LE(
            errorOf(resultOf(desc, threads, x, w, want.size(), {bias, scale, add, bias}), want),
            5e-6)
            << desc << ", " << threads << " threads";
      }
}

TEST(Direct, WrongDescriptions) {
  int block = blocks().front();
  const json good = describe({1, 16, 16, 5, 5}, block, false);
  const std::vector<dlc::runtime::BufferInfo> infos = {
      {25 * 64, false}, {16 * 64, false}, {25 * 64, true}};
  auto message = [&](const json &desc, std::vector<dlc::runtime::BufferInfo> buffers) {
    try {
      dlc::runtime::createCall("direct", desc, buffers, 1);
    } catch (const dlc::Error &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using testing::HasSubstr;
  EXPECT_EQ(message(good, infos), "accepted");
  auto with = [&](const char *key, json value) {
    json desc = good;
    desc[key] = std::move(value);
    return message(desc, infos);
  };
  EXPECT_THAT(with("kind", "pool"), HasSubstr("'kind' must be convolution; found: \"pool\""));
  EXPECT_THAT(with("block", 12),
              HasSubstr("'block' must be an integer from 8 to 16, divisible by 8"));
  EXPECT_THAT(with("src", {1, 17, 5, 5}), HasSubstr("a multiple of the block"));
  EXPECT_THAT(with("src", {2, 16, 5, 5}), HasSubstr("of the same batch size"));
  EXPECT_THAT(with("window", {1}), HasSubstr("'window' must be 2 integers; found: [1]"));
  EXPECT_THAT(with("strides", {0, 1}), HasSubstr("'strides' must be 2 integers from 1 to"));
  EXPECT_THAT(with("pads", {int64_t(1) << 31, 0}), HasSubstr("'pads' must be 2 integers"));
  EXPECT_THAT(with("window", {1 << 20, 1 << 20}), HasSubstr("are too many"));
  EXPECT_THAT(with("steps", {{{"do", "sort"}}}), HasSubstr("direct: 'do' must be relu, clip, "));
  EXPECT_THAT(with("bias", true), HasSubstr("no buffer for 'dst': found 3 buffers"));
  auto small = infos;
  small[1].bytes -= 1;
  EXPECT_THAT(message(good, small),
              HasSubstr("buffer 1 ('weights') has 1023 bytes; required: 1024"));
  small = infos;
  small[2].writable = false;
  EXPECT_THAT(message(good, small), HasSubstr("is part of a constant or an input"));
  small = infos;
  small.push_back(infos[0]);
  EXPECT_THAT(message(good, small), HasSubstr("required: 3 buffers; found: 4"));
  small = infos;
  small.pop_back();
  EXPECT_THAT(message(good, small), HasSubstr("no buffer for 'dst'"));
  EXPECT_EQ(dlc::direct::packedBytes({{"kind", "pool"}}), 0u);
  EXPECT_FALSE(dlc::direct::packWeights({{"kind", "pool"}}, nullptr, 1).data);
}

} // namespace
