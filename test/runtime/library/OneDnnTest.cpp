//===- OneDnnTest.cpp - descriptions, layouts and results of oneDNN operations ===//
#include "OneDnnHelp.h"

#include "runtime/program/Reader.h"
#include "runtime/program/Writer.h"

using namespace dlc;
using namespace dlc::test;
using onednn::describe;
using onednn::describeAll;

namespace {

struct ConvShape {
  int64_t n, c, h, w, o, k, stride, pad, dilation, groups;
};

int64_t outSize(int64_t in, const ConvShape &s) {
  return (in + 2 * s.pad - ((s.k - 1) * s.dilation + 1)) / s.stride + 1;
}

std::vector<float> naiveConv(const ConvShape &s, const std::vector<float> &x,
                             const std::vector<float> &weights, const std::vector<float> &bias) {
  int64_t oh = outSize(s.h, s), ow = outSize(s.w, s), cg = s.c / s.groups, og = s.o / s.groups;
  std::vector<float> y;
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t o = 0; o < s.o; ++o)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j) {
          double sum = bias.empty() ? 0 : bias[o];
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t p = 0; p < s.k; ++p)
              for (int64_t q = 0; q < s.k; ++q) {
                int64_t r = i * s.stride - s.pad + p * s.dilation;
                int64_t t = j * s.stride - s.pad + q * s.dilation;
                if (r < 0 || t < 0 || r >= s.h || t >= s.w)
                  continue;
                sum += x[((n * s.c + o / og * cg + c) * s.h + r) * s.w + t] *
                       weights[((o * cg + c) * s.k + p) * s.k + q];
              }
          y.push_back(static_cast<float>(sum));
        }
  return y;
}

json convDesc(const ConvShape &s, const std::string &tag = "any",
              const std::string &dtype = "f32") {
  std::vector<int64_t> weights = {s.o, s.c / s.groups, s.k, s.k};
  if (s.groups > 1)
    weights = {s.groups, s.o / s.groups, s.c / s.groups, s.k, s.k};
  return {{"kind", "convolution"},
          {"src", layout({s.n, s.c, s.h, s.w}, tag, dtype)},
          {"weights", layout(weights, "any", dtype)},
          {"bias", layout({s.o}, "a")},
          {"dst", layout({s.n, s.o, outSize(s.h, s), outSize(s.w, s)}, tag, dtype)},
          {"strides", {s.stride, s.stride}},
          {"dilations", {s.dilation - 1, s.dilation - 1}},
          {"pads_l", {s.pad, s.pad}},
          {"pads_r", {s.pad, s.pad}}};
}

const ConvShape kConvs[] = {
    {1, 3, 23, 23, 32, 7, 2, 3, 1, 1},   {1, 64, 14, 14, 64, 3, 1, 1, 1, 1},
    {2, 64, 7, 7, 128, 1, 1, 0, 1, 1},   {1, 128, 14, 14, 32, 1, 2, 0, 1, 1},
    {1, 32, 15, 15, 32, 3, 1, 1, 1, 32}, {1, 48, 9, 9, 48, 3, 2, 1, 1, 48},
    {1, 64, 9, 9, 64, 3, 1, 1, 1, 4},    {2, 13, 9, 9, 21, 3, 1, 1, 1, 1},
    {1, 16, 12, 12, 16, 3, 1, 2, 2, 1},  {1, 1, 8, 8, 5, 3, 1, 1, 1, 1},
    {1, 20, 5, 5, 20, 5, 1, 2, 1, 20},   {1, 3, 32, 32, 64, 4, 4, 0, 1, 1}};

/// Checks that describing each argument's layout tag again returns the same layout: same size, same
/// tag.
void expectRoundTrip(const OperationDescription &described) {
  for (const onednn::Argument &argument : described.arguments) {
    if (argument.tag == "strided" || argument.tag.rfind("opaque:", 0) == 0)
      continue;
    json again = {{"dims", argument.dims}, {"dtype", argument.dtype}, {"tag", argument.tag}};
    auto bytes = onednn::layoutBytes(again);
    ASSERT_TRUE(bytes) << argument.name << " " << argument.tag;
    EXPECT_EQ(*bytes, argument.bytes) << argument.name << " " << argument.tag;
  }
  OperationDescription second = describe(described.desc, 2);
  ASSERT_TRUE(second.ok) << second.error;
  EXPECT_EQ(second.implementation, described.implementation);
  EXPECT_EQ(second.desc, described.desc);
}

} // namespace

TEST(OneDnn, ConvolutionsAgainstLoops) {
  for (const ConvShape &s : kConvs)
    for (const char *tag : {"any", "abcd", "acdb"}) {
      SCOPED_TRACE(convDesc(s, tag).dump());
      auto x = pattern(s.n * s.c * s.h * s.w, 1);
      auto weights = pattern(s.o * s.c / s.groups * s.k * s.k, 2), bias = pattern(s.o, 3);
      Ran ran = runDesc(convDesc(s, tag), {{"src", x}, {"weights", weights}, {"bias", bias}});
      expectClose(ran.outputs["dst"], naiveConv(s, x, weights, bias), 1e-5);
      expectRoundTrip(ran.described);
    }
}

/// A convolution over a sequence of 40 elements, whose other spatial dimension is the last one
/// (`isLast`) or the first one.
static json sequenceDesc(bool isLast, int64_t groups, const std::string &tag) {
  auto spatial = [&](int64_t length, int64_t other) {
    return isLast ? std::vector<int64_t>{length, other} : std::vector<int64_t>{other, length};
  };
  auto dims = [&](std::vector<int64_t> first, int64_t length) {
    for (int64_t size : spatial(length, 1))
      first.push_back(size);
    return first;
  };
  std::vector<int64_t> weights = groups == 1
                                     ? std::vector<int64_t>{32, 16}
                                     : std::vector<int64_t>{groups, 32 / groups, 16 / groups};
  json factors = layout({1, 32, 1, 1}, "abcd");
  factors.update({{"kind", "binary"}, {"alg", "mul"}});
  return {{"kind", "convolution"},
          {"src", layout(dims({2, 16}, 40), tag)},
          {"weights", layout(dims(weights, 5))},
          {"dst", layout(dims({2, 32}, 19), tag)},
          {"strides", spatial(2, 1)},
          {"dilations", spatial(0, 0)},
          {"pads_l", spatial(1, 0)},
          {"pads_r", spatial(0, 0)},
          {"post_ops", json::array({factors})}};
}

TEST(OneDnn, TrailingUnitDimensionsOfConvolutions) {
  for (int64_t groups : {1, 16})
    for (const char *tag : {"any", "abcd", "acdb"}) {
      SCOPED_TRACE(std::string(tag) + " " + std::to_string(groups));
      auto x = pattern(2 * 16 * 40, 1), weights = pattern(32 * 16 / groups * 5, 2),
           factors = pattern(32, 3);
      auto run = [&](bool isLast) {
        return runDesc(sequenceDesc(isLast, groups, tag),
                       {{"src", x}, {"weights", weights}, {"post0", factors}});
      };
      Ran last = run(true), first = run(false);
      EXPECT_EQ(last.described.implementation, first.described.implementation);
      EXPECT_EQ(last.outputs["dst"], first.outputs["dst"]);
      expectRoundTrip(last.described);
    }
}

/// Describing a call again, with the opaque layout that the library chose for the weights, returns
/// the same layouts.
TEST(OneDnn, TrailingUnitDimensionsWithOpaqueLayouts) {
  OperationDescription described = onednn::describe({{"kind", "convolution"},
                                                     {"src", layout({1, 3, 20, 1}, "acdb", "u8")},
                                                     {"weights", layout({5, 3, 5, 1}, "any", "i8")},
                                                     {"dst", layout({1, 5, 16, 1}, "acdb")},
                                                     {"strides", {1, 1}},
                                                     {"dilations", {0, 0}},
                                                     {"pads_l", {0, 0}},
                                                     {"pads_r", {0, 0}}},
                                                    2);
  ASSERT_TRUE(described.ok) << described.error;
  OperationDescription again = onednn::describe(described.desc, 2);
  ASSERT_TRUE(again.ok) << again.error;
  EXPECT_EQ(again.find("weights")->bytes, described.find("weights")->bytes);
  EXPECT_EQ(again.find("weights")->tag, described.find("weights")->tag);
}

TEST(OneDnn, EveryImplementationCanBeAskedFor) {
  int opaque = 0, total = 0;
  for (const ConvShape &s : kConvs)
    for (const char *dtype : {"f32", "bf16"})
      for (const OperationDescription &one : describeAll(convDesc(s, "any", dtype), 2)) {
        SCOPED_TRACE(one.desc.dump());
        ASSERT_TRUE(one.ok);
        expectRoundTrip(one);
        ++total;
        for (const onednn::Argument &argument : one.arguments)
          opaque += argument.tag.rfind("opaque:", 0) == 0;
      }
  EXPECT_GT(total, 24);
  std::cout << total << " implementations, " << opaque << " opaque layouts\n";
}

TEST(OneDnn, EveryImplementationComputesTheSame) {
  const ConvShape &s = kConvs[7]; // channels that need padding
  auto x = pattern(s.n * s.c * s.h * s.w, 1);
  auto weights = pattern(s.o * s.c * s.k * s.k, 2), bias = pattern(s.o, 3);
  auto expected = naiveConv(s, x, weights, bias);
  for (const OperationDescription &one : describeAll(convDesc(s), 2)) {
    SCOPED_TRACE(one.implementation);
    Ran ran = runDesc(one.desc, {{"src", x}, {"weights", weights}, {"bias", bias}});
    EXPECT_EQ(ran.described.implementation, one.implementation);
    expectClose(ran.outputs["dst"], expected, 1e-5);
  }
}

TEST(OneDnn, PaddedBytesAndZeroPadding) {
  json desc = convDesc(kConvs[7], "aBcd16b");
  OperationDescription described = describe(desc, 2);
  ASSERT_TRUE(described.ok) << described.error;
  EXPECT_EQ(described.find("src")->bytes, 2u * 16 * 81 * 4);
  EXPECT_EQ(described.find("dst")->bytes, 2u * 32 * 81 * 4);
  auto x = pattern(2 * 13 * 81, 1);
  onednn::PackedWeights packed = onednn::packWeights(described.desc, "src", x.data());
  ASSERT_TRUE(packed.ok) << packed.error;
  const float *data = static_cast<const float *>(packed.data.get());
  for (int64_t i = 0; i < 81; ++i)
    for (int c = 13; c < 16; ++c)
      EXPECT_EQ(data[i * 16 + c], 0.0f);
}

TEST(OneDnn, PostOps) {
  const ConvShape s = {1, 16, 6, 6, 16, 3, 1, 1, 1, 1};
  auto x = pattern(16 * 36, 1), weights = pattern(16 * 16 * 9, 2), bias = pattern(16, 3);
  auto addend = pattern(16 * 36, 4), scale = pattern(16, 5);
  json desc = convDesc(s, "acdb");
  json add = layout({1, 16, 6, 6}, "acdb"), mul = layout({1, 16, 1, 1}, "abcd");
  add.update({{"kind", "binary"}, {"alg", "add"}});
  mul.update({{"kind", "binary"}, {"alg", "mul"}});
  desc["post_ops"] = {{{"kind", "eltwise"}, {"alg", "relu"}},
                      add,
                      mul,
                      {{"kind", "eltwise"}, {"alg", "clip"}, {"alpha", -3}, {"beta", 3}}};
  Ran ran = runDesc(
      desc,
      {{"src", x}, {"weights", weights}, {"bias", bias}, {"post1", addend}, {"post2", scale}});
  ASSERT_EQ(ran.described.arguments.size(), 6u);
  EXPECT_EQ(ran.described.arguments[3].name, "dst");
  EXPECT_EQ(ran.described.arguments[4].name, "post1");
  auto expected = naiveConv(s, x, weights, bias);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] =
        std::clamp((std::max(expected[i], 0.0f) + addend[i]) * scale[i / 36], -3.0f, 3.0f);
  expectClose(ran.outputs["dst"], expected, 1e-5);
}

TEST(OneDnn, AbsoluteValueOfZeroIsPositive) {
  const ConvShape s = {1, 1, 5, 5, 16, 1, 1, 0, 1, 1};
  const std::vector<float> weights(16, 1.0f), bias(16, 0.0f), zeros(25, 0.0f);
  json desc = convDesc(s, "abcd");
  desc["post_ops"] = {{{"kind", "eltwise"}, {"alg", "abs"}}};
  for (const OperationDescription &one : describeAll(desc, 2)) {
    SCOPED_TRACE(one.implementation);
    Ran ran = runDesc(one.desc, {{"src", zeros}, {"weights", weights}, {"bias", bias}});
    for (float y : ran.outputs["dst"])
      ASSERT_FALSE(std::signbit(y));
  }
  // A post-op after it must find its own operand.
  json add = layout({1, 16, 5, 5}, "abcd");
  add.update({{"kind", "binary"}, {"alg", "add"}});
  desc["post_ops"].push_back(add);
  auto x = pattern(25, 1), addend = pattern(16 * 25, 2), expected = naiveConv(s, x, weights, bias);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::fabs(expected[i]) + addend[i];
  Ran ran = runDesc(desc, {{"src", x}, {"weights", weights}, {"bias", bias}, {"post1", addend}});
  expectClose(ran.outputs["dst"], expected, 1e-5);
}

TEST(OneDnn, EltwisePostOpsOfEveryName) {
  auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  struct Case {
    const char *alg;
    double alpha, beta;
    std::function<double(double)> meaning;
  };
  const Case cases[] = {
      {"relu", 0.1, 0, [](double v) { return v > 0 ? v : 0.1 * v; }},
      {"tanh", 0, 0, [](double v) { return std::tanh(v); }},
      {"logistic", 0, 0, logistic},
      {"gelu_erf", 0, 0, [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }},
      {"gelu_tanh", 0, 0,
       [](double v) {
         return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
       }},
      {"swish", 1, 0, [&](double v) { return v * logistic(v); }},
      {"clip", -0.5, 0.75, [](double v) { return std::clamp(v, -0.5, 0.75); }},
      {"hardswish", 1.0 / 6, 0.5, [](double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); }},
      {"hardsigmoid", 0.2, 0.5, [](double v) { return std::clamp(0.2 * v + 0.5, 0.0, 1.0); }},
      {"elu", 1.5, 0, [](double v) { return v > 0 ? v : 1.5 * std::expm1(v); }},
      {"linear", 2, -1, [](double v) { return 2 * v - 1; }},
      {"abs", 0, 0, [](double v) { return std::fabs(v); }},
      {"mish", 0, 0, [](double v) { return v * std::tanh(std::log1p(std::exp(v))); }}};
  auto x = pattern(4 * 64, 9);
  for (const Case &one : cases) {
    SCOPED_TRACE(one.alg);
    Ran ran = runDesc({{"kind", "eltwise"},
                       {"alg", one.alg},
                       {"alpha", one.alpha},
                       {"beta", one.beta},
                       {"src", layout({4, 64}, "ab")},
                       {"dst", layout({4, 64}, "ab")}},
                      {{"src", x}});
    std::vector<float> expected;
    for (float value : x)
      expected.push_back(static_cast<float>(one.meaning(value)));
    expectClose(ran.outputs["dst"], expected, 2e-3);
  }
}

TEST(OneDnn, SumReadsTheDestination) {
  const int64_t n = 32;
  json desc = {{"kind", "matmul"},
               {"src", layout({n, n}, "ab")},
               {"weights", layout({n, n}, "ab")},
               {"dst", layout({n, n}, "ab")},
               {"post_ops", {{{"kind", "sum"}, {"scale", 2.0}}}}};
  OperationDescription described = describe(desc);
  ASSERT_TRUE(described.ok) << described.error;
  std::string error;
  auto executable = callOf(described, 2, error);
  auto a = pattern(n * n, 1), b = pattern(n * n, 2), c = pattern(n * n, 3), expected = c;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      expected[i * n + j] = 2 * c[i * n + j];
      for (int64_t k = 0; k < n; ++k)
        expected[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  std::vector<void *> buffers = {a.data(), b.data(), c.data()};
  executable->run(buffers.data());
  expectClose(c, expected, 1e-5);
}

TEST(OneDnn, MatmulBatchedTransposedAndPacked) {
  const int64_t batch = 3, m = 5, n = 37, k = 24;
  auto a = pattern(batch * m * k, 1), b = pattern(batch * k * n, 2), bias = pattern(n, 3);
  std::vector<float> expected;
  for (int64_t p = 0; p < batch; ++p)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = bias[j];
        for (int64_t q = 0; q < k; ++q)
          sum += a[(p * m + i) * k + q] * b[(p * k + q) * n + j];
        expected.push_back(static_cast<float>(sum));
      }
  for (const char *srcTag : {"abc", "acb", "bac", "any"})
    for (const char *weightsTag : {"abc", "acb", "any", "cab"}) {
      SCOPED_TRACE(std::string(srcTag) + " x " + weightsTag);
      Ran ran = runDesc({{"kind", "matmul"},
                         {"src", layout({batch, m, k}, srcTag)},
                         {"weights", layout({batch, k, n}, weightsTag)},
                         {"bias", layout({1, 1, n}, "abc")},
                         {"dst", layout({batch, m, n}, "abc")}},
                        {{"src", a}, {"weights", b}, {"bias", bias}});
      expectClose(ran.outputs["dst"], expected, 1e-5);
      expectRoundTrip(ran.described);
    }
}

TEST(OneDnn, MatmulThroughStrides) {
  // The second half of the columns of a wider matrix.
  auto a = pattern(4 * 8, 1), b = pattern(4 * 3, 2);
  json desc = {{"kind", "matmul"},
               {"src", {{"dims", {4, 4}}, {"dtype", "f32"}, {"strides", {8, 1}}}},
               {"weights", layout({4, 3}, "ab")},
               {"dst", layout({4, 3}, "ab")}};
  OperationDescription described = describe(desc);
  ASSERT_TRUE(described.ok) << described.error;
  EXPECT_EQ(described.find("src")->bytes, (3u * 8 + 4) * 4);
  EXPECT_EQ(described.desc["src"]["strides"], json({8, 1}));
  std::string error;
  auto executable = callOf(described, 2, error);
  ASSERT_TRUE(executable) << error;
  std::vector<float> y(12), expected(12);
  std::vector<void *> buffers = {a.data() + 4, b.data(), y.data()};
  executable->run(buffers.data());
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j)
      for (int q = 0; q < 4; ++q)
        expected[i * 3 + j] += a[i * 8 + 4 + q] * b[q * 3 + j];
  expectClose(y, expected, 1e-5);
}

TEST(OneDnn, InnerProductWithPackedWeights) {
  const int64_t m = 16, n = 100, k = 70;
  auto x = pattern(m * k, 1), weights = pattern(n * k, 2);
  std::vector<float> expected;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t q = 0; q < k; ++q)
        sum += x[i * k + q] * weights[j * k + q];
      expected.push_back(static_cast<float>(sum));
    }
  for (const char *dtype : {"f32", "bf16"}) {
    SCOPED_TRACE(dtype);
    json desc = {{"kind", "inner_product"},
                 {"src", layout({m, k}, "ab", dtype)},
                 {"weights", layout({n, k}, "any", dtype)},
                 {"dst", layout({m, n}, "ab", dtype)}};
    if (*dtype == 'b' && !describe(desc).ok)
      continue; // oneDNN has no bf16 inner product for AVX2
    Ran ran = runDesc(desc, {{"src", x}, {"weights", weights}});
    expectClose(ran.outputs["dst"], expected, *dtype == 'f' ? 1e-5 : 1e-2);
    expectRoundTrip(ran.described);
  }
}

TEST(OneDnn, Deconvolution) {
  // Upsampling by two with a 2 x 2 kernel: each output element depends on one input element.
  auto x = pattern(16 * 9, 1), weights = pattern(8 * 16 * 4, 2);
  Ran ran = runDesc({{"kind", "deconvolution"},
                     {"src", layout({1, 16, 3, 3})},
                     {"weights", layout({8, 16, 2, 2})},
                     {"dst", layout({1, 8, 6, 6})},
                     {"strides", {2, 2}}},
                    {{"src", x}, {"weights", weights}});
  std::vector<float> expected;
  for (int64_t o = 0; o < 8; ++o)
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        double sum = 0;
        for (int64_t c = 0; c < 16; ++c)
          sum += x[(c * 3 + i / 2) * 3 + j / 2] * weights[((o * 16 + c) * 2 + i % 2) * 2 + j % 2];
        expected.push_back(static_cast<float>(sum));
      }
  expectClose(ran.outputs["dst"], expected, 1e-5);
  expectRoundTrip(ran.described);
}

TEST(OneDnn, Pooling) {
  auto x = pattern(17 * 25, 1);
  for (const char *alg : {"max", "avg_include", "avg_exclude"})
    for (const char *tag : {"abcd", "acdb", "aBcd16b", "any"}) {
      SCOPED_TRACE(std::string(alg) + " " + tag);
      Ran ran = runDesc({{"kind", "pooling"},
                         {"alg", alg},
                         {"src", layout({1, 17, 5, 5}, std::string(tag) == "any" ? "abcd" : tag)},
                         {"dst", layout({1, 17, 3, 3}, tag)},
                         {"kernel", {3, 3}},
                         {"strides", {2, 2}},
                         {"pads_l", {1, 1}},
                         {"pads_r", {1, 1}}},
                        {{"src", x}});
      std::vector<float> expected;
      for (int64_t c = 0; c < 17; ++c)
        for (int64_t i = 0; i < 3; ++i)
          for (int64_t j = 0; j < 3; ++j) {
            double best = -1e9, sum = 0;
            int count = 0;
            for (int64_t r = 2 * i - 1; r < 2 * i + 2; ++r)
              for (int64_t t = 2 * j - 1; t < 2 * j + 2; ++t)
                if (r >= 0 && t >= 0 && r < 5 && t < 5) {
                  double value = x[(c * 5 + r) * 5 + t];
                  best = std::max(best, value);
                  sum += value;
                  ++count;
                }
            double value =
                *alg == 'm' ? best : sum / (std::string(alg) == "avg_include" ? 9 : count);
            expected.push_back(static_cast<float>(value));
          }
      expectClose(ran.outputs["dst"], expected, 1e-5);
    }
}

TEST(OneDnn, NormalisationsSoftmaxReductionBinary) {
  const int64_t m = 6, n = 40;
  auto x = pattern(m * n, 1), scale = pattern(n, 2), shift = pattern(n, 3);
  std::vector<float> norm, soft, logSoft, sums, sub;
  for (int64_t i = 0; i < m; ++i) {
    double mean = 0, variance = 0, total = 0;
    for (int64_t j = 0; j < n; ++j)
      mean += x[i * n + j] / n, total += std::exp(x[i * n + j]);
    for (int64_t j = 0; j < n; ++j)
      variance += (x[i * n + j] - mean) * (x[i * n + j] - mean) / n;
    sums.push_back(static_cast<float>(mean * n));
    for (int64_t j = 0; j < n; ++j) {
      double v = x[i * n + j];
      norm.push_back(
          static_cast<float>((v - mean) / std::sqrt(variance + 1e-3) * scale[j] + shift[j]));
      soft.push_back(static_cast<float>(std::exp(v) / total));
      logSoft.push_back(static_cast<float>(v - std::log(total)));
      sub.push_back(static_cast<float>(v - scale[j]));
    }
  }
  json two = layout({m, n}, "ab");
  expectClose(runDesc({{"kind", "layer_normalization"},
                       {"src", two},
                       {"dst", two},
                       {"epsilon", 1e-3},
                       {"scale", layout({n}, "a")},
                       {"shift", layout({n}, "a")}},
                      {{"src", x}, {"scale", scale}, {"shift", shift}})
                  .outputs["dst"],
              norm, 1e-5);
  expectClose(runDesc({{"kind", "softmax"}, {"src", two}, {"dst", two}, {"axis", 1}}, {{"src", x}})
                  .outputs["dst"],
              soft, 1e-5);
  expectClose(
      runDesc({{"kind", "softmax"}, {"alg", "log"}, {"src", two}, {"dst", two}, {"axis", 1}},
              {{"src", x}})
          .outputs["dst"],
      logSoft, 1e-5);
  expectClose(
      runDesc({{"kind", "reduction"}, {"alg", "sum"}, {"src", two}, {"dst", layout({m, 1}, "ab")}},
              {{"src", x}})
          .outputs["dst"],
      sums, 1e-5);
  expectClose(runDesc({{"kind", "binary"},
                       {"alg", "sub"},
                       {"src0", two},
                       {"src1", layout({1, n}, "ab")},
                       {"dst", two}},
                      {{"src0", x}, {"src1", scale}})
                  .outputs["dst"],
              sub, 1e-6);
}

TEST(OneDnn, BatchNormalisationResamplingLrn) {
  auto x = pattern(2 * 16 * 9, 1), mean = pattern(16, 2), scale = pattern(16, 3),
       shift = pattern(16, 4);
  std::vector<float> variance(16, 0.75f), expected, upsampled, lrn;
  for (size_t i = 0; i < x.size(); ++i) {
    size_t c = i / 9 % 16;
    float v = (x[i] - mean[c]) / std::sqrt(0.75f + 1e-3f) * scale[c] + shift[c];
    expected.push_back(std::max(v, 0.0f));
    double squares = 0;
    for (size_t other = c < 2 ? 0 : c - 2; other <= std::min<size_t>(15, c + 2); ++other)
      squares += std::pow(x[i - c * 9 + other * 9], 2);
    lrn.push_back(static_cast<float>(x[i] / std::pow(1 + 0.1 * squares / 5, 0.75)));
  }
  json four = layout({2, 16, 3, 3}, "abcd"), channel = layout({16}, "a");
  expectClose(
      runDesc(
          {{"kind", "batch_normalization"},
           {"src", four},
           {"dst", four},
           {"mean", channel},
           {"variance", channel},
           {"scale", channel},
           {"shift", channel},
           {"epsilon", 1e-3},
           {"relu", true}},
          {{"src", x}, {"mean", mean}, {"variance", variance}, {"scale", scale}, {"shift", shift}})
          .outputs["dst"],
      expected, 1e-5);
  expectClose(runDesc({{"kind", "lrn"},
                       {"src", four},
                       {"dst", four},
                       {"local_size", 5},
                       {"alpha", 0.1},
                       {"beta", 0.75},
                       {"k", 1}},
                      {{"src", x}})
                  .outputs["dst"],
              lrn, 1e-4);
  Ran ran = runDesc({{"kind", "resampling"},
                     {"alg", "nearest"},
                     {"src", four},
                     {"dst", layout({2, 16, 6, 6}, "abcd")}},
                    {{"src", x}});
  for (int64_t p = 0; p < 32; ++p)
    for (int64_t i = 0; i < 36; ++i)
      upsampled.push_back(x[p * 9 + i / 12 * 3 + i % 6 / 2]);
  expectClose(ran.outputs["dst"], upsampled, 0);
}

TEST(OneDnn, PlainPermutationsOfAnyOrder) {
  auto x = pattern(2 * 3 * 4 * 5, 1);
  std::string order = "abcd";
  do {
    std::vector<float> permuted(120), back(120);
    ASSERT_EQ(onednn::reorder(layout({2, 3, 4, 5}, "abcd"), x.data(), layout({2, 3, 4, 5}, order),
                              permuted.data()),
              "");
    ASSERT_EQ(onednn::reorder(layout({2, 3, 4, 5}, order), permuted.data(),
                              layout({2, 3, 4, 5}, "abcd"), back.data()),
              "");
    EXPECT_EQ(back, x) << order;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(OneDnn, WrongDescriptions) {
  const json good = convDesc(kConvs[1]);
  auto errorOfChange = [&](const char *pointer, const json &value) {
    json desc = good;
    desc[json::json_pointer(pointer)] = value;
    return describe(desc).error;
  };
  EXPECT_NE(describe(json(5)).error, "");
  EXPECT_NE(describe({{"kind", "frobnicate"}}).error.find("'kind' must be"), std::string::npos);
  EXPECT_NE(errorOfChange("/src", nullptr).find("needs 'src'"), std::string::npos);
  EXPECT_NE(errorOfChange("/src/dims", {1, 64}), "");
  EXPECT_NE(errorOfChange("/src/dims", {1, 63, 14, 14}), "");
  EXPECT_NE(errorOfChange("/src/dims", {1, -64, 14, 14}), "");
  EXPECT_NE(errorOfChange("/src/dims", {1 << 30, 1 << 30, 14, 14}).find("too large"),
            std::string::npos);
  EXPECT_NE(errorOfChange("/src/dtype", "u64").find("u64"), std::string::npos);
  EXPECT_NE(errorOfChange("/src/tag", "xyz").find("no layout 'xyz'"), std::string::npos);
  EXPECT_NE(errorOfChange("/src/tag", "abc").find("no layout"), std::string::npos);
  EXPECT_NE(errorOfChange("/strides", {1}).find("'strides' must be 2 integers"), std::string::npos);
  EXPECT_NE(errorOfChange("/strides", {0, 0}), "");
  EXPECT_NE(errorOfChange("/post_ops", {{{"kind", "magic"}}})
                .find("'kind' must be eltwise, sum or binary"),
            std::string::npos);
  auto errorOfOp = [&](const json &op) { return errorOfChange("/post_ops", json::array({op})); };
  EXPECT_NE(errorOfOp({{"kind", "eltwise"}}).find("needs 'alg'"), std::string::npos);
  EXPECT_NE(errorOfOp({{"kind", "eltwise"}, {"alg", "add"}}).find("not an eltwise algorithm"),
            std::string::npos);
  EXPECT_NE(errorOfOp({{"kind", "eltwise"}, {"alg", "softsign"}}).find("'alg' must be relu, clip"),
            std::string::npos);
  EXPECT_NE(errorOfOp({{"kind", "binary"}, {"alg", "add"}}).find("0 dimensions"),
            std::string::npos);
  EXPECT_NE(errorOfChange("/math", "sloppy").find("'math' must be strict"), std::string::npos);
  EXPECT_NE(errorOfChange("/weights/tag", "opaque:12").find("packed into 12 bytes"),
            std::string::npos);
  EXPECT_TRUE(describeAll(json::array()).empty());
  EXPECT_FALSE(onednn::packWeights(good, "nothing", nullptr).ok);
  EXPECT_FALSE(onednn::layoutBytes(layout({2, 3}, "any")));
}

/// Blocked layouts are chosen for a thread count. Operations compiled for one thread count must not
/// fall back to the reference implementation with another.
TEST(OneDnn, OtherThreadCountsKeepFastImplementations) {
  for (const ConvShape &s : kConvs) {
    OperationDescription compiled = describe(convDesc(s), 2);
    ASSERT_TRUE(compiled.ok);
    for (int threads : {1, 3, 8, 64}) {
      OperationDescription other = describe(compiled.desc, threads);
      ASSERT_TRUE(other.ok) << other.error;
      EXPECT_EQ(other.implementation.rfind("ref", 0), std::string::npos)
          << threads << compiled.desc;
    }
  }
}

/// Equal requests share one answer. Only some callers need a copy.
TEST(OneDnn, AnswersAreShared) {
  json desc = convDesc(kConvs[0]);
  auto first = onednn::ask(desc, 2), second = onednn::ask(desc, 2);
  ASSERT_TRUE(first->ok);
  EXPECT_EQ(first, second);
  EXPECT_NE(onednn::ask(desc, 1), first);
  EXPECT_FALSE(onednn::ask(json(5), 2)->ok);
  // A request with the chosen layouts shares the answer with the original request, so oneDNN does
  // not choose again.
  desc["src"]["tag"] = desc["dst"]["tag"] = "any";
  auto chosen = onednn::ask(desc, 2);
  ASSERT_TRUE(chosen->ok);
  for (const char *image : {"src", "dst"})
    desc[image]["tag"] = chosen->desc[image]["tag"];
  EXPECT_EQ(onednn::ask(desc, 2), chosen);
}

TEST(OneDnn, LibraryCommandInAProgram) {
  const ConvShape &s = kConvs[1];
  OperationDescription described = describe(convDesc(s), 2);
  ASSERT_TRUE(described.ok);
  auto x = pattern(64 * 196, 1), weights = pattern(64 * 64 * 9, 2), bias = pattern(64, 3);
  Program program = emptyProgram();
  json &m = program.manifest;
  auto packed = onednn::packWeights(described.desc, "weights", weights.data());
  program.constants = {{packed.data.get(), packed.bytes, packed.data},
                       runtime::copyToOwnedSpan(bias.data(), 256)};
  m["constants"] = {{{"bytes", packed.bytes}}, {{"bytes", 256}}};
  uint64_t plain = 64 * 196 * 4, src = described.find("src")->bytes,
           dst = described.find("dst")->bytes;
  m["inputs"] = {tensor("x", "f32", {1, 64, 14, 14})};
  m["outputs"] = {tensor("y", "f32", {1, 64, 14, 14})};
  m["arena"]["cpu"] = src + dst + 1024;
  m["buffers"] = {buffer("input", 0, plain),           buffer("arena", 0, src),
                  buffer("constant", 0, packed.bytes), buffer("constant", 1, 256),
                  buffer("arena", 0, dst, src),        buffer("output", 0, plain)};
  json from = layout({1, 64, 14, 14}, "abcd");
  auto library = [](json desc, json buffers) {
    return json{{"op", "library"}, {"library", "onednn"}, {"desc", desc}, {"buffers", buffers}};
  };
  m["commands"] = {
      library({{"kind", "reorder"}, {"src", from}, {"dst", described.desc["src"]}}, {0, 1}),
      library(described.desc, {1, 2, 3, 4}),
      library({{"kind", "reorder"}, {"src", described.desc["dst"]}, {"dst", from}}, {4, 5})};
  TemporaryFolder folder;
  runtime::writeProgram(program, folder / "p.dlcx");
  auto expected = naiveConv(s, x, weights, bias);
  for (int threads : {1, 2, 3}) {
    Session session(share(runtime::readProgram(folder / "p.dlcx")), {threads});
    std::vector<float> y(expected.size());
    runOnce(session, {x.data()}, {y.data()});
    expectClose(y, expected, 1e-5);
    EXPECT_EQ(session.commands()[1].implementation.rfind("ref", 0), std::string::npos);
  }
  Program cut = program;
  cut.manifest["buffers"][4]["bytes"] = dst - 4;
  std::string error = errorOf([&] { Session session(share(cut)); });
  EXPECT_NE(error.find("('dst') has"), std::string::npos) << error;
  Program wrong = program;
  wrong.manifest["commands"][1]["buffers"] = {1, 2, 3, 0};
  error = errorOf([&] { Session session(share(wrong)); });
  EXPECT_NE(error.find("is written"), std::string::npos) << error;
}

TEST(OneDnn, ScratchpadFromTheProgram) {
  // The reduction needs a scratchpad: the session's own memory, memory in the arena, and a buffer
  // in the arena that is large enough or too small.
  json desc = {{"kind", "convolution"},
               {"src", layout({1, 64, 14, 14}, "abcd")},
               {"weights", layout({64, 64, 3, 3}, "abcd")},
               {"dst", layout({1, 64, 14, 14}, "abcd")},
               {"pads_l", {1, 1}},
               {"pads_r", {1, 1}}};
  OperationDescription described;
  for (const OperationDescription &one : describeAll(desc, 2))
    if (one.scratchpadBytes > 0)
      described = one;
  if (!described.ok)
    GTEST_SKIP() << "no implementation here wants a scratchpad";
  auto x = pattern(64 * 196, 1), weights = pattern(64 * 64 * 9, 2);
  enum { None, Given, Room, SmallRoom };
  std::vector<float> results[4];
  for (int way : {None, Given, Room, SmallRoom}) {
    Program program = emptyProgram();
    json &m = program.manifest;
    uint64_t plain = 64 * 196 * 4, pad = described.scratchpadBytes;
    program.constants = {runtime::copyToOwnedSpan(weights.data(), weights.size() * 4)};
    m["constants"] = {{{"bytes", weights.size() * 4}}};
    m["inputs"] = {tensor("x", "f32", {1, 64, 14, 14})};
    m["outputs"] = {tensor("y", "f32", {1, 64, 14, 14})};
    m["arena"]["cpu"] = pad;
    m["buffers"] = {buffer("input", 0, plain), buffer("constant", 0, weights.size() * 4),
                    buffer("output", 0, plain),
                    buffer("arena", 0, way == SmallRoom ? pad - 1 : pad)};
    json command = {{"op", "library"},
                    {"library", "onednn"},
                    {"desc", described.desc},
                    {"buffers", way == Given ? json{0, 1, 2, 3} : json{0, 1, 2}}};
    if (way == Room || way == SmallRoom)
      command["room"] = 3;
    m["commands"] = {command};
    Session session(share(program), {2});
    EXPECT_EQ(session.memory().scratchBytes, way == Given || way == Room ? 0 : pad);
    results[way].resize(64 * 196);
    runOnce(session, {x.data()}, {results[way].data()});
    EXPECT_EQ(results[way], results[None]);
    if (way != Room)
      continue;
    auto refused = [&](const char *why) {
      std::string error = errorOf([&] { Session session(share(program)); });
      EXPECT_NE(error.find(why), std::string::npos) << error;
    };
    m["commands"][0]["room"] = 0;
    refused("is written, but is part of a constant or an input");
    m["commands"][0]["room"] = 2;
    refused("required: a range of the arena that starts at a multiple of 64 bytes");
    m["commands"][0]["room"] = 3;
    m["commands"][0]["buffers"] = {0, 1, 2, 3};
    refused("the scratch range overlaps buffer 3 of the command");
  }
}

/// Replaces every value of several descriptions with values of every kind. The library must reject
/// it with a reason, or describe it, without a crash.
TEST(OneDnn, AnyValueAnywhereInADescription) {
  json add = layout({1, 64, 14, 14}, "acdb");
  add.update({{"kind", "binary"}, {"alg", "add"}});
  json conv = convDesc(kConvs[1]), softmax, norm, pool, matmul, lstm;
  conv["post_ops"] = {{{"kind", "eltwise"}, {"alg", "clip"}, {"alpha", 0}, {"beta", 6}}, add};
  conv["math"] = "strict";
  json two = layout({6, 40}, "ab"), state = layout({1, 1, 3, 24}, "abcd");
  softmax = {{"kind", "softmax"}, {"src", two}, {"dst", two}, {"axis", 1}};
  norm = {{"kind", "layer_normalization"}, {"src", two}, {"dst", two}, {"epsilon", 1e-3}};
  norm["scale"] = norm["shift"] = layout({40}, "a");
  pool = {{"kind", "pooling"}, {"alg", "avg_include"}, {"kernel", {3, 3}},
          {"strides", {2, 2}}, {"pads_l", {1, 1}},     {"pads_r", {1, 1}}};
  pool["src"] = layout({1, 16, 7, 7}, "abcd");
  pool["dst"] = layout({1, 16, 4, 4}, "abcd");
  matmul = {{"kind", "matmul"}, {"src", {{"dims", {4, 4}}, {"dtype", "u8"}, {"strides", {8, 1}}}}};
  matmul["weights"] = layout({4, 3}, "ab", "i8");
  matmul["dst"] = layout({4, 3}, "ab");
  matmul["scales"] = {{"src", 0}, {"weights", 2}};
  lstm = {{"kind", "lstm"}, {"direction", "l2r"}};
  lstm["src_layer"] = layout({5, 3, 20}, "abc");
  lstm["dst_layer"] = layout({5, 3, 24}, "abc");
  lstm["weights_layer"] = layout({1, 1, 20, 4, 24});
  lstm["weights_iter"] = layout({1, 1, 24, 4, 24});
  lstm["bias"] = layout({1, 1, 4, 24}, "abcd");
  for (const char *name : {"src_iter", "src_iter_c", "dst_iter", "dst_iter_c"})
    lstm[name] = state;
  const json values[] = {
      nullptr, -1,  0,    1,  7,   1 << 30,      int64_t(1) << 40, uint64_t(-1), 1e300,  "",
      "any",   "a", true, {}, {1}, {1, 2, 3, 4}, {-1, -1},         "opaque:1",   "abcd", "aBcd8b"};
  int refused = 0, accepted = 0;
  for (const json &good : {conv, softmax, norm, pool, matmul, lstm}) {
    ASSERT_TRUE(describe(good, 2).ok) << describe(good, 2).error;
    json flat = good.flatten();
    for (auto &[pointer, old] : flat.items())
      for (const json &value : values) {
        json desc = good;
        desc[json::json_pointer(pointer)] = value;
        auto described = describe(desc, 2);
        (described.ok ? accepted : refused)++;
        EXPECT_NE(described.ok, !described.error.empty()) << desc;
      }
  }
  std::cout << refused << " refused, " << accepted << " accepted\n";
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 50);
}
