//===- QuantizedTest.cpp - matmuls by weights in block formats --------------===//
#include "dlc/Error.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/library/quantized/Product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace dlc;
using namespace dlc::quantized;
using runtime::BlockFormat;

namespace {

/// Byte offsets of the f16 values in a block.
std::vector<int> getHalfOffsets(BlockFormat format) {
  switch (format) {
  case BlockFormat::Q4_1:
  case BlockFormat::Q5_1:
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K:
    return {0, 2};
  case BlockFormat::Q2_K:
    return {80, 82};
  case BlockFormat::Q3_K:
    return {108};
  case BlockFormat::Q6_K:
    return {208};
  case BlockFormat::MXFP4:
    return {};
  default:
    return {0};
  }
}

/// Weights with random bytes and their dequantized values. Factors are finite, and some are
/// subnormal.
struct Sample {
  Weights weights;
  std::vector<uint8_t> blocks;
  std::vector<float> values;
  std::vector<uint8_t> packed;

  Sample(BlockFormat format, int64_t rows, int64_t depth, int64_t lanes, unsigned seed)
      : weights{format, rows, depth, lanes} {
    std::mt19937 random(seed);
    const auto &info = runtime::blockFormatInfo(format);
    const int64_t count = rows * depth / info.elements;
    blocks.resize(size_t(count * info.bytes));
    for (uint8_t &byte : blocks)
      byte = uint8_t(random());
    for (int64_t b = 0; b < count; ++b) {
      uint8_t *block = blocks.data() + b * info.bytes;
      for (int at : getHalfOffsets(format))
        block[at + 1] = uint8_t((random() & 0x80) | random() % 0x3c);
      if (format == BlockFormat::MXFP4)
        block[0] = uint8_t(b % 7 ? 110 + random() % 20 : random() % 4);
    }
    values.resize(size_t(rows * depth));
    runtime::dequantize(format, blocks.data(), uint64_t(count), values.data());
    packed.resize(size_t(getPackedBytes(weights)));
    pack(weights, blocks.data(), packed.data(), 2);
  }

  /// Returns y[column][row].
  std::vector<float> multiply(const std::vector<float> &x, int64_t columns, Activations activations,
                              int threads = 1) const {
    std::vector<float> y(size_t(columns * weights.rows), -1.0f);
    std::vector<uint8_t> scratch(size_t(getScratchBytes(weights, columns, activations)) + 64);
    auto at = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    quantized::multiply(weights, packed.data(), {x.data(), columns, weights.depth}, y.data(),
                        weights.rows, activations, reinterpret_cast<void *>(at), threads);
    return y;
  }
};

std::vector<float> makeColumns(int64_t columns, int64_t depth, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(size_t(columns * depth));
  for (float &each : x)
    each = normal(random);
  return x;
}

/// Quantizes each 32 elements to int8 and returns their f64 values.
std::vector<double> roundColumns(const std::vector<float> &x) {
  std::vector<double> rounded(x.size());
  for (size_t g = 0; g < x.size(); g += 32) {
    float most = 0;
    for (size_t i = g; i < g + 32; ++i)
      most = std::max(most, std::abs(x[i]));
    for (size_t i = g; i < g + 32 && most > 0; ++i)
      rounded[i] = double(std::nearbyint(x[i] * (127 / most))) * double(most / 127);
  }
  return rounded;
}

class Quantized : public testing::TestWithParam<BlockFormat> {
protected:
  int64_t block() const { return runtime::blockFormatInfo(GetParam()).elements; }
  /// Lane counts of the kernels of this processor.
  static std::vector<int64_t> lanes() {
    return getKernelLanes() == 16 ? std::vector<int64_t>{8, 16} : std::vector<int64_t>{8};
  }
};

TEST_P(Quantized, PackedWeightsAreAtMostThreePercentLarger) {
  for (int64_t each : lanes()) {
    const Weights weights = {GetParam(), 96, 3 * block(), each};
    const auto &info = runtime::blockFormatInfo(GetParam());
    const int64_t plain = 96 * 3 * info.bytes;
    EXPECT_GE(getPackedBytes(weights), plain);
    EXPECT_LE(double(getPackedBytes(weights)), 1.03 * double(plain));
  }
}

TEST_P(Quantized, StrictWeightsHaveTheBitsOfTheReference) {
  for (int64_t each : lanes()) {
    const int64_t rows = 21, depth = 2 * block();
    const Sample sample(GetParam(), rows, depth, each, 7);
    // Column k selects element k of each row.
    std::vector<float> x(size_t(depth * depth));
    for (int64_t k = 0; k < depth; ++k)
      x[size_t(k * depth + k)] = 1;
    const std::vector<float> y = sample.multiply(x, depth, Activations::F32);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t k = 0; k < depth; ++k)
        ASSERT_EQ(y[size_t(k * rows + row)], sample.values[size_t(row * depth + k)])
            << "lanes " << each << " row " << row << " element " << k;
  }
}

TEST_P(Quantized, ProductsEqualSumsInF64) {
  for (int64_t each : lanes())
    for (int64_t columns : {1, 3, 7, 37}) {
      const int64_t rows = 19 + columns, depth = 3 * block();
      const Sample sample(GetParam(), rows, depth, each, unsigned(columns));
      const std::vector<float> x = makeColumns(columns, depth, 5);
      const std::vector<double> rounded = roundColumns(x);
      for (Activations kind : {Activations::Int8, Activations::F32}) {
        const std::vector<float> y = sample.multiply(x, columns, kind, 2);
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t row = 0; row < rows; ++row) {
            double sum = 0, magnitude = 0;
            for (int64_t k = 0; k < depth; ++k) {
              const auto at = size_t(c * depth + k);
              const double value = kind == Activations::Int8 ? rounded[at] : double(x[at]);
              const double term = value * double(sample.values[size_t(row * depth + k)]);
              sum += term;
              magnitude += std::abs(term);
            }
            // Codes of formats with minimums cancel, as the sums of codes and of minimums are
            // separate.
            ASSERT_NEAR(y[size_t(c * rows + row)], sum, 2e-5 * magnitude + 1e-30)
                << "lanes " << each << " column " << c << " row " << row;
          }
      }
    }
}

TEST_P(Quantized, ResultsDependNeitherOnThreadsNorOnOtherColumns) {
  const int64_t rows = 133, depth = 4 * block(), columns = 23;
  const std::vector<float> x = makeColumns(columns, depth, 3);
  for (int64_t each : lanes()) {
    const Sample sample(GetParam(), rows, depth, each, 11);
    for (Activations kind : {Activations::Int8, Activations::F32}) {
      const std::vector<float> y = sample.multiply(x, columns, kind);
      for (int threads : {2, 3, 5})
        EXPECT_EQ(y, sample.multiply(x, columns, kind, threads));
      for (int64_t c = 0; c < columns; ++c) {
        const std::vector<float> column(x.begin() + c * depth, x.begin() + (c + 1) * depth);
        const std::vector<float> expected(y.begin() + c * rows, y.begin() + (c + 1) * rows);
        EXPECT_EQ(sample.multiply(column, 1, kind), expected) << "column " << c;
      }
    }
  }
}

TEST_P(Quantized, ActivationsThatAreNotFiniteGiveNaNOrInfinity) {
  const int64_t rows = 16, depth = block();
  const Sample sample(GetParam(), rows, depth, getKernelLanes(), 2);
  for (float bad : {std::nanf(""), INFINITY, -INFINITY})
    for (int64_t at : {int64_t(0), int64_t(17), depth - 1}) {
      std::vector<float> x = makeColumns(1, depth, 1);
      x[size_t(at)] = bad;
      for (float each : sample.multiply(x, 1, Activations::Int8))
        EXPECT_FALSE(std::isfinite(each)) << "element " << at << " is " << bad;
    }
}

TEST_P(Quantized, ZerosAndTinyActivationsGiveZeros) {
  const Sample sample(GetParam(), 16, block(), getKernelLanes(), 2);
  for (float value : {0.0f, -0.0f, 1e-42f}) {
    const std::vector<float> x(size_t(block()), value);
    EXPECT_THAT(sample.multiply(x, 1, Activations::Int8), testing::Each(0.0f));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Quantized,
                         testing::Values(BlockFormat::Q4_0, BlockFormat::Q4_1, BlockFormat::Q5_0,
                                         BlockFormat::Q5_1, BlockFormat::Q8_0, BlockFormat::Q2_K,
                                         BlockFormat::Q3_K, BlockFormat::Q4_K, BlockFormat::Q5_K,
                                         BlockFormat::Q6_K, BlockFormat::IQ4_NL,
                                         BlockFormat::IQ4_XS, BlockFormat::MXFP4),
                         [](const auto &info) {
                           return std::string(runtime::blockFormatInfo(info.param).name);
                         });

/// Expects that getPackedBytes() throws an error that contains all of `parts`.
void expectError(const Weights &weights, const std::vector<std::string> &parts) {
  try {
    getPackedBytes(weights);
    FAIL() << "no error";
  } catch (const Error &error) {
    for (const std::string &part : parts)
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

TEST(QuantizedErrors, NameTheRequiredSizes) {
  expectError({BlockFormat::Q4_K, 16, 896, 8}, {"Q4_K", "multiple of 256", "rows of 896"});
  expectError({BlockFormat::Q8_0, 0, 32, 8}, {"Q8_0", "0 rows"});
  expectError({BlockFormat::F16, 16, 32, 8}, {"Q4_0 to MXFP4", "F16"});
  expectError({BlockFormat::Q8_0, 16, 32, 4}, {"another processor", "found: 4"});
}

TEST(QuantizedErrors, ScratchMemoryRequiresSupportedWeights) {
  for (Activations kind : {Activations::Int8, Activations::F32}) {
    EXPECT_THROW(getScratchBytes({BlockFormat::Q8_0, 16, 0, 8}, 1, kind), Error);
    EXPECT_THROW(getScratchBytes({BlockFormat::Q4_K, 16, 896, 8}, 1, kind), Error);
  }
}

} // namespace
