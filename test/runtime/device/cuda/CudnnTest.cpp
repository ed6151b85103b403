//===- CudnnTest.cpp - compares cuDNN's convolutions with loops --------------------===//
#include "test/runtime/device/cuda/Gpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace dlc::cuda::test;
using nlohmann::json;

namespace {

struct Case {
  int64_t batch = 2, channels = 4, height = 7, width = 6, outputs = 6, window = 3;
  int64_t stride = 1, dilation = 1, low = 1, high = 1, groups = 1;
  bool channelsLast = false;

  int64_t out(int64_t in) const {
    return (in + low + high - (window - 1) * dilation - 1) / stride + 1;
  }
  std::vector<int64_t> x() const { return {batch, channels, height, width}; }
  std::vector<int64_t> w() const { return {outputs, channels / groups, window, window}; }
  std::vector<int64_t> y() const { return {batch, outputs, out(height), out(width)}; }
};

std::vector<int64_t> stridesOf(const std::vector<int64_t> &dims, bool channelsLast) {
  if (channelsLast)
    return {dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]};
  return {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
}

json tensor(const std::vector<int64_t> &dims, bool channelsLast) {
  return {{"dims", dims}, {"strides", stridesOf(dims, channelsLast)}};
}

json descOf(const Case &c, const char *kind) {
  json desc = {{"kind", kind}, {"dtype", "f32"}};
  desc["x"] = tensor(c.x(), c.channelsLast);
  desc["w"] = tensor(c.w(), c.channelsLast);
  desc["y"] = tensor(c.y(), c.channelsLast);
  desc["strides"] = {c.stride, c.stride};
  desc["dilations"] = {c.dilation, c.dilation};
  desc["low"] = {c.low, c.low};
  desc["high"] = {c.high, c.high};
  return desc;
}

json added(json tensor) {
  tensor["op"] = "add";
  tensor["dtype"] = "f32";
  return tensor;
}

int64_t count(const std::vector<int64_t> &dims) { return dims[0] * dims[1] * dims[2] * dims[3]; }

/// Small integers, whose short sums are exact in every type.
std::vector<float> small(int64_t size, int seed) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 5) % 9) - 4;
  return values;
}

/// Calls `body` with the indices of x, w and y of each product.
template <typename Body> void meet(const Case &c, Body body) {
  auto xs = stridesOf(c.x(), c.channelsLast), ws = stridesOf(c.w(), c.channelsLast),
       ys = stridesOf(c.y(), c.channelsLast);
  int64_t channels = c.channels / c.groups, outputs = c.outputs / c.groups;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t p = 0; p < c.y()[2]; ++p)
        for (int64_t q = 0; q < c.y()[3]; ++q)
          for (int64_t i = 0; i < channels; ++i)
            for (int64_t r = 0; r < c.window; ++r)
              for (int64_t s = 0; s < c.window; ++s) {
                int64_t h = p * c.stride + r * c.dilation - c.low,
                        v = q * c.stride + s * c.dilation - c.low,
                        channel = o / outputs * channels + i;
                if (h < 0 || h >= c.height || v < 0 || v >= c.width)
                  continue;
                body(static_cast<size_t>(n * xs[0] + channel * xs[1] + h * xs[2] + v * xs[3]),
                     static_cast<size_t>(o * ws[0] + i * ws[1] + r * ws[2] + s * ws[3]),
                     static_cast<size_t>(n * ys[0] + o * ys[1] + p * ys[2] + q * ys[3]));
              }
}

struct Values {
  std::vector<float> x, w, y;
};

Values valuesOf(const Case &c) {
  return {small(count(c.x()), 1), small(count(c.w()), 2), small(count(c.y()), 3)};
}

class Cudnn : public Gpu {
protected:
  struct Made {
    void *call = nullptr;
    uint64_t workspace = 0;
    std::string error;
  };

  Made make(const json &desc, std::vector<uint64_t> bytes, std::vector<uint8_t> writable) {
    Made made;
    char error[2048] = "";
    table().library_make(device, "cudnn", desc.dump().c_str(), bytes.data(), writable.data(),
                         bytes.size(), &made.call, &made.workspace, error, sizeof error);
    made.error = error;
    return made;
  }

  /// Runs the description. The last buffer is the result.
  std::vector<float> run(const json &desc, const std::vector<std::vector<float>> &inputs,
                         size_t results) {
    void *s = stream();
    std::vector<void *> buffers;
    std::vector<uint64_t> bytes;
    for (auto &values : inputs) {
      bytes.push_back(values.size() * 4);
      buffers.push_back(allocate(bytes.back()));
      upload(s, buffers.back(), values);
    }
    bytes.push_back(results * 4);
    buffers.push_back(allocate(bytes.back()));
    std::vector<uint8_t> writable(bytes.size());
    writable.back() = 1;
    Made made = make(desc, bytes, writable);
    EXPECT_NE(made.call, nullptr) << made.error;
    if (!made.call)
      return {};
    void *workspace = made.workspace ? allocate(made.workspace) : nullptr;
    ok(table().library_run, device, s, made.call, static_cast<void *const *>(buffers.data()),
       workspace);
    std::vector<float> result = download(s, buffers.back(), results);
    table().library_destroy(device, made.call);
    return result;
  }

  void check(const Case &c) {
    Values v = valuesOf(c);
    SCOPED_TRACE(descOf(c, "").dump());
    std::vector<float> x(v.x.size()), w(v.w.size()), y(v.y.size());
    meet(c, [&](size_t i, size_t j, size_t k) {
      y[k] += v.x[i] * v.w[j];
      x[i] += v.y[k] * v.w[j];
      w[j] += v.x[i] * v.y[k];
    });
    EXPECT_EQ(run(descOf(c, "convolution"), {v.x, v.w}, y.size()), y);
    EXPECT_EQ(run(descOf(c, "data_gradient"), {v.y, v.w}, x.size()), x);
    EXPECT_EQ(run(descOf(c, "weight_gradient"), {v.x, v.y}, w.size()), w);
  }
};

TEST_F(Cudnn, ConvolutionsAndTheirGradients) {
  for (bool channelsLast : {false, true}) {
    Case plain;
    plain.channelsLast = channelsLast;
    check(plain);
    Case strided = plain;
    strided.stride = 2;
    strided.high = 0;
    check(strided);
    Case dilated = plain;
    dilated.dilation = 2;
    dilated.low = dilated.high = 2;
    check(dilated);
    Case grouped = plain;
    grouped.groups = 2;
    check(grouped);
    Case point = plain;
    point.window = 1;
    point.low = point.high = 0;
    check(point);
  }
}

TEST_F(Cudnn, AddsAndActivates) {
  Case c;
  Values v = valuesOf(c);
  std::vector<float> bias = small(c.outputs, 4), residual = small(count(c.y()), 5),
                     sums(v.y.size());
  meet(c, [&](size_t i, size_t j, size_t k) { sums[k] += v.x[i] * v.w[j]; });
  json addBias = added(tensor({1, c.outputs, 1, 1}, false)), addAll = added(tensor(c.y(), false));
  size_t plane = static_cast<size_t>(c.y()[2] * c.y()[3]);
  auto expected = [&](bool all, auto activation) {
    std::vector<float> y = sums;
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = activation(y[i] + (all ? residual[i] : 0) +
                        bias[i / plane % static_cast<size_t>(c.outputs)]);
    return y;
  };
  json desc = descOf(c, "convolution");
  desc["post"] = {addBias};
  EXPECT_EQ(run(desc, {v.x, v.w, bias}, sums.size()), expected(false, [](float x) { return x; }));
  desc["post"] = {addBias, {{"op", "relu"}}};
  EXPECT_EQ(run(desc, {v.x, v.w, bias}, sums.size()),
            expected(false, [](float x) { return std::max(x, 0.0f); }));
  desc["post"] = {addAll, addBias, {{"op", "relu"}, {"upper", 6.0}}};
  EXPECT_EQ(run(desc, {v.x, v.w, residual, bias}, sums.size()),
            expected(true, [](float x) { return std::clamp(x, 0.0f, 6.0f); }));
  desc["post"] = {addBias, {{"op", "elu"}, {"alpha", 0.5}}};
  std::vector<float> y = run(desc, {v.x, v.w, bias}, sums.size()),
                     wanted =
                         expected(false, [](float x) { return x > 0 ? x : 0.5f * std::expm1(x); });
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], wanted[i], 1e-6);
}

/// The library's first proposal is an engine that rounds to tf32. f32 convolutions must not use it
/// unless tf32 is permitted.
TEST_F(Cudnn, RoundsOnlyWhereAllowed) {
  if (!emulated())
    GTEST_SKIP() << "a real library may choose otherwise";
  Case c;
  c.channels = c.outputs = c.window = c.batch = c.height = c.width = 1;
  c.low = c.high = 0;
  float fine = 1 + 1.0f / 4096;
  json desc = descOf(c, "convolution");
  EXPECT_EQ(run(desc, {{fine}, {1}}, 1), std::vector<float>{fine});
  desc["math"] = "tf32";
  EXPECT_EQ(run(desc, {{fine}, {1}}, 1), std::vector<float>{1});
}

TEST_F(Cudnn, PlansStayWithinTheWorkspace) {
  Case c;
  Values v = valuesOf(c);
  std::vector<uint64_t> bytes = {v.x.size() * 4, v.w.size() * 4, v.y.size() * 4};
  json desc = descOf(c, "convolution");
  Made roomy = make(desc, bytes, {0, 0, 1});
  desc["workspace"] = 1000;
  Made tight = make(desc, bytes, {0, 0, 1});
  ASSERT_TRUE(roomy.call && tight.call) << roomy.error << tight.error;
  EXPECT_LE(tight.workspace, 1000u);
  if (emulated()) {
    EXPECT_EQ(roomy.workspace, 1u << 20);
  }
  table().library_destroy(device, roomy.call);
  table().library_destroy(device, tight.call);
  desc.erase("workspace");
  for (int engine : {2, 99}) {
    desc["engine"] = engine;
    EXPECT_EQ(run(desc, {v.x, v.w}, v.y.size()).size(), v.y.size());
  }
}

TEST_F(Cudnn, RunsInACapturedStream) {
  Case c;
  Values v = valuesOf(c);
  void *s = stream(), *x = allocate(v.x.size() * 4), *w = allocate(v.w.size() * 4),
       *y = allocate(v.y.size() * 4), *graph = nullptr;
  upload(s, w, v.w);
  ok(table().stream_synchronize, device, s);
  Made made =
      make(descOf(c, "convolution"), {v.x.size() * 4, v.w.size() * 4, v.y.size() * 4}, {0, 0, 1});
  ASSERT_NE(made.call, nullptr) << made.error;
  void *workspace = made.workspace ? allocate(made.workspace) : nullptr;
  void *buffers[] = {x, w, y};
  ok(table().capture_begin, device, s);
  ok(table().library_run, device, s, made.call, static_cast<void *const *>(buffers), workspace);
  ok(table().capture_end, device, s, &graph);
  for (int round = 0; round < 2; ++round) {
    v.x = small(count(c.x()), 10 + round);
    std::vector<float> wanted(v.y.size());
    meet(c, [&](size_t i, size_t j, size_t k) { wanted[k] += v.x[i] * v.w[j]; });
    upload(s, x, v.x);
    ok(table().graph_launch, device, graph, s);
    EXPECT_EQ(download(s, y, wanted.size()), wanted);
  }
  table().graph_destroy(device, graph);
  table().library_destroy(device, made.call);
}

TEST_F(Cudnn, WrongCallsAreRefused) {
  Case c;
  std::vector<uint64_t> bytes = {static_cast<uint64_t>(count(c.x())) * 4,
                                 static_cast<uint64_t>(count(c.w())) * 4,
                                 static_cast<uint64_t>(count(c.y())) * 4};
  auto refusal = [&](const char *key, json value) {
    json desc = descOf(c, "convolution");
    desc[key] = std::move(value);
    return make(desc, bytes, {0, 0, 1}).error;
  };
  auto expectIn = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expectIn(refusal("kind", "pool"),
           "'kind' must be convolution, data_gradient, weight_gradient or attention");
  expectIn(refusal("dtype", "i8"), "element type 'i8' is not supported");
  expectIn(refusal("dtype", 3), "'dtype' must be a string");
  expectIn(refusal("x", 3), "required: an object; found: 3");
  expectIn(refusal("x", {{"dims", {2, 4}}, {"strides", {4, 1}}}), "3 to 5 dimensions");
  expectIn(refusal("x", {{"dims", {2, 4, 7, 6}}, {"strides", {168, 42, 6}}}),
           "with a stride for each");
  expectIn(refusal("strides", {0, 1}), "'strides' must be 2 integers from 1 to");
  expectIn(refusal("low", {-1, 0}), "'low' must be 2 integers from 0 to");
  expectIn(refusal("post", 1), "'post' must be a list of at most 32");
  expectIn(refusal("post", {{{"op", "sqrt"}}}), "'op' must be add, relu");
  for (const json &wrong : {json(-1), json(1e300), json("1")})
    expectIn(refusal("engine", wrong), "'engine' must be an integer from 1 to");
  expectIn(refusal("alignment", 1e300), "'alignment' must be an integer from 1 to");
  expectIn(refusal("y", tensor({2, 6, 7, 5}, false)), "creating a convolution operation");
  expectIn(refusal("post", {{{"op", "relu"}}}), "no engine for this convolution");
  json desc = descOf(c, "convolution");
  expectIn(make(desc, {bytes[0], bytes[1]}, {0, 1}).error, "requires 3 buffers; found: 2");
  expectIn(make(desc, {bytes[0] - 1, bytes[1], bytes[2]}, {0, 0, 1}).error, "buffer 'x' has ");
  expectIn(make(desc, bytes, {0, 0, 0}).error,
           "'y' is written, but is part of a constant or an input");
  Made good = make(desc, bytes, {0, 0, 1});
  EXPECT_EQ(good.error, "");
  table().library_destroy(device, good.call);
}

} // namespace
