//===- BlocksTest.cpp - matmuls with block-quantized weights of few bits ---------===//
#include "ProductsSample.h"

#include "runtime/library/blocks/Describe.h"
#include "runtime/library/blocks/OnTiles.h"

#include <cmath>
#include <limits>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Size {
  int64_t m, n, k, depth;
};
enum class Zeros { None, Shared, Each };

/// Random block-quantized weights of a size, with access to their f64 values.
struct Weights {
  Weights(Size s, int64_t bits, Zeros kind)
      : depth(s.depth), count((s.k + s.depth - 1) / s.depth), numbers(size_t(s.n * count * depth)),
        scales(random(s.n * count, 3)), zeros(scales.size()) {
    std::mt19937 generator(4);
    int low = bits == 4 ? -8 : -128, zero = low + int(generator() % (-2 * low));
    auto draw = [&] { return low + int(generator() % unsigned(-2 * low)); };
    for (int8_t &number : numbers)
      number = static_cast<int8_t>(draw());
    numbers[0] = static_cast<int8_t>(low);
    for (float &one : zeros)
      one = static_cast<float>(kind == Zeros::Each ? draw() : zero);
    plain = {.n = s.n,
             .blocks = count,
             .depth = depth,
             .bits = bits,
             .numbers = numbers.data(),
             .scales = scales.data(),
             .zeros = kind == Zeros::None ? nullptr : zeros.data()};
  }
  /// Sets all weights to the maximum distance from their zero points.
  void makeExtreme(int64_t bits) {
    const auto least = static_cast<int8_t>(-(1 << (bits - 1)));
    std::fill(numbers.begin(), numbers.end(), least);
    std::fill(zeros.begin(), zeros.end(), static_cast<float>(-least - 1));
  }
  double at(int64_t n, int64_t k) const {
    auto block = size_t(n * count + k / depth);
    double zero = plain.zeros ? double(zeros[block]) : 0;
    return (double(numbers[size_t(n * count * depth + k)]) - zero) * double(scales[block]);
  }
  int64_t depth, count;
  std::vector<int8_t> numbers;
  std::vector<float> scales, zeros;
  blocks::BlockQuantizedWeights plain;
};

struct How {
  int64_t bits = 4, digits = 3;
  Zeros zeros = Zeros::None;
  int threads = 1;
  bool isAcross = false; ///< x is column-major
  bool isExtreme = false;
};

/// Value of `lanes` that selects tiles. Then `digits` is the number of bf16 parts.
constexpr int64_t kTiles = 32;

schema::BlocksKernel kernelOf(const Weights &w, const How &how, int64_t lanes) {
  auto kernel = blocks::buildParameters(w.plain, std::min(lanes, blocks::kPanel), how.digits);
  if (lanes == kTiles)
    kernel.parts = how.digits;
  return kernel;
}

json descriptionOf(Size s, const Weights &w, const How &how, int64_t lanes) {
  json desc = kernelOf(w, how, lanes).toJson();
  desc.update({{"kind", "product"},
               {"m", s.m},
               {"n", s.n},
               {"k", s.k},
               {"a", how.isAcross ? json{1, s.m} : json{s.k, 1}},
               {"b", "packed"},
               {"dst", {s.n, 1}},
               {"bias", true},
               {"post_ops", {{{"kind", "eltwise"}, {"alg", "relu"}}}}});
  return desc;
}

/// Returns the largest error of relu(x·w + bias) against f64, relative to the sum of the products
/// of the weights' magnitudes and the largest |x| of each block.
double errorOf(Size s, How how, int64_t lanes, std::vector<float> x = {}) {
  Weights w(s, how.bits, how.zeros);
  if (how.isExtreme)
    w.makeExtreme(how.bits);
  if (x.empty())
    x = random(s.m * s.k, 1);
  std::vector<float> bias = random(s.n, 2), y(size_t(s.m * s.n), NAN), unused;
  json desc = descriptionOf(s, w, how, lanes);
  const schema::BlocksKernel kernel = kernelOf(w, how, lanes);
  Aligned packed(blocks::packedBytes(w.plain, kernel));
  blocks::packWeights(w.plain, kernel, packed.data.get());
  EXPECT_FALSE(packed.isOverrun());
  run(desc, {&x, &unused, &bias, &y}, 3, how.threads, packed.data.get(), packed.bytes);
  double worst = 0;
  auto at = [&](int64_t i, int64_t k) {
    return double(x[size_t(how.isAcross ? k * s.m + i : i * s.k + k)]);
  };
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = double(bias[size_t(j)]), size = std::abs(sum);
      for (int64_t from = 0; from < s.k; from += s.depth) {
        double most = 0, weights = 0;
        for (int64_t k = from; k < std::min(s.k, from + s.depth); ++k) {
          most = std::max(most, std::abs(at(i, k)));
          weights += std::abs(w.at(j, k));
          sum += at(i, k) * w.at(j, k);
        }
        size += most * weights;
      }
      double error = std::abs(double(y[size_t(i * s.n + j)]) - std::max(sum, 0.0)) / size;
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  return worst;
}

std::vector<int64_t> lanesHere(int64_t depth = kTiles) {
  std::vector<int64_t> all;
  for (int64_t lanes : {8, 16})
    if (blocks::getKernelLanes() >= lanes)
      all.push_back(lanes);
  if (blocks::supportsTiles(depth))
    all.push_back(kTiles);
  return all;
}

/// Error bound. With three digits, x has an error of at most 2^-24 of the largest element, to which
/// the rounding of f32 sums is added; with two digits 2^-16, with one digit 1/254. Kernels with
/// bf16 parts are at least as accurate.
double bound(int64_t digits) { return digits == 1 ? 1.0 / 250 : digits == 2 ? 0x1p-16 : 0x1p-21; }

} // namespace

TEST(Blocks, EveryNumberOfRows) {
  for (int64_t bits : {4, 8})
    for (int64_t lanes : lanesHere())
      for (int64_t digits : {1, 2, 3})
        for (int64_t m = 1; m <= 17; ++m)
          EXPECT_LT(errorOf({m, 83, 96, 32}, {bits, digits, Zeros::Each}, lanes), bound(digits))
              << m << " rows of " << bits << " bits in " << lanes << " lanes";
}

TEST(Blocks, OddSizes) {
  for (int64_t bits : {4, 8})
    for (int64_t depth : {16, 32, 48, 128})
      for (int64_t lanes : lanesHere(depth))
        for (Zeros zeros : {Zeros::None, Zeros::Shared, Zeros::Each})
          for (int64_t n : {1, 7, 16, 40, 130})
            for (int64_t k : {1, 16, 100, 300})
              EXPECT_LT(errorOf({3, n, k, depth}, {bits, 3, zeros, 2}, lanes), bound(3))
                  << n << " columns, " << k << " deep, in blocks of " << depth;
}

TEST(Blocks, AcrossAndInThreads) {
  for (int64_t lanes : lanesHere()) {
    EXPECT_LT(errorOf({5, 70, 130, 32}, {.isAcross = true}, lanes), bound(3));
    EXPECT_LT(errorOf({40, 70, 1030, 32}, {.threads = 3, .isAcross = true}, lanes), bound(3));
  }
}

/// More rows than one pass over the weights processes.
TEST(Blocks, ManyRowsOnTiles) {
  if (!blocks::supportsTiles(kTiles))
    GTEST_SKIP() << "no tiles here";
  const int64_t k = 2080, rows = blocks::countRowsOnTiles(k, 3);
  for (int64_t m : {rows - 1, rows + 1, 2 * rows + 40})
    for (bool isAcross : {false, true})
      EXPECT_LT(errorOf({m, 50, k, 32}, {.threads = 2, .isAcross = isAcross}, kTiles), bound(3))
          << m << " rows";
}

TEST(Blocks, LargeAndSmallNumbers) {
  for (int64_t lanes : lanesHere())
    for (float size : {0x1p-90f, 1.0f, 0x1p100f}) {
      std::vector<float> x = random(2 * 64, 5);
      for (float &one : x)
        one *= size;
      x[3] = 0;
      EXPECT_LT(errorOf({2, 33, 64, 32}, {}, lanes, x), bound(3)) << size;
      std::fill(x.begin(), x.end(), 0.0f);
      EXPECT_LT(errorOf({2, 33, 64, 32}, {}, lanes, x), bound(3));
    }
}

/// Sums of two digits are combined in one integer while it fits into 32 bits.
TEST(Blocks, LargestSums) {
  for (int64_t depth : {32, 240, 256, 512, 4096, 8192})
    for (int64_t lanes : lanesHere(depth))
      for (int64_t bits : {4, 8})
        for (int64_t digits : {1, 2, 3})
          for (float last : {1.0f, -1.0f, 0.00388f}) {
            std::vector<float> x(size_t(2 * depth), last);
            x[0] = x[size_t(depth)] = 1;
            EXPECT_LT(
                errorOf({2, 20, depth, depth},
                        {.bits = bits, .digits = digits, .zeros = Zeros::Each, .isExtreme = true},
                        lanes, x),
                bound(digits))
                << bits << " bits, blocks of " << depth << ", " << digits << " digits of " << last;
          }
}

TEST(Blocks, WhatIsNotFiniteStays) {
  Size s{2, 20, 64, 32};
  Weights w(s, 4, Zeros::None);
  for (int64_t lanes : lanesHere())
    for (float bad : {std::numeric_limits<float>::infinity(), NAN}) {
      std::vector<float> x = random(s.m * s.k, 1), bias(size_t(s.n)), y(size_t(s.m * s.n)), unused;
      x[70] = bad;
      json desc = descriptionOf(s, w, {}, lanes);
      desc.erase("post_ops");
      const schema::BlocksKernel kernel = kernelOf(w, {}, lanes);
      Aligned packed(blocks::packedBytes(w.plain, kernel));
      blocks::packWeights(w.plain, kernel, packed.data.get());
      run(desc, {&x, &unused, &bias, &y}, 3, 1, packed.data.get(), packed.bytes);
      for (int64_t j = 0; j < s.n; ++j) {
        EXPECT_TRUE(std::isfinite(y[size_t(j)]));
        EXPECT_FALSE(std::isfinite(y[size_t(s.n + j)]));
      }
    }
}

TEST(Blocks, WrongDescriptionsAreRefused) {
  Size s{2, 20, 64, 32};
  Weights w(s, 4, Zeros::None);
  for (int64_t lanes : lanesHere()) {
    std::vector<runtime::BufferInfo> buffers{
        {2 * 64 * 4, false}, {0, false}, {20 * 4, false}, {2 * 20 * 4, true}};
    auto complaint = [&](const char *name, const json &value) {
      json desc = descriptionOf(s, w, {}, lanes);
      buffers[1].bytes = blocks::packedBytes(w.plain, kernelOf(w, {}, lanes));
      desc[name] = value;
      std::string error;
      Runnable::create("blocks", desc, buffers, 1, error);
      return error;
    };
    EXPECT_EQ(complaint("digits", 3), "");
    if (lanes == kTiles) {
      EXPECT_NE(complaint("parts", 4), "");
      EXPECT_NE(complaint("block", 16), "");
    }
    EXPECT_NE(complaint("digits", 4), "");
    EXPECT_NE(complaint("block", 24), "");
    EXPECT_NE(complaint("bits", 3), "");
    EXPECT_NE(complaint("lanes", 12), "");
    EXPECT_NE(complaint("k", 256), "");
    EXPECT_NE(complaint("b", json{20, 1}), "");
    EXPECT_NE(complaint("zeros", true), "");
  }
}
