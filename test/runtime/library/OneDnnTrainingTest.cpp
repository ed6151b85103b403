//===- OneDnnTrainingTest.cpp - compares gradients of oneDNN operations with loops ===//
#include "OneDnnHelp.h"

using namespace dlc;
using namespace dlc::test;
using onednn::describe;
using onednn::describeAll;

namespace {

struct Shape {
  int64_t n, c, h, w, o, k, stride, padLow, padHigh, dilation, groups;

  int64_t out(int64_t in) const {
    return (in + padLow + padHigh - ((k - 1) * dilation + 1)) / stride + 1;
  }
  int64_t xCount() const { return n * c * h * w; }
  int64_t yCount() const { return n * o * out(h) * out(w); }
  int64_t wCount() const { return o * c / groups * k * k; }
};

const Shape kShapes[] = {
    {2, 64, 14, 14, 64, 3, 1, 1, 1, 1, 1}, {2, 3, 23, 23, 32, 7, 2, 3, 3, 1, 1},
    {2, 64, 7, 7, 128, 1, 1, 0, 0, 1, 1},  {2, 32, 15, 15, 32, 3, 1, 1, 1, 1, 32},
    {2, 64, 9, 9, 64, 3, 1, 1, 1, 1, 4},   {2, 32, 14, 14, 48, 3, 2, 0, 1, 1, 1},
    {2, 13, 9, 9, 21, 3, 1, 1, 1, 1, 1},   {1, 16, 12, 12, 16, 3, 1, 2, 2, 2, 1}};

/// Visits all (x, w, y) whose product x w contributes to y, as indices into row-major arrays.
template <typename Visit> void eachProduct(const Shape &s, Visit visit) {
  int64_t cg = s.c / s.groups, og = s.o / s.groups, oh = s.out(s.h), ow = s.out(s.w);
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t o = 0; o < s.o; ++o)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j)
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t p = 0; p < s.k; ++p)
              for (int64_t q = 0; q < s.k; ++q) {
                int64_t r = i * s.stride - s.padLow + p * s.dilation;
                int64_t t = j * s.stride - s.padLow + q * s.dilation;
                if (r >= 0 && t >= 0 && r < s.h && t < s.w)
                  visit(((n * s.c + o / og * cg + c) * s.h + r) * s.w + t,
                        ((o * cg + c) * s.k + p) * s.k + q, ((n * s.o + o) * oh + i) * ow + j);
              }
}

json withGeometry(json desc, const Shape &s) {
  desc["strides"] = {s.stride, s.stride};
  desc["dilations"] = {s.dilation - 1, s.dilation - 1};
  desc["pads_l"] = {s.padLow, s.padLow};
  desc["pads_r"] = {s.padHigh, s.padHigh};
  return desc;
}

json xLayout(const Shape &s, const std::string &tag) { return layout({s.n, s.c, s.h, s.w}, tag); }
json yLayout(const Shape &s, const std::string &tag) {
  return layout({s.n, s.o, s.out(s.h), s.out(s.w)}, tag);
}
json wLayout(const Shape &s, const std::string &tag) {
  if (s.groups > 1)
    return layout({s.groups, s.o / s.groups, s.c / s.groups, s.k, s.k}, tag);
  return layout({s.o, s.c, s.k, s.k}, tag);
}

json poolDesc(const Shape &s, const std::string &tag, bool workspace) {
  json desc = withGeometry({{"kind", "pooling"}, {"alg", "max"}}, s);
  desc["kernel"] = {s.k, s.k};
  desc["src"] = xLayout(s, tag);
  desc["dst"] = yLayout(s, tag);
  if (workspace)
    desc["workspace"] = layout({s.n, s.o, s.out(s.h), s.out(s.w)}, tag, "u8");
  return desc;
}

/// Returns small integers, so that pooling windows contain equal maxima.
std::vector<float> tied(int64_t count) {
  std::vector<float> values = pattern(count, 5);
  for (float &value : values)
    value = std::floor(value * 1.5f);
  return values;
}

/// Returns the row-major position of the first maximum in each window.
std::vector<float> positions(const Shape &s, const std::vector<float> &x) {
  std::vector<float> found;
  for (int64_t plane = 0; plane < s.n * s.c; ++plane)
    for (int64_t i = 0; i < s.out(s.h); ++i)
      for (int64_t j = 0; j < s.out(s.w); ++j) {
        float best = -INFINITY, at = 0;
        for (int64_t p = 0; p < s.k; ++p)
          for (int64_t q = 0; q < s.k; ++q) {
            int64_t r = i * s.stride - s.padLow + p, t = j * s.stride - s.padLow + q;
            if (r < 0 || t < 0 || r >= s.h || t >= s.w || x[(plane * s.h + r) * s.w + t] <= best)
              continue;
            best = x[(plane * s.h + r) * s.w + t];
            at = static_cast<float>(p * s.k + q);
          }
        found.push_back(at);
      }
  return found;
}

const Shape kPools[] = {{2, 32, 13, 13, 32, 3, 2, 1, 1, 1, 1},
                        {2, 32, 12, 12, 32, 3, 2, 0, 1, 1, 1},
                        {2, 20, 8, 8, 20, 2, 2, 0, 0, 1, 1},
                        {1, 16, 9, 9, 16, 5, 1, 2, 2, 1, 1}};

} // namespace

TEST(OneDnnTraining, DataGradientsAgainstLoops) {
  for (const Shape &s : kShapes)
    for (const char *tag : {"any", "abcd", "acdb"}) {
      json desc = withGeometry({{"kind", "convolution_backward_data"}}, s);
      desc["diff_dst"] = yLayout(s, tag);
      desc["weights"] = wLayout(s, "any");
      desc["diff_src"] = xLayout(s, tag);
      SCOPED_TRACE(desc.dump());
      auto dy = pattern(s.yCount(), 1), w = pattern(s.wCount(), 2);
      std::vector<float> expected(s.xCount());
      eachProduct(s, [&](int64_t x, int64_t k, int64_t y) { expected[x] += w[k] * dy[y]; });
      Ran ran = runDesc(desc, {{"diff_dst", dy}, {"weights", w}});
      expectClose(ran.outputs["diff_src"], expected, 1e-5);
    }
}

TEST(OneDnnTraining, WeightGradientsAgainstLoops) {
  for (const Shape &s : kShapes)
    for (bool bias : {false, true})
      for (const char *tag : {"any", "abcd", "acdb"}) {
        json desc = withGeometry({{"kind", "convolution_backward_weights"}}, s);
        desc["src"] = xLayout(s, tag);
        desc["diff_dst"] = yLayout(s, tag);
        desc["diff_weights"] = wLayout(s, "any");
        if (bias)
          desc["diff_bias"] = layout({s.o}, "a");
        SCOPED_TRACE(desc.dump());
        auto x = pattern(s.xCount(), 1), dy = pattern(s.yCount(), 2);
        std::vector<float> expected(s.wCount()), sums(s.o);
        eachProduct(s, [&](int64_t i, int64_t k, int64_t y) { expected[k] += x[i] * dy[y]; });
        for (int64_t y = 0; y < s.yCount(); ++y)
          sums[y / (s.out(s.h) * s.out(s.w)) % s.o] += dy[y];
        Ran ran = runDesc(desc, {{"src", x}, {"diff_dst", dy}});
        expectClose(ran.outputs["diff_weights"], expected, 1e-4);
        if (bias)
          expectClose(ran.outputs["diff_bias"], sums, 1e-4);
      }
}

TEST(OneDnnTraining, PoolPositionsAreTheFirstMaximum) {
  int checked = 0;
  for (const Shape &s : kPools)
    for (const char *tag : {"abcd", "acdb", "aBcd16b", "aBcd8b"})
      for (const OperationDescription &one : describeAll(poolDesc(s, tag, true), 2)) {
        SCOPED_TRACE(one.implementation + " " + one.desc.dump());
        auto x = tied(s.xCount());
        Ran ran = runDesc(one.desc, {{"src", x}});
        EXPECT_EQ(ran.outputs["workspace"], positions(s, x));
        ++checked;
      }
  EXPECT_GE(checked, 16);
}

TEST(OneDnnTraining, MaxPoolGradientGoesWhereTheMaximumStood) {
  for (const Shape &s : kPools)
    for (const char *tag : {"abcd", "acdb", "aBcd16b"}) {
      json desc = poolDesc(s, tag, true);
      desc["kind"] = "pooling_backward";
      desc["diff_src"] = desc["src"];
      desc["diff_dst"] = desc["dst"];
      desc.erase("src");
      desc.erase("dst");
      SCOPED_TRACE(desc.dump());
      // Tries all implementations. Each one is created from the forward operation's descriptor.
      EXPECT_FALSE(describeAll(desc, 2).empty());
      auto dy = pattern(s.yCount(), 3), at = positions(s, tied(s.xCount()));
      std::vector<float> expected(s.xCount());
      int64_t oh = s.out(s.h), ow = s.out(s.w);
      for (int64_t y = 0; y < s.yCount(); ++y) {
        int64_t plane = y / (oh * ow), position = static_cast<int64_t>(at[y]);
        int64_t r = y / ow % oh * s.stride - s.padLow + position / s.k;
        int64_t t = y % ow * s.stride - s.padLow + position % s.k;
        expected[(plane * s.h + r) * s.w + t] += dy[y];
      }
      Ran ran = runDesc(desc, {{"diff_dst", dy}, {"workspace", at}});
      expectClose(ran.outputs["diff_src"], expected, 1e-6);
    }
}

TEST(OneDnnTraining, AveragePoolGradients) {
  for (const Shape &s : kPools)
    for (const char *alg : {"avg_include", "avg_exclude"})
      for (const char *tag : {"abcd", "acdb", "aBcd16b"}) {
        json desc = poolDesc(s, tag, false);
        desc["kind"] = "pooling_backward";
        desc["alg"] = alg;
        desc["diff_src"] = desc["src"];
        desc["diff_dst"] = desc["dst"];
        SCOPED_TRACE(desc.dump());
        auto dy = pattern(s.yCount(), 3);
        std::vector<float> expected(s.xCount());
        int64_t oh = s.out(s.h), ow = s.out(s.w);
        for (int64_t y = 0; y < s.yCount(); ++y) {
          std::vector<int64_t> inside;
          for (int64_t p = 0; p < s.k * s.k; ++p) {
            int64_t r = y / ow % oh * s.stride - s.padLow + p / s.k;
            int64_t t = y % ow * s.stride - s.padLow + p % s.k;
            if (r >= 0 && t >= 0 && r < s.h && t < s.w)
              inside.push_back((y / (oh * ow) * s.h + r) * s.w + t);
          }
          bool counts = std::string(alg) == "avg_include";
          auto divisor = static_cast<float>(counts ? s.k * s.k : inside.size());
          for (int64_t x : inside)
            expected[x] += dy[y] / divisor;
        }
        EXPECT_FALSE(describeAll(desc, 2).empty());
        Ran ran = runDesc(desc, {{"diff_dst", dy}});
        expectClose(ran.outputs["diff_src"], expected, 1e-5);
      }
}

TEST(OneDnnTraining, WorkspacesOfAnotherTypeOrLayoutAreRefused) {
  // A byte cannot represent more than 256 window positions.
  Shape wide = {1, 16, 40, 40, 16, 17, 1, 0, 0, 1, 1};
  EXPECT_FALSE(describe(poolDesc(wide, "aBcd16b", true), 2).ok);
  EXPECT_TRUE(describeAll(poolDesc(wide, "aBcd16b", true), 2).empty());
  json mixed = poolDesc(kPools[0], "aBcd16b", true);
  mixed["workspace"]["tag"] = "abcd";
  for (const OperationDescription &one : describeAll(mixed, 2))
    EXPECT_EQ(one.find("workspace")->tag, "abcd");
  json none = poolDesc(kPools[0], "abcd", false);
  none["kind"] = "pooling_backward";
  none["diff_src"] = none["src"];
  none["diff_dst"] = none["dst"];
  OperationDescription described = describe(none, 2);
  EXPECT_FALSE(described.ok);
  EXPECT_NE(described.error.find("needs 'workspace'"), std::string::npos) << described.error;
  none["alg"] = "avg_include";
  none["workspace"] = layout({2, 32, 7, 7}, "abcd", "u8");
  described = describe(none, 2);
  EXPECT_NE(described.error.find("'workspace' is only valid with alg max"), std::string::npos)
      << described.error;
}

TEST(OneDnnTraining, BatchNormalizationForthAndBack) {
  const int64_t n = 3, c = 16, area = 25;
  const double count = n * area, epsilon = 1e-3;
  auto x = pattern(n * c * area, 1), dy = pattern(n * c * area, 2);
  auto scale = pattern(c, 3), shift = pattern(c, 4);
  std::vector<float> mean, variance, y(x.size()), dx(x.size()), dscale, dshift;
  auto each = [&](int64_t channel, auto visit) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t a = 0; a < area; ++a)
        visit((i * c + channel) * area + a);
  };
  for (int64_t channel = 0; channel < c; ++channel) {
    double sum = 0, squares = 0, sumDy = 0, sumDyH = 0;
    each(channel, [&](int64_t i) { sum += x[i]; });
    double m = sum / count;
    each(channel, [&](int64_t i) { squares += (x[i] - m) * (x[i] - m); });
    double v = squares / count, r = 1 / std::sqrt(v + epsilon);
    each(channel, [&](int64_t i) {
      y[i] = static_cast<float>((x[i] - m) * r * scale[channel] + shift[channel]);
      sumDy += dy[i], sumDyH += dy[i] * (x[i] - m) * r;
    });
    each(channel, [&](int64_t i) {
      dx[i] = static_cast<float>(scale[channel] * r *
                                 (dy[i] - sumDy / count - (x[i] - m) * r * sumDyH / count));
    });
    mean.push_back(static_cast<float>(m)), variance.push_back(static_cast<float>(v));
    dscale.push_back(static_cast<float>(sumDyH)), dshift.push_back(static_cast<float>(sumDy));
  }
  for (const char *tag : {"abcd", "acdb", "aBcd16b"}) {
    SCOPED_TRACE(tag);
    json whole = layout({n, c, 5, 5}, tag), channels = layout({c}, "a");
    Ran forth = runDesc({{"kind", "batch_normalization_training"},
                         {"src", whole},
                         {"dst", whole},
                         {"mean", channels},
                         {"variance", channels},
                         {"scale", channels},
                         {"shift", channels},
                         {"epsilon", epsilon}},
                        {{"src", x}, {"scale", scale}, {"shift", shift}});
    expectClose(forth.outputs["dst"], y, 1e-5);
    expectClose(forth.outputs["mean"], mean, 1e-5);
    expectClose(forth.outputs["variance"], variance, 1e-5);
    Ran back = runDesc(
        {{"kind", "batch_normalization_backward"},
         {"src", whole},
         {"diff_dst", whole},
         {"diff_src", whole},
         {"mean", channels},
         {"variance", channels},
         {"scale", channels},
         {"diff_scale", channels},
         {"diff_shift", channels},
         {"epsilon", epsilon}},
        {{"src", x}, {"diff_dst", dy}, {"mean", mean}, {"variance", variance}, {"scale", scale}});
    expectClose(back.outputs["diff_src"], dx, 1e-4);
    expectClose(back.outputs["diff_scale"], dscale, 1e-4);
    expectClose(back.outputs["diff_shift"], dshift, 1e-4);
  }
}

/// w = f * w - 0.5 * x^T dy, in place. Long sums are accumulated in several steps.
TEST(OneDnnTraining, ProductsAccumulateIntoWeights) {
  const int64_t m = 96, n = 80;
  for (int64_t k : {1, 24, 1500})
    for (float factor : {1.0f, 0.75f}) {
      auto x = pattern(k * m, 1), dy = pattern(k * n, 2), w = pattern(m * n, 3);
      std::vector<float> expected, step = {0.5f};
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < k; ++p)
            sum += static_cast<double>(x[p * m + i]) * dy[p * n + j];
          expected.push_back(static_cast<float>(factor * w[i * n + j] - 0.5 * sum));
        }
      json desc = {{"kind", "matmul"},
                   {"src", layout({m, k}, "ba")},
                   {"weights", layout({k, n}, "ab")},
                   {"dst", layout({m, n}, "ab")}};
      json constant = desc, runtime = desc;
      json sum = {{"kind", "sum"}, {"scale", factor}};
      constant["post_ops"] = {
          {{"kind", "eltwise"}, {"alg", "linear"}, {"alpha", -0.5}, {"beta", 0}}, sum};
      runtime["post_ops"] = {
          {{"kind", "binary"}, {"alg", "mul"}, {"dims", {1, 1}}, {"dtype", "f32"}, {"tag", "ab"}},
          {{"kind", "eltwise"}, {"alg", "linear"}, {"alpha", -1.0}, {"beta", 0}},
          sum};
      for (const json &one : {constant, runtime})
        for (const OperationDescription &described : describeAll(one, 2)) {
          SCOPED_TRACE(described.implementation + " " + one.dump());
          std::vector<float> state = w;
          std::vector<void *> buffers = {x.data(), dy.data(), state.data()};
          if (one["post_ops"].size() == 3)
            buffers.push_back(step.data());
          ASSERT_EQ(described.arguments.size(), buffers.size());
          std::string error;
          auto executable = callOf(described, 2, error);
          ASSERT_TRUE(executable) << error;
          executable->run(buffers.data());
          expectClose(state, expected, 1e-5);
        }
    }
}

/// Weights and their gradients remain row-major for the caller, whatever layout the implementation
/// uses.
TEST(OneDnnTraining, WeightsArePackedInsideTheCall) {
  int staged = 0;
  for (const Shape &s : kShapes) {
    std::string plain = rowMajor(s.groups > 1 ? 5 : 4);
    auto x = pattern(s.xCount(), 1), w = pattern(s.wCount(), 2), dy = pattern(s.yCount(), 3);
    std::vector<float> y(s.yCount()), dw(s.wCount());
    eachProduct(s, [&](int64_t i, int64_t k, int64_t j) {
      y[j] += x[i] * w[k];
      dw[k] += x[i] * dy[j];
    });
    json forward = withGeometry({{"kind", "convolution"}}, s), backward = forward;
    forward["src"] = backward["src"] = xLayout(s, "any");
    forward["dst"] = backward["diff_dst"] = yLayout(s, "any");
    forward["weights"] = backward["diff_weights"] = wLayout(s, "any");
    forward["weights"]["outside"] = backward["diff_weights"]["outside"] = plain;
    backward["kind"] = "convolution_backward_weights";
    SCOPED_TRACE(forward.dump());
    Ran forth = runDesc(forward, {{"src", x}, {"weights", w}});
    expectClose(forth.outputs["dst"], y, 1e-5);
    Ran back = runDesc(backward, {{"src", x}, {"diff_dst", dy}});
    expectClose(back.outputs["diff_weights"], dw, 1e-4);
    for (const auto &[ran, name] : {std::pair(&forth, "weights"), {&back, "diff_weights"}}) {
      const onednn::Argument *argument = ran->described.find(name);
      ASSERT_NE(argument, nullptr);
      EXPECT_EQ(argument->tag, plain);
      EXPECT_EQ(argument->bytes, static_cast<uint64_t>(s.wCount()) * 4);
      bool packs = ran->described.desc[name]["tag"] != plain;
      EXPECT_LE(packs ? argument->bytes : 0, ran->described.scratchpadBytes);
      staged += packs;
    }
  }
  EXPECT_GE(staged, 8);
  json wrong = {
      {"kind", "convolution"}, {"src", layout({1, 16, 8, 8})}, {"dst", layout({1, 16, 8, 8})}};
  wrong["weights"] = layout({16, 16, 1, 1});
  wrong["weights"]["outside"] = "any";
  EXPECT_NE(describe(wrong, 2).error.find("must be a named layout"), std::string::npos);
}
