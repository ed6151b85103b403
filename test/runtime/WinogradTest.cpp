//===- WinogradTest.cpp - convolutions with fewer products against sums in f64 ----===//
#include "runtime/library/winograd/Describe.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <random>

using nlohmann::json;

namespace {

struct Layer {
  int64_t n, c, o, height, width, window, top, left, bottom, right;

  int64_t outHeight() const { return height + top + bottom - window + 1; }
  int64_t outWidth() const { return width + left + right - window + 1; }
};

using Numbers = std::vector<float>;

Numbers randomNumbers(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Numbers numbers(count);
  for (float &x : numbers)
    x = uniform(engine);
  return numbers;
}

/// Position in an image whose channels lie in blocks; 0: last.
size_t at(int64_t block, int64_t channels, int64_t height, int64_t width, int64_t n, int64_t c,
          int64_t y, int64_t x) {
  if (block == 0)
    return size_t(((n * height + y) * width + x) * channels + c);
  return size_t((((n * (channels / block) + c / block) * height + y) * width + x) * block +
                c % block);
}

/// The blocks in which a description's images lie.
int blockIn(const json &desc) {
  return desc.value("channels_last", false) ? 0 : int(desc["block"]);
}

json describe(const Layer &l, const char *kind, int tile, int block) {
  return {{"kind", kind},
          {"tile", tile},
          {"window", l.window},
          {"block", block},
          {"src", {l.n, l.c, l.height, l.width}},
          {"dst", {l.n, l.o, l.outHeight(), l.outWidth()}},
          {"pads", {l.top, l.left}}};
}

std::string nameOf(const json &desc) { return desc.dump(); }

/// visit(n, o, y, x, c, ky, kx, inY, inX) for all products.
template <typename Sum> void convolve(const Layer &l, int block, const Numbers &x, const Sum &sum) {
  for (int64_t n = 0; n < l.n; ++n)
    for (int64_t o = 0; o < l.o; ++o)
      for (int64_t y = 0; y < l.outHeight(); ++y)
        for (int64_t column = 0; column < l.outWidth(); ++column)
          for (int64_t ky = 0; ky < l.window; ++ky)
            for (int64_t kx = 0; kx < l.window; ++kx) {
              int64_t inY = y + ky - l.top, inX = column + kx - l.left;
              if (inY < 0 || inX < 0 || inY >= l.height || inX >= l.width)
                continue;
              for (int64_t c = 0; c < l.c; ++c)
                sum(at(block, l.o, l.outHeight(), l.outWidth(), n, o, y, column), o, c, ky, kx,
                    x[at(block, l.c, l.height, l.width, n, c, inY, inX)]);
            }
}

size_t weightAt(const Layer &l, bool turned, int64_t o, int64_t c, int64_t ky, int64_t kx) {
  if (turned)
    return size_t(((c * l.o + o) * l.window + l.window - 1 - ky) * l.window + l.window - 1 - kx);
  return size_t(((o * l.c + c) * l.window + ky) * l.window + kx);
}

std::vector<double> reference(const Layer &l, int block, bool turned, const Numbers &x,
                              const Numbers &w, bool gradient, const Numbers &dy) {
  std::vector<double> want(size_t(gradient ? l.o * l.c * l.window * l.window
                                           : l.n * l.o * l.outHeight() * l.outWidth()));
  convolve(l, block, x, [&](size_t y, int64_t o, int64_t c, int64_t ky, int64_t kx, float value) {
    size_t weight = weightAt(l, turned, o, c, ky, kx);
    if (gradient)
      want[weight] += double(value) * double(dy[y]);
    else
      want[y] += double(value) * double(w[weight]);
  });
  return want;
}

double errorOf(const Numbers &got, const std::vector<double> &want) {
  double most = 0, scale = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    double difference = std::abs(double(got[i]) - want[i]);
    most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    scale = std::max(scale, std::abs(want[i]));
  }
  return most / scale;
}

/// What Desc.md promises.
double bound(int tile, int64_t window) {
  return window == 3 ? (tile == 2 ? 8e-7 : 3e-6) : (tile == 2 ? 3e-6 : 1.5e-5);
}

struct Operands {
  Numbers x, w, dy;
  /// What should come out, by description without what does not matter: sums in f64 take long.
  mutable std::map<std::string, std::vector<double>> wanted;

  const std::vector<double> &want(const Layer &l, int block, bool turned, bool gradient) const {
    auto [found, isNew] =
        wanted.try_emplace(std::to_string(block) + (turned ? "t" : "") + (gradient ? "g" : ""));
    if (isNew)
      found->second = reference(l, block, turned, x, w, gradient, dy);
    return found->second;
  }

  explicit Operands(const Layer &l)
      : x(randomNumbers(size_t(l.n * l.c * l.height * l.width), 1)),
        w(randomNumbers(size_t(l.o * l.c * l.window * l.window), 2)),
        dy(randomNumbers(size_t(l.n * l.o * l.outHeight() * l.outWidth()), 3)) {}
};

/// The largest error, in units of the largest result.
double run(const Layer &l, json desc, int threads, const Operands &operands) {
  bool gradient = desc["kind"] == "convolution_weights", turned = desc.value("turned", false);
  std::string error;
  auto call = dlc::winograd::Executable::create(desc, threads, error);
  EXPECT_TRUE(call) << error << " " << nameOf(desc);
  if (!call)
    return INFINITY;
  Numbers result(gradient ? operands.w.size() : operands.dy.size(), NAN);
  dlc::winograd::Packed packed;
  const float *weights = gradient ? operands.dy.data() : operands.w.data();
  if (desc.value("packed", false)) {
    packed = dlc::winograd::packWeights(desc, weights, threads);
    EXPECT_TRUE(packed.data) << packed.error;
    weights = static_cast<const float *>(packed.data.get());
  }
  void *buffers[] = {const_cast<float *>(operands.x.data()), const_cast<float *>(weights),
                     result.data()};
  call->run(buffers);
  return errorOf(result, operands.want(l, blockIn(desc), turned, gradient));
}

std::vector<int> blocks() {
  std::vector<int> list;
  for (int block : {8, 16})
    if (dlc::winograd::isSupported(block))
      list.push_back(block);
  return list;
}

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
            EXPECT_LE(run(l, desc, count, operands), factor * bound(tile, l.window))
                << desc << ", " << count << " threads";
          };
          for (auto [turned, packed] :
               {std::pair(false, false), {false, true}, {true, true}, {true, false}}) {
            desc["turned"] = turned;
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
  }
}

TEST(Winograd, LargeImage) { everyForm({1, 16, 16, 65, 63, 3, 1, 1, 1, 1}); }

TEST(Winograd, Padding) {
  everyForm({1, 16, 16, 9, 8, 3, 0, 0, 0, 0});
  everyForm({1, 16, 16, 9, 8, 3, 2, 0, 1, 2});
  everyForm({1, 16, 16, 9, 8, 5, 4, 3, 0, 1});
  // Cut instead of padded.
  everyForm({1, 16, 16, 9, 8, 3, -1, -2, 0, -1});
}

TEST(Winograd, Channels) {
  everyForm({1, 24, 40, 6, 6, 3, 1, 1, 1, 1});
  everyForm({1, 48, 80, 6, 6, 3, 1, 1, 1, 1});
  everyForm({3, 144, 160, 5, 5, 3, 1, 1, 1, 1}, {1, 2, 3});
  everyForm({1, 80, 96, 5, 5, 5, 2, 2, 2, 2}, {1, 2, 5});
}

TEST(Winograd, Steps) {
  Layer l{2, 32, 48, 7, 6, 3, 1, 1, 1, 1};
  Operands operands(l);
  Numbers bias = randomNumbers(size_t(l.o), 4), factor = randomNumbers(size_t(l.o), 5),
          other = randomNumbers(operands.dy.size(), 6);
  for (auto [block, last] : {std::pair(8, false), {8, true}, {16, false}, {16, true}}) {
    if (!dlc::winograd::isSupported(block))
      continue;
    json desc = describe(l, "convolution", 4, block);
    desc["channels_last"] = last;
    std::vector<double> want = operands.want(l, blockIn(desc), false, false);
    desc["bias"] = true;
    desc["steps"] = {{{"do", "multiply_channels"}},
                     {{"do", "add"}},
                     {{"do", "relu"}, {"alpha", 0.25}},
                     {{"do", "add_channels"}},
                     {{"do", "linear"}, {"alpha", 2}, {"beta", -1}},
                     {{"do", "clip"}, {"alpha", -9}, {"beta", 11}},
                     {{"do", "relu"}}};
    std::string error;
    auto call = dlc::winograd::Executable::create(desc, 2, error);
    ASSERT_TRUE(call) << error;
    // The result's own buffer is the addend's.
    Numbers result = other;
    void *buffers[] = {operands.x.data(), operands.w.data(), bias.data(),  factor.data(),
                       result.data(),     bias.data(),       result.data()};
    call->run(buffers);
    for (int64_t n = 0; n < l.n; ++n)
      for (int64_t o = 0; o < l.o; ++o)
        for (int64_t y = 0; y < l.outHeight(); ++y)
          for (int64_t x = 0; x < l.outWidth(); ++x) {
            size_t i = at(blockIn(desc), l.o, l.outHeight(), l.outWidth(), n, o, y, x);
            double v = (want[i] + bias[size_t(o)]) * factor[size_t(o)] + other[i];
            v = v < 0 ? v * 0.25 : v;
            v = (v + bias[size_t(o)]) * 2 - 1;
            want[i] = std::max(0.0, std::min(11.0, std::max(-9.0, v)));
          }
    EXPECT_LE(errorOf(result, want), 1e-5);
  }
}

TEST(Winograd, NaN) {
  Layer l{1, 16, 16, 8, 8, 3, 1, 1, 1, 1};
  Operands operands(l);
  operands.x[0] = NAN;
  for (int block : blocks()) {
    json desc = describe(l, "convolution", 4, block);
    desc["steps"] = {{{"do", "relu"}}};
    std::string error;
    auto call = dlc::winograd::Executable::create(desc, 1, error);
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
    EXPECT_FALSE(dlc::winograd::Executable::create(desc, 1, error)) << desc;
    return error;
  };
  json bad = good;
  bad["tile"] = 3;
  EXPECT_THAT(message(bad), testing::HasSubstr("'tile' 2 or 4"));
  bad = good;
  bad["window"] = 7;
  EXPECT_THAT(message(bad), testing::HasSubstr("'window' must be an integer from 3 to 5, found 7"));
  bad = good;
  bad["src"] = {1, 12, 8, 8};
  EXPECT_THAT(message(bad), testing::HasSubstr("whole blocks of 8 channels"));
  bad = good;
  bad["dst"] = {1, int64_t(1) << 39, 1 << 20, 8};
  EXPECT_THAT(message(bad), testing::HasSubstr("'dst' must be 4 integers"));
  bad = good;
  bad["steps"] = {{{"do", "sing"}}};
  EXPECT_THAT(message(bad), testing::HasSubstr("a step must be"));
  bad = good;
  bad["kind"] = "pooling";
  EXPECT_THAT(message(bad), testing::HasSubstr("'kind' must be"));
}

/// `dlc_runtime_tests --gtest_filter=Winograd.Errors` prints what README and Desc.md say.
TEST(Winograd, Errors) {
  std::printf("largest error against f64, in units of the largest result\n%-12s %9s %10s %9s\n",
              "form", "forward", "data", "weights");
  for (int64_t window : {3, 5}) {
    Layer l{1, 64, 64, 14, 14, window, window / 2, window / 2, window / 2, window / 2};
    Operands operands(l);
    int block = blocks().empty() ? 8 : blocks().back();
    auto direct = [&](bool turned, bool gradient) {
      Numbers got(gradient ? operands.w.size() : operands.dy.size());
      convolve(l, block, operands.x,
               [&](size_t y, int64_t o, int64_t c, int64_t ky, int64_t kx, float value) {
                 size_t weight = weightAt(l, turned, o, c, ky, kx);
                 got[gradient ? weight : y] +=
                     value * (gradient ? operands.dy[y] : operands.w[weight]);
               });
      return errorOf(got,
                     reference(l, block, turned, operands.x, operands.w, gradient, operands.dy));
    };
    std::printf("direct %dx%d   %9.1e  %9.1e %9.1e\n", int(window), int(window),
                direct(false, false), direct(true, false), direct(false, true));
    for (int tile : {2, 4}) {
      if (blocks().empty())
        continue;
      json forward = describe(l, "convolution", tile, block), turned = forward;
      turned["turned"] = true;
      double a = run(l, forward, 1, operands), b = run(l, turned, 1, operands),
             c = run(l, describe(l, "convolution_weights", tile, block), 1, operands);
      std::printf("F(%dx%d,%dx%d)  %9.1e  %9.1e %9.1e\n", tile, tile, int(window), int(window), a,
                  b, c);
      EXPECT_LE(std::max(a, b), bound(tile, window));
      EXPECT_LE(c, 2 * bound(tile, window));
    }
  }
}

} // namespace
