//===- OneDnnRecurrentTest.cpp - oneDNN recurrent layers and low-precision operations ===//
#include "OneDnnHelp.h"

using namespace dlc;
using namespace dlc::test;

namespace {

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

struct Cell {
  int64_t steps, batch, input, hidden, gates;
  std::vector<float> x, h0, c0, wx, wh, bias;

  Cell(int64_t gates, int64_t biases)
      : steps(5), batch(3), input(20), hidden(24), gates(gates),
        x(pattern(steps * batch * input, 1)), h0(pattern(batch * hidden, 2)),
        c0(pattern(batch * hidden, 3)), wx(scaled(pattern(input * gates * hidden, 4))),
        wh(scaled(pattern(hidden * gates * hidden, 5))), bias(pattern(biases * hidden, 6)) {}

  static std::vector<float> scaled(std::vector<float> values) {
    for (float &value : values)
      value /= 8;
    return values;
  }

  /// Returns W x + b of a gate. The weights have the shape [in, gate, out].
  double inputPart(int64_t t, int64_t b, int64_t gate, int64_t o) const {
    double sum = 0;
    for (int64_t i = 0; i < input; ++i)
      sum += x[(t * batch + b) * input + i] * wx[(i * gates + gate) * hidden + o];
    return sum;
  }
  double hiddenPart(const std::vector<double> &h, int64_t b, int64_t gate, int64_t o) const {
    double sum = 0;
    for (int64_t i = 0; i < hidden; ++i)
      sum += h[b * hidden + i] * wh[(i * gates + gate) * hidden + o];
    return sum;
  }

  json desc(const std::string &kind, int64_t biases) const {
    return {{"kind", kind},
            {"src_layer", layout({steps, batch, input}, "abc")},
            {"src_iter", layout({1, 1, batch, hidden}, "abcd")},
            {"weights_layer", layout({1, 1, input, gates, hidden})},
            {"weights_iter", layout({1, 1, hidden, gates, hidden})},
            {"bias", layout({1, 1, biases, hidden}, "abcd")},
            {"dst_layer", layout({steps, batch, hidden}, "abc")},
            {"dst_iter", layout({1, 1, batch, hidden}, "abcd")}};
  }
  std::map<std::string, std::vector<float>> inputs() const {
    return {{"src_layer", x},      {"src_iter", h0},     {"src_iter_c", c0},
            {"weights_layer", wx}, {"weights_iter", wh}, {"bias", bias}};
  }
};

} // namespace

TEST(OneDnnRecurrent, Lstm) {
  // Gates in oneDNN's order: input, forget, candidate, output.
  Cell cell(4, 4);
  std::vector<double> h(cell.h0.begin(), cell.h0.end()), c(cell.c0.begin(), cell.c0.end());
  std::vector<float> expected;
  for (int64_t t = 0; t < cell.steps; ++t) {
    std::vector<double> next = h;
    for (int64_t b = 0; b < cell.batch; ++b)
      for (int64_t o = 0; o < cell.hidden; ++o) {
        double g[4];
        for (int gate = 0; gate < 4; ++gate)
          g[gate] = cell.inputPart(t, b, gate, o) + cell.hiddenPart(h, b, gate, o) +
                    cell.bias[gate * cell.hidden + o];
        double &state = c[b * cell.hidden + o];
        state = sigmoid(g[1]) * state + sigmoid(g[0]) * std::tanh(g[2]);
        next[b * cell.hidden + o] = sigmoid(g[3]) * std::tanh(state);
      }
    h = next;
    expected.insert(expected.end(), h.begin(), h.end());
  }
  json desc = cell.desc("lstm", 4);
  desc["src_iter_c"] = layout({1, 1, cell.batch, cell.hidden}, "abcd");
  desc["dst_iter_c"] = layout({1, 1, cell.batch, cell.hidden}, "abcd");
  Ran ran = runDesc(desc, cell.inputs());
  ASSERT_TRUE(ran.described.ok);
  expectClose(ran.outputs["dst_layer"], expected, 1e-5);
  expectClose(ran.outputs["dst_iter_c"], {c.begin(), c.end()}, 1e-5);
  std::cout << "weights: " << ran.described.find("weights_layer")->tag << ", "
            << ran.described.find("weights_iter")->tag << "\n";
  // Describing the description again must keep the layout of the packed weights.
  EXPECT_EQ(onednn::describe(ran.described.desc, 2).desc, ran.described.desc);
}

TEST(OneDnnRecurrent, EveryLstmImplementation) {
  Cell cell(4, 4);
  json desc = cell.desc("lstm", 4);
  desc["src_iter_c"] = desc["dst_iter_c"] = layout({1, 1, cell.batch, cell.hidden}, "abcd");
  auto expected = runDesc(desc, cell.inputs()).outputs["dst_layer"];
  for (const OperationDescription &one : onednn::describeAll(desc, 2)) {
    SCOPED_TRACE(one.implementation);
    expectClose(runDesc(one.desc, cell.inputs()).outputs["dst_layer"], expected, 1e-5);
  }
}

TEST(OneDnnRecurrent, GruAndLinearBeforeReset) {
  // Gates: update, reset, candidate.
  for (bool linear : {false, true}) {
    Cell cell(3, linear ? 4 : 3);
    std::vector<double> h(cell.h0.begin(), cell.h0.end());
    std::vector<float> expected;
    int64_t H = cell.hidden;
    for (int64_t t = 0; t < cell.steps; ++t) {
      std::vector<double> reset(h.size()), update(h.size()), next = h;
      for (int64_t b = 0; b < cell.batch; ++b)
        for (int64_t o = 0; o < H; ++o) {
          update[b * H + o] =
              sigmoid(cell.inputPart(t, b, 0, o) + cell.hiddenPart(h, b, 0, o) + cell.bias[o]);
          reset[b * H + o] =
              sigmoid(cell.inputPart(t, b, 1, o) + cell.hiddenPart(h, b, 1, o) + cell.bias[H + o]);
        }
      std::vector<double> gated = h;
      for (size_t i = 0; i < h.size(); ++i)
        gated[i] *= reset[i];
      for (int64_t b = 0; b < cell.batch; ++b)
        for (int64_t o = 0; o < H; ++o) {
          double hidden =
              linear ? reset[b * H + o] * (cell.hiddenPart(h, b, 2, o) + cell.bias[3 * H + o])
                     : cell.hiddenPart(gated, b, 2, o);
          double candidate = std::tanh(cell.inputPart(t, b, 2, o) + hidden + cell.bias[2 * H + o]);
          double u = update[b * H + o];
          next[b * H + o] = u * h[b * H + o] + (1 - u) * candidate;
        }
      h = next;
      expected.insert(expected.end(), h.begin(), h.end());
    }
    Ran ran = runDesc(cell.desc(linear ? "lbr_gru" : "gru", linear ? 4 : 3), cell.inputs());
    expectClose(ran.outputs["dst_layer"], expected, 1e-5);
  }
}

TEST(OneDnnRecurrent, VanillaBackwardsAndBothWays) {
  Cell cell(1, 1);
  auto run = [&](const std::string &direction) {
    json desc = cell.desc("vanilla_rnn", 1);
    desc.erase("src_iter");
    desc.erase("dst_iter");
    desc["direction"] = direction;
    auto inputs = cell.inputs();
    if (direction == "concat") {
      for (const char *name : {"weights_layer", "weights_iter", "bias"}) {
        desc[name]["dims"][1] = 2;
        std::vector<float> &values = inputs[name];
        values.insert(values.end(), values.begin(),
                      values.begin() + static_cast<long>(values.size()));
      }
      desc["dst_layer"]["dims"][2] = 2 * cell.hidden;
    }
    return runDesc(desc, inputs).outputs["dst_layer"];
  };
  auto forward = run("l2r"), backward = run("r2l"), both = run("concat");
  int64_t H = cell.hidden;
  std::vector<double> h(static_cast<size_t>(cell.batch * H));
  std::vector<float> expected(forward.size());
  for (int64_t t = cell.steps; t-- > 0;) {
    std::vector<double> next = h;
    for (int64_t b = 0; b < cell.batch; ++b)
      for (int64_t o = 0; o < H; ++o) {
        next[b * H + o] =
            std::tanh(cell.inputPart(t, b, 0, o) + cell.hiddenPart(h, b, 0, o) + cell.bias[o]);
        expected[(t * cell.batch + b) * H + o] = static_cast<float>(next[b * H + o]);
      }
    h = next;
  }
  expectClose(backward, expected, 1e-5);
  ASSERT_EQ(both.size(), 2 * forward.size());
  for (int64_t row = 0; row < cell.steps * cell.batch; ++row)
    for (int64_t o = 0; o < H; ++o) {
      ASSERT_NEAR(both[row * 2 * H + o], forward[row * H + o], 1e-5);
      ASSERT_NEAR(both[row * 2 * H + H + o], backward[row * H + o], 1e-5);
    }
}

TEST(OneDnnLowPrecision, Bf16MathOnF32Data) {
  const int64_t n = 128;
  auto a = pattern(n * n, 1), b = pattern(n * n, 2);
  for (const char *math : {"strict", "bf16", "any"}) {
    Ran ran = runDesc({{"kind", "matmul"},
                       {"src", layout({n, n}, "ab")},
                       {"weights", layout({n, n})},
                       {"dst", layout({n, n}, "ab")},
                       {"math", math}},
                      {{"src", a}, {"weights", b}});
    std::vector<float> expected(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t k = 0; k < n; ++k)
          expected[i * n + j] += a[i * n + k] * b[k * n + j];
    expectClose(ran.outputs["dst"], expected, 1e-2);
    std::cout << math << ": " << ran.described.implementation << ", weights "
              << ran.described.find("weights")->dtype << " " << ran.described.find("weights")->tag
              << "\n";
  }
}

TEST(OneDnnLowPrecision, QuantizedMatmul) {
  const int64_t m = 8, k = 32, n = 16;
  json desc = {{"kind", "matmul"},
               {"src", layout({m, k}, "ab", "u8")},
               {"weights", layout({k, n}, "ab", "i8")},
               {"dst", layout({m, n}, "ab", "f32")},
               {"scales", {{"src", 0}, {"weights", 2}}},
               {"zero_points", {{"src", 0}}}};
  OperationDescription described = onednn::describe(desc, 2);
  ASSERT_TRUE(described.ok) << described.error;
  ASSERT_EQ(described.arguments.size(), 6u);
  EXPECT_EQ(described.arguments[4].name, "scales.weights");
  EXPECT_EQ(described.arguments[4].bytes, 64u);
  EXPECT_EQ(described.arguments[5].name, "zero_points.src");
  std::vector<uint8_t> src(m * k);
  std::vector<int8_t> weights(k * n);
  for (size_t i = 0; i < src.size(); ++i)
    src[i] = static_cast<uint8_t>(
        i * 7 % 128); // values are at most 127: see Desc.md about machines without VNNI
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<int8_t>(i * 11);
  std::vector<float> dst(m * n), scale = {0.5f}, scales(n), expected;
  std::vector<int32_t> zero = {100};
  for (int64_t j = 0; j < n; ++j)
    scales[j] = static_cast<float>(j + 1) / 8;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int sum = 0;
      for (int64_t q = 0; q < k; ++q)
        sum += (src[i * k + q] - 100) * weights[q * n + j];
      expected.push_back(static_cast<float>(sum) * 0.5f * scales[j]);
    }
  std::string error;
  auto executable = callOf(described, 2, error);
  ASSERT_TRUE(executable) << error;
  std::vector<void *> buffers = {src.data(),   weights.data(), dst.data(),
                                 scale.data(), scales.data(),  zero.data()};
  executable->run(buffers.data());
  expectClose(dst, expected, 1e-6);
}

/// For signed inputs oneDNN stores a compensation with the weights, in an opaque layout.
TEST(OneDnnLowPrecision, SignedConvolutionWithOpaqueWeights) {
  const int64_t c = 16, o = 24, size = 6;
  json desc = {{"kind", "convolution"},
               {"src", layout({1, c, size, size}, "any", "i8")},
               {"weights", layout({o, c, 3, 3}, "any", "i8")},
               {"dst", layout({1, o, size, size}, "any", "f32")},
               {"pads_l", {1, 1}},
               {"pads_r", {1, 1}}};
  auto x = pattern(c * size * size, 1), weights = pattern(o * c * 9, 2);
  for (float &value : x)
    value = std::round(value * 8);
  for (float &value : weights)
    value = 2 * std::round(value * 4); // small values: see Desc.md about machines without VNNI
  OperationDescription resolved = onednn::describe(desc, 2);
  ASSERT_TRUE(resolved.ok) << resolved.error;
  std::cout << resolved.implementation << ": " << resolved.find("weights")->tag << "\n";
  OperationDescription again = onednn::describe(resolved.desc, 2);
  ASSERT_TRUE(again.ok) << again.error;
  EXPECT_EQ(again.desc, resolved.desc);
  Ran ran = runDesc(resolved.desc, {{"src", x}, {"weights", weights}});
  std::vector<float> expected;
  for (int64_t k = 0; k < o; ++k)
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j) {
        double sum = 0;
        for (int64_t n = 0; n < c; ++n)
          for (int64_t p = 0; p < 3; ++p)
            for (int64_t q = 0; q < 3; ++q) {
              int64_t r = i + p - 1, t = j + q - 1;
              if (r >= 0 && t >= 0 && r < size && t < size)
                sum += x[(n * size + r) * size + t] * weights[((k * c + n) * 3 + p) * 3 + q];
            }
        expected.push_back(static_cast<float>(sum));
      }
  expectClose(ran.outputs["dst"], expected, 1e-6);
}
