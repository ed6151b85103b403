//===- CublasLtTest.cpp - compares cuBLASLt's GEMMs with loops -------------------===//
#include "test/runtime/device/cuda/Gpu.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

using namespace dlc::cuda::test;
using nlohmann::json;

namespace {

struct Case {
  int64_t m, n, k, batch = 1;
  bool transA = false, transB = false, sharedB = false, bias = false, relu = false;
};

struct Numbers {
  std::vector<float> a, b, bias;
};

/// Small integers, whose short sums are exact in every type.
std::vector<float> small(int64_t count, int seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 5) % 9) - 4;
  return values;
}

template <class To, class From> std::vector<To> sameBytes(const std::vector<From> &values) {
  std::vector<To> bytes(values.size() * sizeof(From) / sizeof(To));
  std::memcpy(bytes.data(), values.data(), bytes.size() * sizeof(To));
  return bytes;
}

json descOf(const Case &c) {
  json desc = {{"kind", "matmul"}, {"dtype", "f32"}, {"result", "f32"}, {"m", c.m},
               {"n", c.n},         {"k", c.k},       {"batch", c.batch}};
  desc["a"] = c.transA ? json{c.m * c.k, 1, c.m} : json{c.m * c.k, c.k, 1};
  desc["b"] =
      c.transB ? json{c.sharedB ? 0 : c.n * c.k, 1, c.k} : json{c.sharedB ? 0 : c.n * c.k, c.n, 1};
  desc["y"] = {c.m * c.n, c.n, 1};
  if (c.bias)
    desc["bias"] = "f32";
  if (c.relu)
    desc["relu"] = true;
  return desc;
}

Numbers numbersOf(const Case &c) {
  return {small(c.batch * c.m * c.k, 1), small((c.sharedB ? 1 : c.batch) * c.n * c.k, 2),
          small(c.n, 3)};
}

std::vector<float> expected(const Case &c, const Numbers &x) {
  std::vector<float> y;
  for (int64_t batch = 0; batch < c.batch; ++batch)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        float sum = c.bias ? x.bias[static_cast<size_t>(j)] : 0;
        for (int64_t l = 0; l < c.k; ++l)
          sum +=
              x.a[static_cast<size_t>(batch * c.m * c.k + (c.transA ? l * c.m + i : i * c.k + l))] *
              x.b[static_cast<size_t>((c.sharedB ? 0 : batch * c.n * c.k) +
                                      (c.transB ? j * c.k + l : l * c.n + j))];
        y.push_back(c.relu ? std::max(sum, 0.0f) : sum);
      }
  return y;
}

class CublasLt : public Gpu {
protected:
  struct Made {
    void *call = nullptr;
    uint64_t workspace = 0;
    std::string error;
  };

  Made make(const json &desc, std::vector<uint64_t> bytes, std::vector<uint8_t> writable) {
    Made made;
    char error[1024] = "";
    table().library_make(device, "cublaslt", desc.dump().c_str(), bytes.data(), writable.data(),
                         bytes.size(), &made.call, &made.workspace, error, sizeof error);
    made.error = error;
    return made;
  }

  /// Runs the case and compares the result with the expected one.
  void check(const Case &c, json desc) {
    Numbers x = numbersOf(c);
    std::vector<float> wanted = expected(c, x);
    std::vector<std::vector<float>> inputs = {x.a, x.b};
    if (c.bias)
      inputs.push_back(x.bias);
    void *s = stream();
    std::vector<void *> buffers;
    std::vector<uint64_t> bytes;
    for (auto &values : inputs) {
      bytes.push_back(values.size() * 4);
      buffers.push_back(allocate(bytes.back()));
      upload(s, buffers.back(), values);
    }
    bytes.push_back(wanted.size() * 4);
    buffers.push_back(allocate(bytes.back()));
    std::vector<uint8_t> writable(bytes.size());
    writable.back() = 1;
    Made made = make(desc, bytes, writable);
    ASSERT_NE(made.call, nullptr) << made.error;
    void *workspace = made.workspace ? allocate(made.workspace) : nullptr;
    ok(table().library_run, device, s, made.call, static_cast<void *const *>(buffers.data()),
       workspace);
    EXPECT_EQ(download(s, buffers.back(), wanted.size()), wanted);
    table().library_destroy(device, made.call);
  }
};

TEST_F(CublasLt, Products) {
  for (int64_t batch : {1, 3})
    for (int bits = 0; bits < 32; ++bits) {
      Case c{5,
             7,
             11,
             batch,
             (bits & 1) != 0,
             (bits & 2) != 0,
             (bits & 4) != 0,
             (bits & 8) != 0,
             (bits & 16) != 0};
      SCOPED_TRACE(descOf(c).dump());
      check(c, descOf(c));
    }
}

TEST_F(CublasLt, ProductsOfIntegers) {
  // cuBLASLt multiplies 8-bit integers only if both operands are contiguous along k.
  constexpr int64_t m = 5, n = 8, k = 12;
  std::vector<int8_t> a(m * k), b(n * k);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<int8_t>(i * 37 % 256);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<int8_t>(i * 91 % 256);
  std::vector<int32_t> wanted;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (size_t l = 0; l < k; ++l)
        sum += a[i * k + l] * b[j * k + l];
      wanted.push_back(sum);
    }
  json desc = {{"kind", "matmul"}, {"dtype", "i8"}, {"result", "i32"}, {"m", m},
               {"n", n},           {"k", k},        {"batch", 1},      {"a", {0, k, 1}},
               {"b", {0, 1, k}},   {"y", {0, n, 1}}};
  void *s = stream(), *left = allocate(a.size()), *right = allocate(b.size()),
       *to = allocate(wanted.size() * 4);
  upload(s, left, sameBytes<float>(a));
  upload(s, right, sameBytes<float>(b));
  Made made = make(desc, {a.size(), b.size(), wanted.size() * 4}, {0, 0, 1});
  ASSERT_NE(made.call, nullptr) << made.error;
  void *workspace = made.workspace ? allocate(made.workspace) : nullptr;
  void *buffers[] = {left, right, to};
  ok(table().library_run, device, s, made.call, static_cast<void *const *>(buffers), workspace);
  EXPECT_EQ(sameBytes<int32_t>(download(s, to, wanted.size())), wanted);
  table().library_destroy(device, made.call);
}

TEST_F(CublasLt, OneRowAndOneColumn) {
  for (Case c : {Case{1, 64, 32}, Case{33, 1, 16}, Case{1, 1, 1}, Case{8, 16, 1}})
    check(c, descOf(c));
}

TEST_F(CublasLt, AnotherAlgorithmHasAWorkspace) {
  Case c{16, 24, 8};
  json desc = descOf(c);
  desc["algorithm"] = 2;
  desc["workspace"] = 4096;
  check(c, desc);
  Made made = make(desc, {512, 768, 1536}, {0, 0, 1});
  ASSERT_NE(made.call, nullptr) << made.error;
  EXPECT_LE(made.workspace, 4096u);
  table().library_destroy(device, made.call);
}

TEST_F(CublasLt, RunsInACapturedStream) {
  Case c{8, 8, 8, 1, false, false, false, true};
  Numbers x = numbersOf(c);
  void *s = stream(), *a = allocate(256), *b = allocate(256), *bias = allocate(32),
       *y = allocate(256);
  upload(s, b, x.b);
  upload(s, bias, x.bias);
  ok(table().stream_synchronize, device, s);
  Made made = make(descOf(c), {256, 256, 32, 256}, {0, 0, 0, 1});
  ASSERT_NE(made.call, nullptr) << made.error;
  void *workspace = made.workspace ? allocate(made.workspace) : nullptr, *graph = nullptr;
  void *buffers[] = {a, b, bias, y};
  ok(table().capture_begin, device, s);
  ok(table().library_run, device, s, made.call, static_cast<void *const *>(buffers), workspace);
  ok(table().capture_end, device, s, &graph);
  for (int round = 0; round < 2; ++round) {
    x.a = small(64, 10 + round);
    upload(s, a, x.a);
    ok(table().graph_launch, device, graph, s);
    EXPECT_EQ(download(s, y, 64), expected(c, x));
  }
  table().graph_destroy(device, graph);
  table().library_destroy(device, made.call);
}

TEST_F(CublasLt, WrongCallsAreRefused) {
  Case c{5, 7, 11};
  auto refusal = [&](const char *key, json value) {
    json desc = descOf(c);
    desc[key] = std::move(value);
    return make(desc, {220, 308, 140}, {0, 0, 1}).error;
  };
  json mixed = descOf(c);
  mixed["result"] = "f64";
  auto expectIn = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expectIn(refusal("kind", "conv"), "'kind' must be matmul; found: \"conv\"");
  expectIn(refusal("dtype", "i16"), "element type 'i16' is not supported");
  expectIn(refusal("dtype", "i8"), "no algorithm on cuda:0");
  expectIn(refusal("dtype", 3), "'dtype' must be a string");
  expectIn(refusal("m", 0), "'m' must be an integer from 1 to 1099511627776; found: 0");
  expectIn(refusal("a", {55, 10, 1}), "'a' of 5x11 has strides [55, 10, 1]");
  expectIn(refusal("a", {55, 11}), "'a' must be 3 integers from 0");
  expectIn(refusal("y", {35, 1, 5}), "'y' of 5x7 has strides");
  expectIn(refusal("bias", "f32"), "requires 4 buffers; found: 3");
  expectIn(make(mixed, {220, 308, 280}, {0, 0, 1}).error, "no algorithm on cuda:0");
  json desc = descOf(c);
  expectIn(make(desc, {219, 308, 140}, {0, 0, 1}).error,
           "buffer 'a' has 219 bytes; required: 220 bytes");
  expectIn(make(desc, {220, 308, 139}, {0, 0, 1}).error, "buffer 'y' has 139 bytes");
  expectIn(make(desc, {220, 308, 140}, {0, 0, 0}).error,
           "'y' is written, but is part of a constant or an input");
  Made good = make(desc, {220, 308, 140}, {0, 0, 1});
  EXPECT_EQ(good.error, "");
  table().library_destroy(device, good.call);
}

} // namespace
