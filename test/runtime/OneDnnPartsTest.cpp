//===- OneDnnPartsTest.cpp - products of f32 in bf16 parts ----------------------===//
#include "OneDnnHelp.h"

#include "runtime/library/onednn/Parts.h"

#include <limits>

using namespace dlc;
using namespace dlc::test;
using onednn::Parts;

namespace {

/// Numbers of all 24 bits.
std::vector<float> fine(int64_t count, int seed) {
  std::vector<float> values = pattern(count, seed), small = pattern(count, seed + 1),
                     smaller = pattern(count, seed + 2);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] += small[i] * 0x1p-8f + smaller[i] * 0x1p-16f;
  return values;
}

float widened(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

json inParts(std::vector<int64_t> dims, size_t axis, const std::string &order,
             std::vector<int64_t> strides, std::vector<int64_t> inner) {
  dims[axis] *= static_cast<int64_t>(order.size());
  return {{"dims", dims},
          {"dtype", "bf16"},
          {"strides", inner},
          {"parts", {{"axis", axis}, {"order", order}, {"strides", strides}}}};
}

/// The largest error of x·w with these orders, against f64, relative to the sum of |x||w|.
double errorOf(int64_t m, int64_t k, int64_t n, const std::string &lhs, const std::string &rhs,
               bool crossed, bool packed) {
  auto parts = static_cast<int64_t>(lhs.size());
  std::vector<float> x = fine(m * k, 1), w = fine(k * n, 2), y(static_cast<size_t>(m * n));
  json desc = {{"kind", "matmul"}, {"dst", layout({m, n}, "ab")}};
  // Crossed: x lies column by column, w too.
  desc["src"] = crossed ? inParts({m, k}, 1, lhs, {1, m}, {1, m})
                        : inParts({m, k}, 1, lhs, {k, 1}, {k * parts, 1});
  if (packed)
    desc["weights"] = layout({k * parts, n}, "any", "bf16");
  else
    desc["weights"] = crossed ? inParts({k, n}, 0, rhs, {1, k}, {1, k * parts})
                              : inParts({k, n}, 0, rhs, {n, 1}, {n, 1});
  onednn::Described described = onednn::describe(desc, 2);
  EXPECT_TRUE(described.ok) << described.error;
  onednn::Packed weights;
  if (packed) {
    weights = onednn::packWeights(described.desc, "weights", w.data(), crossed ? "ba" : "ab", "", 2,
                                  {{"axis", 0u}, {"order", rhs}});
    EXPECT_TRUE(weights.ok) << weights.error;
  }
  std::string error;
  auto executable = onednn::Executable::create(described.desc, 2, error);
  EXPECT_NE(executable, nullptr) << error;
  if (!executable)
    return 1;
  EXPECT_EQ(described.arguments[0].bytes, static_cast<uint64_t>(m * k) * 4);
  std::vector<void *> buffers = {x.data(), packed ? weights.data.get() : w.data(), y.data()};
  EXPECT_TRUE(executable->run(buffers));
  double worst = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int64_t l = 0; l < k; ++l) {
        double product =
            static_cast<double>(x[static_cast<size_t>(crossed ? l * m + i : i * k + l)]) *
            static_cast<double>(w[static_cast<size_t>(crossed ? j * k + l : l * n + j)]);
        sum += product;
        size += std::fabs(product);
      }
      worst = std::max(
          worst, std::fabs(sum - static_cast<double>(y[static_cast<size_t>(i * n + j)])) / size);
    }
  return worst;
}

/// Older processors have no products of bf16 in oneDNN at all; nothing is split there.
bool hasBf16() {
  json desc = {{"kind", "matmul"},
               {"src", layout({4, 4}, "ab", "bf16")},
               {"weights", layout({4, 4}, "ab", "bf16")},
               {"dst", layout({4, 4}, "ab")}};
  return onednn::describe(desc, 1).ok;
}

class OneDnnPartsProducts : public testing::Test {
protected:
  void SetUp() override {
    if (!hasBf16())
      GTEST_SKIP() << "oneDNN multiplies no bf16 here";
  }
};

TEST_F(OneDnnPartsProducts, ThreeKeepSixteenBits) {
  for (bool crossed : {false, true})
    for (bool packed : {false, true}) {
      SCOPED_TRACE(testing::Message() << "crossed " << crossed << ", packed " << packed);
      double error = errorOf(37, 300, 65, "hhl", "hlh", crossed, packed);
      EXPECT_LT(error, 0x1p-17);
      EXPECT_GT(error, 0x1p-26) << "nothing was left out";
    }
}

TEST_F(OneDnnPartsProducts, SixKeepAll) {
  for (bool crossed : {false, true})
    for (bool packed : {false, true}) {
      SCOPED_TRACE(testing::Message() << "crossed " << crossed << ", packed " << packed);
      EXPECT_LT(errorOf(37, 300, 65, "hhmmhl", "hmhmlh", crossed, packed), 0x1p-21);
    }
}

TEST_F(OneDnnPartsProducts, OneIsRounding) {
  EXPECT_GT(errorOf(16, 64, 16, "h", "h", false, false), 0x1p-14);
}

TEST(OneDnnParts, PartsAddUpToTheNumber) {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  most = std::numeric_limits<float>::max();
  std::vector<float> values = {0,        -0.0f,     1,     -1.0000001f, 3.14159274f,
                               1e-30f,   most,      -most, 65537,       0x1.fffffep-1f,
                               infinity, -infinity, NAN};
  auto count = static_cast<int64_t>(values.size());
  Parts parts{1, "hml", {1, count}, {count, 1}};
  std::vector<uint16_t> split(values.size() * 3);
  parts.split(values.data(), split.data(), {3 * count, 1}, 1);
  for (size_t i = 0; i < values.size(); ++i) {
    float h = widened(split[i]), m = widened(split[values.size() + i]),
          l = widened(split[2 * values.size() + i]);
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(h));
      EXPECT_EQ(m, 0);
    } else {
      EXPECT_EQ(static_cast<double>(h) + static_cast<double>(m) + static_cast<double>(l),
                static_cast<double>(values[i]))
          << i;
    }
  }
}

TEST(OneDnnParts, WrongDescriptionsAreRefused) {
  auto refusal = [](json src) {
    json desc = {{"kind", "matmul"},
                 {"src", std::move(src)},
                 {"weights", layout({12, 4}, "ab", "bf16")},
                 {"dst", layout({4, 4}, "ab")}};
    return onednn::describe(desc, 1).error;
  };
  json good = inParts({4, 4}, 1, "hhl", {4, 1}, {12, 1});
  if (hasBf16()) {
    EXPECT_EQ(refusal(good), "");
  }
  auto with = [&](const char *key, json value) {
    json changed = good;
    changed["parts"][key] = std::move(value);
    return refusal(changed);
  };
  EXPECT_NE(with("axis", 2).find("do not suit dims"), std::string::npos) << with("axis", 2);
  EXPECT_NE(with("order", "hhx").find("do not suit dims"), std::string::npos);
  EXPECT_NE(with("order", "hhmll").find("do not suit dims"), std::string::npos);
  EXPECT_NE(with("strides", {4}).find("parts must be"), std::string::npos);
  EXPECT_NE(with("strides", {4, -1}).find("parts must be"), std::string::npos);
  EXPECT_NE(with("order", 3).find("parts must be"), std::string::npos);
  json wrongType = good;
  wrongType["dtype"] = "f32";
  EXPECT_NE(refusal(wrongType).find("only what is read as bf16"), std::string::npos);
}

} // namespace
