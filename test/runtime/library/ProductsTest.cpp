//===- ProductsTest.cpp - f32 matmuls on AMX tiles and in vectors ---------------===//
#include "ProductsSample.h"

#include "runtime/library/tiles/Describe.h"
#include "runtime/library/vectors/Describe.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Size {
  int64_t m, n, k;
};

/// A kernel: on tiles with f32 split into `parts` bf16 parts, or in vectors of `lanes` elements,
/// with or without Strassen's algorithm.
struct How {
  int parts = 0;
  int64_t lanes = 0;
  bool isStrassen = false;

  bool isHere() const { return parts ? tiles::isAvailable() : vectors::lanes() >= lanes; }
  json describe(int64_t m, int64_t n, int64_t k) const {
    json desc = {{"kind", "product"}, {"m", m}, {"n", n}, {"k", k}};
    parts ? desc["parts"] = parts : desc["lanes"] = lanes;
    if (isStrassen)
      desc["strassen"] = true;
    return desc;
  }
  products::KernelConfig form(int64_t rows) const {
    return parts ? tiles::makeKernelConfig(parts) : vectors::makeKernelConfig(lanes, rows);
  }
  bool takes(Size s) const { return !isStrassen || (s.m >= 28 && s.n > 32 && s.k > 1); }
  /// Error bound relative to the sum of the magnitudes of the terms. In Strassen's algorithm the
  /// errors of other sums contribute. Without FMA, the products are rounded, too.
  double bound() const {
    bool hasFma = runtime::hostSupports(runtime::InstructionSet::Avx2);
    return (isStrassen ? 0x1p-18 : 0x1p-21) * (hasFma ? 1 : 2);
  }
  /// Packs w of shape [k, n].
  std::shared_ptr<Aligned> pack(const float *w, int64_t row, int64_t column, int64_t k,
                                int64_t n) const {
    auto packed = std::make_shared<Aligned>(packedBytes(k, n));
    if (parts)
      tiles::packWeights(w, row, column, k, n, parts, packed->data.get());
    else
      vectors::packWeights(w, row, column, k, n, lanes, packed->data.get());
    return packed;
  }
  uint64_t packedBytes(int64_t k, int64_t n) const {
    return parts ? tiles::packedBytes(k, n, parts) : vectors::packedBytes(k, n, lanes);
  }
};

/// Layout of a's and b's elements: row-major, column-major, or with gaps between elements.
enum class OperandLayout { Rows, Columns, Apart };

struct Operand {
  Operand(int64_t rows, int64_t columns, OperandLayout layout, unsigned seed)
      : row(layout == OperandLayout::Rows      ? columns
            : layout == OperandLayout::Columns ? 1
                                               : 2 * columns + 3),
        column(layout == OperandLayout::Rows      ? 1
               : layout == OperandLayout::Columns ? rows
                                                  : 2),
        values(random((rows - 1) * row + (columns - 1) * column + 1, seed)) {}
  double at(int64_t i, int64_t j) const {
    return static_cast<double>(values[static_cast<size_t>(i * row + j * column)]);
  }
  int64_t row, column;
  std::vector<float> values;
};

/// Returns the largest error against f64, relative to the sum of the magnitudes of the terms.
double errorOf(Size s, How how, OperandLayout a, OperandLayout b, bool packed, int threads) {
  Operand x(s.m, s.k, a, 1), w(s.k, s.n, b, 2);
  std::vector<float> y(static_cast<size_t>(s.m * s.n), NAN);
  json desc = how.describe(s.m, s.n, s.k);
  desc["a"] = {x.row, x.column};
  desc["b"] = {w.row, w.column};
  desc["dst"] = {s.n, 1};
  if (packed) {
    desc["b"] = "packed";
    auto weights = how.pack(w.values.data(), w.row, w.column, s.k, s.n);
    run(desc, {&x.values, &w.values, &y}, 2, threads, weights->data.get(),
        how.packedBytes(s.k, s.n));
  } else {
    run(desc, {&x.values, &w.values, &y}, 2, threads);
  }
  double worst = 0;
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0, size = 0;
      for (int64_t l = 0; l < s.k; ++l) {
        sum += x.at(i, l) * w.at(l, j);
        size += std::fabs(x.at(i, l) * w.at(l, j));
      }
      double error = std::fabs(sum - static_cast<double>(y[static_cast<size_t>(i * s.n + j)]));
      worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error / size);
    }
  return worst;
}

class Tiles : public testing::Test {
protected:
  void SetUp() override {
    if (!tiles::isAvailable())
      GTEST_SKIP() << "this processor has no AMX tiles for bf16";
  }
};

/// Kernels as accurate as f32: vectors, and tiles with six products of bf16 parts.
class Products : public testing::TestWithParam<How> {
protected:
  void SetUp() override {
    if (!GetParam().isHere())
      GTEST_SKIP() << "this processor does not have the instructions";
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, Products,
                         testing::Values(How{3, 0}, How{0, 16}, How{0, 8}, How{0, 16, true},
                                         How{0, 8, true}),
                         [](const auto &form) {
                           return form.param.parts
                                      ? std::string("Tiles")
                                      : (form.param.isStrassen ? "Strassen" : "Vectors") +
                                            std::to_string(form.param.lanes);
                         });

/// Memory after a packed operand may belong to another thread.
TEST_P(Products, PackedOperandsEndWhereTheySay) {
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8, 13, 14, 33})
    for (int64_t depths : {1, 2, 3, 15, 16, 17, 31, 64})
      for (OperandLayout layout :
           {OperandLayout::Rows, OperandLayout::Columns, OperandLayout::Apart}) {
        SCOPED_TRACE(testing::Message() << rows << "x" << depths << " layout " << int(layout));
        const products::KernelConfig form = GetParam().form(rows);
        const int64_t steps = (depths + form.depth - 1) / form.depth;
        auto check = [&](auto pack, int64_t lanes, int64_t width, int64_t stepBytes) {
          Operand x(lanes, depths, layout, 1);
          Aligned packed(static_cast<uint64_t>((lanes + width - 1) / width * steps * stepBytes));
          pack(form, {x.values.data(), x.row, x.column, lanes, depths}, {}, packed.data.get());
          EXPECT_FALSE(packed.isOverrun());
        };
        check(form.packLeft, rows, form.rows, form.leftBytes);
        check(form.packRight, rows, form.columns, form.rightBytes);
      }
}

constexpr Size kSizes[] = {{1, 1, 1},       {5, 3, 2},        {16, 16, 32},   {17, 33, 31},
                           {32, 32, 64},    {28, 33, 2},      {29, 65, 3},    {65, 70, 600},
                           {37, 1100, 65},  {2100, 40, 33},   {63, 95, 1537}, {30, 64, 1025},
                           {4200, 130, 21}, {113, 130, 1028}, {169, 66, 40},  {100, 70, 33}};

TEST_F(Tiles, ThreeProductsKeepSixteenBits) {
  for (Size size : kSizes)
    for (OperandLayout a : {OperandLayout::Rows, OperandLayout::Columns, OperandLayout::Apart})
      for (OperandLayout b : {OperandLayout::Rows, OperandLayout::Columns, OperandLayout::Apart})
        for (bool packed : {false, true}) {
          SCOPED_TRACE(testing::Message() << size.m << "x" << size.n << "x" << size.k << " layout "
                                          << int(a) << int(b) << (packed ? " packed" : ""));
          double error = errorOf(size, {2}, a, b, packed, size.m % 2 ? 2 : 1);
          // With few terms the errors do not average out.
          EXPECT_LT(error, size.k < 16 ? 0x1p-15 : 0x1p-16);
        }
  EXPECT_GT(errorOf({64, 64, 64}, {2}, OperandLayout::Rows, OperandLayout::Rows, false, 2),
            0x1p-22);
}

TEST_P(Products, AreAsGoodAsF32) {
  for (Size size : kSizes)
    for (OperandLayout a : {OperandLayout::Rows, OperandLayout::Columns, OperandLayout::Apart})
      for (OperandLayout b : {OperandLayout::Rows, OperandLayout::Columns, OperandLayout::Apart})
        for (bool packed : {false, true}) {
          if (!GetParam().takes(size) || (packed && GetParam().isStrassen))
            continue;
          SCOPED_TRACE(testing::Message() << size.m << "x" << size.n << "x" << size.k << " layout "
                                          << int(a) << int(b) << (packed ? " packed" : ""));
          EXPECT_LT(errorOf(size, GetParam(), a, b, packed, size.m % 2 ? 3 : 1),
                    GetParam().bound());
        }
}

TEST_P(Products, PanelsNeedNotDivideByThreads) {
  for (Size size : {Size{43, 650, 530}, {30, 1000, 600}, {100, 290, 1100}})
    for (int threads : {2, 3, 5, 7})
      for (bool packed : {false, true}) {
        if (!GetParam().takes(size) || (packed && GetParam().isStrassen))
          continue;
        SCOPED_TRACE(testing::Message() << size.m << "x" << size.n << "x" << size.k << " for "
                                        << threads << (packed ? " packed" : ""));
        EXPECT_LT(
            errorOf(size, GetParam(), OperandLayout::Rows, OperandLayout::Rows, packed, threads),
            GetParam().bound());
      }
}

TEST_F(Tiles, OnePartIsRounding) {
  EXPECT_GT(errorOf({16, 16, 64}, {1}, OperandLayout::Rows, OperandLayout::Rows, false, 1),
            0x1p-14);
}

TEST_P(Products, ABatchRunsOneByOne) {
  if (GetParam().isStrassen)
    GTEST_SKIP() << "one at a time";
  constexpr int64_t b = 5, m = 20, n = 40, k = 50;
  std::vector<float> x = random(b * m * k, 1), w = random(b * k * n, 2),
                     y(static_cast<size_t>(2 * b * m * n));
  // Two results for each left operand, which share it and the right operand, written in a different
  // order.
  json desc = GetParam().describe(m, n, k);
  desc["batch"] = {b, 2};
  desc["a"] = {m * k, 0, k, 1};
  desc["b"] = {k * n, 0, n, 1};
  desc["dst"] = {m * n, b * m * n, n, 1};
  for (int threads : {1, 2, 4}) {
    std::fill(y.begin(), y.end(), NAN);
    run(desc, {&x, &w, &y}, 2, threads);
    for (int64_t batch = 0; batch < b; ++batch)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t l = 0; l < k; ++l)
            sum += static_cast<double>(x[static_cast<size_t>((batch * m + i) * k + l)]) *
                   static_cast<double>(w[static_cast<size_t>((batch * k + l) * n + j)]);
          for (int64_t copy = 0; copy < 2; ++copy)
            ASSERT_NEAR(y[static_cast<size_t>(((copy * b + batch) * m + i) * n + j)], sum, 1e-3);
        }
  }
}

TEST_P(Products, ABatchMayShareItsRightOperand) {
  if (GetParam().isStrassen)
    GTEST_SKIP() << "one at a time";
  constexpr int64_t b = 7, m = 45, n = 70, k = 600;
  std::vector<float> x = random(b * m * k, 1), w = random(k * n, 2), y(b * m * n);
  // The rows of the left operands are interleaved: [m, b, k].
  json desc = GetParam().describe(m, n, k);
  desc["batch"] = json::array({b});
  desc["a"] = {k, b * k, 1};
  desc["dst"] = {m * n, n, 1};
  auto packed = GetParam().pack(w.data(), n, 1, k, n);
  for (bool isPacked : {false, true})
    for (int threads : {1, 2, 3}) {
      std::fill(y.begin(), y.end(), NAN);
      desc["b"] = isPacked ? json("packed") : json{0, n, 1};
      run(desc, {&x, &w, &y}, 2, threads, isPacked ? packed->data.get() : nullptr,
          GetParam().packedBytes(k, n));
      for (int64_t batch = 0; batch < b; ++batch)
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (int64_t l = 0; l < k; ++l)
              sum += static_cast<double>(x[static_cast<size_t>((i * b + batch) * k + l)]) *
                     static_cast<double>(w[static_cast<size_t>(l * n + j)]);
            ASSERT_NEAR(y[static_cast<size_t>((batch * m + i) * n + j)], sum, 1e-3);
          }
    }
}

/// Checks y = f(scale x·w + bias), where `f` computes the expected value of the post-ops.
void checkPosts(How how, json posts, bool bias, float scale, int64_t k,
                const std::function<double(double sum, double operand, double old)> &f) {
  constexpr int64_t m = 35, n = 50;
  std::vector<float> x = random(m * k, 1), w = random(k * n, 2), b = random(n, 3),
                     y = random(m * n, 4), operand = random(m * n, 5), old = y;
  json desc = how.describe(m, n, k);
  desc["a"] = {k, 1};
  desc["b"] = {n, 1};
  desc["dst"] = {n, 1};
  desc["bias"] = bias;
  desc["scale"] = scale;
  desc["post_ops"] = posts;
  std::vector<std::vector<float> *> buffers = {&x, &w};
  if (bias)
    buffers.push_back(&b);
  buffers.push_back(&y);
  size_t dst = buffers.size() - 1;
  for (const json &post : posts)
    if (post["kind"] == "binary")
      buffers.push_back(&operand);
  run(desc, buffers, dst, 2);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int64_t l = 0; l < k; ++l) {
        double term = static_cast<double>(x[static_cast<size_t>(i * k + l)]) *
                      static_cast<double>(w[static_cast<size_t>(l * n + j)]);
        sum += term;
        size += std::fabs(term);
      }
      auto at = static_cast<size_t>(i * n + j);
      sum = static_cast<double>(scale) * sum +
            (bias ? static_cast<double>(b[static_cast<size_t>(j)]) : 0);
      double wanted = f(sum, static_cast<double>(operand[at]), static_cast<double>(old[at]));
      const double share = how.isStrassen ? 4e-7 : 2e-7;
      ASSERT_NEAR(y[at], wanted, 3e-5 * std::max(1.0, std::fabs(wanted)) + share * size)
          << i << ", " << j;
    }
}

json eltwise(const char *alg, float alpha = 0, float beta = 0) {
  return {{"kind", "eltwise"}, {"alg", alg}, {"alpha", alpha}, {"beta", beta}};
}

TEST_P(Products, EpiloguesComeOnce) {
  auto erf = [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); };
  for (int64_t k : {20, 700}) {
    checkPosts(GetParam(), json::array(), true, -0.5f, k,
               [](double v, double, double) { return v; });
    checkPosts(GetParam(), {eltwise("relu", 0.25f)}, true, 1, k,
               [](double v, double, double) { return v < 0 ? v / 4 : v; });
    checkPosts(GetParam(), {eltwise("clip", -1, 6)}, true, 1, k,
               [](double v, double, double) { return std::clamp(v, -1.0, 6.0); });
    checkPosts(GetParam(), {eltwise("linear", 2, 1)}, false, 1, k,
               [](double v, double, double) { return 2 * v + 1; });
    checkPosts(GetParam(), {eltwise("logistic")}, true, 0.1f, k,
               [](double v, double, double) { return 1 / (1 + std::exp(-v)); });
    checkPosts(GetParam(), {eltwise("tanh")}, true, 0.1f, k,
               [](double v, double, double) { return std::tanh(v); });
    checkPosts(GetParam(), {eltwise("gelu_erf")}, true, 0.3f, k,
               [&](double v, double, double) { return erf(v); });
    checkPosts(GetParam(), {eltwise("gelu_tanh")}, true, 0.3f, k, [](double v, double, double) {
      return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    });
    checkPosts(GetParam(), {eltwise("softsign")}, true, 0.1f, k,
               [](double v, double, double) { return v / (1 + std::fabs(v)); });
    checkPosts(GetParam(), {eltwise("square")}, true, 0.1f, k,
               [](double v, double, double) { return v * v; });
    json add = {{"kind", "binary"}, {"alg", "add"}, {"strides", {50, 1}}}, mul = add, sub = add;
    mul["alg"] = "mul";
    sub["alg"] = "sub";
    checkPosts(GetParam(), {add, mul}, true, 1, k,
               [](double v, double o, double) { return (v + o) * o; });
    checkPosts(GetParam(), {sub, eltwise("relu")}, false, 1, k,
               [](double v, double o, double) { return std::max(v - o, 0.0); });
    auto gradient = [&](const char *of) {
      json post = add;
      post["alg"] = of;
      return post;
    };
    checkPosts(GetParam(), {gradient("logistic_gradient")}, true, 0.1f, k,
               [](double v, double y, double) { return v * y * (1 - y); });
    checkPosts(GetParam(), {add, gradient("tanh_gradient")}, false, 0.1f, k,
               [](double v, double y, double) { return (v + y) * (1 - y * y); });
    checkPosts(GetParam(), {gradient("relu_gradient")}, true, 1, k,
               [](double v, double y, double) { return y > 0 ? v : 0; });
    checkPosts(GetParam(), {json{{"kind", "sum"}}}, false, -0.01f, k,
               [](double v, double, double old) { return v + old; });
  }
  checkPosts(GetParam(), {eltwise("relu"), json{{"kind", "sum"}, {"scale", 0.5}}}, true, 1, 20,
             [](double v, double, double old) { return std::max(v, 0.0) + old / 2; });
}

TEST_P(Products, ReluLetsNothingPassWhereItWasClosed) {
  constexpr int64_t m = 28, n = 37, k = 3;
  std::vector<float> x = random(m * k, 1), w = random(k * n, 2), y = random(m * n, 3),
                     dst(static_cast<size_t>(m * n));
  y[1] = NAN, y[2] = -0.0f, y[3] = INFINITY;
  std::fill(x.begin(), x.begin() + k, NAN);
  json desc = GetParam().describe(m, n, k);
  desc["a"] = {k, 1};
  desc["b"] = {n, 1};
  desc["dst"] = {n, 1};
  json post = {{"kind", "binary"}, {"strides", {n, 1}}};
  for (const char *of : {"relu_gradient", "logistic_gradient", "tanh_gradient"}) {
    post["alg"] = of;
    desc["post_ops"] = json::array({post});
    run(desc, {&x, &w, &dst, &y}, 2, 1);
    bool cuts = post["alg"] == "relu_gradient";
    for (int64_t j = 0; j < n; ++j) {
      auto at = static_cast<size_t>(j);
      ASSERT_EQ(std::isnan(dst[at]), !cuts || y[at] > 0) << of << ", " << j;
    }
    ASSERT_TRUE(std::isfinite(dst.back()));
  }
}

/// An operand that the kernel computes from rows of x while it packs them, by optional subtraction,
/// exponential, factor and one-hot terms.
struct Made {
  int64_t rows = 0, columns = 0;
  bool exponential = true, perRow = true, hot = true;
  std::vector<float> x, shift, factor, index; ///< index: each i64 occupies two floats
  std::vector<int64_t> classes;

  Made(int64_t rows, int64_t columns, bool exponential, bool perRow, bool hot)
      : rows(rows), columns(columns), exponential(exponential), perRow(perRow), hot(hot),
        x(random(rows * columns, 7)), shift(random(perRow ? rows : 1, 8)),
        factor(random(perRow ? rows : 1, 9)), index(static_cast<size_t>(2 * rows)) {
    for (int64_t r = 0; r < rows; ++r)
      classes.push_back(r % 5 == 4 ? -1 : (r * 37) % columns); // -1 selects no column
    std::memcpy(index.data(), classes.data(), classes.size() * sizeof(int64_t));
  }
  double at(int64_t r, int64_t c) const {
    auto row = static_cast<size_t>(perRow ? r : 0);
    double v = double(x[static_cast<size_t>(r * columns + c)]) - double(shift[row]);
    v = (exponential ? std::exp(v) : v) * double(factor[row]);
    return v + (hot && classes[static_cast<size_t>(r)] == c ? -0.75 : 0);
  }
  json describe(const char *of, bool sums) const {
    json desc = {{"of", of},
                 {"row", columns},
                 {"exp", exponential},
                 {"shift", int(perRow)},
                 {"factor", int(perRow)}};
    if (hot)
      desc["hot"] = -0.75;
    if (sums)
      desc["sums"] = true;
    return desc;
  }
};

/// Checks y = made · w or madeᵀ · w (if `left`), or w · made or w · madeᵀ, and the sums of made's
/// columns.
void checkPrologue(const Made &made, bool left, bool transposed, int64_t other, int threads) {
  int64_t lanes = transposed == left ? made.columns : made.rows;
  int64_t k = transposed == left ? made.rows : made.columns, m = left ? lanes : other,
          n = left ? other : lanes;
  Made source = made;
  std::vector<float> w = random(other * k, 3), y(static_cast<size_t>(m * n), NAN),
                     sums(static_cast<size_t>(made.columns), NAN);
  bool across = left == transposed;
  json own = across ? json{1, made.columns} : json{made.columns, 1};
  if (!left)
    own = json{own[1], own[0]};
  json desc = {{"kind", "product"}, {"parts", 3}, {"m", m}, {"n", n}, {"k", k}, {"dst", {n, 1}}};
  desc["a"] = left ? own : json{k, 1};
  desc["b"] = left ? json{n, 1} : own;
  desc["prologue"] = made.describe(left ? "a" : "b", across);
  std::vector<std::vector<float> *> buffers = {left ? &source.x : &w, left ? &w : &source.x, &y,
                                               &source.shift, &source.factor};
  if (made.hot)
    buffers.push_back(&source.index);
  if (across)
    buffers.push_back(&sums);
  std::vector<runtime::BufferInfo> infos;
  std::vector<void *> addresses;
  for (auto *buffer : buffers) {
    infos.push_back({buffer->size() * sizeof(float), buffer == &y || buffer == &sums});
    addresses.push_back(buffer->data());
  }
  Runnable("tiles", desc, infos, threads).run(addresses.data());
  auto element = [&](int64_t lane, int64_t l) {
    return across ? made.at(l, lane) : made.at(lane, l);
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int64_t l = 0; l < k; ++l) {
        double term = left ? element(i, l) * double(w[static_cast<size_t>(l * n + j)])
                           : double(w[static_cast<size_t>(i * k + l)]) * element(j, l);
        sum += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(y[static_cast<size_t>(i * n + j)], sum, 2e-6 * size + 1e-6) << i << ", " << j;
    }
  for (int64_t c = 0; across && c < made.columns; ++c) {
    double sum = 0, size = 0;
    for (int64_t r = 0; r < made.rows; ++r) {
      sum += made.at(r, c);
      size += std::fabs(made.at(r, c));
    }
    ASSERT_NEAR(sums[static_cast<size_t>(c)], sum, 1e-6 * size + 1e-6) << c;
  }
}

TEST_F(Tiles, OperandsMayBeMadeAsTheyArePacked) {
  for (auto [rows, columns, other] : {std::array<int64_t, 3>{2, 2, 1},
                                      {33, 65, 17},
                                      {65, 31, 600},
                                      {600, 47, 33},
                                      {40, 1100, 70},
                                      {16, 32, 1030}})
    for (bool left : {true, false})
      for (bool transposed : {true, false})
        for (bool hot : {true, false}) {
          SCOPED_TRACE(testing::Message()
                       << rows << "x" << columns << " by " << other << (left ? " left" : " right")
                       << (transposed ? " turned" : ""));
          Made made(rows, columns, hot || left, hot != transposed, hot);
          checkPrologue(made, left, transposed, other, rows % 2 ? 3 : 2);
        }
}

TEST_F(Tiles, OperandsOfABatchAreMadeInTheirOwnRows) {
  constexpr int64_t b = 5, m = 33, n = 20, k = 70;
  Made made(b * m, k, true, true, true);
  std::vector<float> w = random(k * n, 3), y(b * m * n);
  json desc = {{"kind", "product"},
               {"parts", 3},
               {"m", m},
               {"n", n},
               {"k", k},
               {"batch", {b}},
               {"a", {m * k, k, 1}},
               {"b", {0, n, 1}},
               {"dst", {n, b * n, 1}},
               {"prologue", made.describe("a", false)}};
  for (int threads : {1, 2}) {
    std::fill(y.begin(), y.end(), NAN);
    run(desc, {&made.x, &w, &y, &made.shift, &made.factor, &made.index}, 2, threads);
    for (int64_t r = 0; r < b * m; ++r)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += made.at(r, l) * double(w[static_cast<size_t>(l * n + j)]);
        ASSERT_NEAR(y[static_cast<size_t>((r % m * b + r / m) * n + j)], sum, 1e-3);
      }
  }
}

TEST_F(Tiles, OnlyWhatIsFiniteStaysFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float most = 0x1.fefep+127f; // larger values may be rounded to infinity in bf16
  for (OperandLayout layout : {OperandLayout::Rows, OperandLayout::Columns})
    for (int parts : {2, 3}) {
      constexpr int64_t size = 64;
      std::vector<float> x(size * size), one(size * size), y(size * size);
      for (size_t i = 0; i < size; ++i)
        one[i * size + i] = 1;
      x[0] = infinity;
      x[size + 1] = -infinity;
      x[2 * size + 2] = NAN;
      x[3 * size + 3] = most;
      x[4 * size + 4] = -most;
      json desc = {{"kind", "product"}, {"parts", parts}, {"m", size}, {"n", size}, {"k", size}};
      desc["a"] = layout == OperandLayout::Rows ? json{size, 1} : json{1, size};
      desc["b"] = desc["a"];
      desc["dst"] = {size, 1};
      run(desc, {&x, &one, &y}, 2, 1);
      for (size_t i : {0, 1, 2})
        EXPECT_FALSE(std::isfinite(y[i * size + i]));
      EXPECT_NEAR(y[3 * size + 3] / most, 1, parts == 2 ? 0x1p-15 : 0x1p-22);
      EXPECT_NEAR(y[4 * size + 4] / most, -1, parts == 2 ? 0x1p-15 : 0x1p-22);
    }
}

/// Checks the sums of an operand's columns, computed while it is packed, and that the matmul's
/// result does not change.
void checkSums(How how, bool left, int64_t depth, int64_t lanes, int64_t other, int threads) {
  Operand x(depth, lanes, OperandLayout::Rows, 1);
  std::vector<float> w = random(depth * other, 2);
  const int64_t m = left ? lanes : other, n = left ? other : lanes;
  std::vector<float> plain(static_cast<size_t>(m * n), NAN), y = plain,
                                                             sums(static_cast<size_t>(lanes), NAN);
  json desc = how.describe(m, n, depth);
  desc["a"] = {1, m};
  desc["b"] = desc["dst"] = {n, 1};
  std::vector<float> &a = left ? x.values : w, &b = left ? w : x.values;
  run(desc, {&a, &b, &plain}, 2, threads);
  desc["prologue"] = {{"of", left ? "a" : "b"}, {"row", lanes}, {"sums", true}};
  run(desc, {&a, &b, &y, &sums}, 2, threads);
  EXPECT_EQ(y, plain);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    double sum = 0, size = 0;
    for (int64_t l = 0; l < depth; ++l) {
      sum += x.at(l, lane);
      size += std::fabs(x.at(l, lane));
    }
    ASSERT_NEAR(sums[static_cast<size_t>(lane)], sum, 3e-7 * size) << lane;
  }
}

TEST(ProductSums, AreMadeAsOperandsArePacked) {
  for (How how : {How{1}, How{2}, How{3}, How{0, 8}, How{0, 16}, How{0, 8, true}, How{0, 16, true}})
    for (auto [depth, lanes, other] : {std::array<int64_t, 3>{1, 1, 1},
                                       {2, 40, 34},
                                       {3, 33, 65},
                                       {65, 31, 600},
                                       {600, 147, 33},
                                       {40, 1100, 70},
                                       {1100, 70, 9},
                                       {517, 600, 2100},
                                       {5, 4200, 40}})
      for (bool left : {true, false})
        for (int threads : {1, 2, 3}) {
          if (!how.isHere() || !how.takes({left ? lanes : other, left ? other : lanes, depth}))
            continue;
          SCOPED_TRACE(testing::Message()
                       << how.parts << " parts, " << how.lanes << " lanes, " << depth << "x"
                       << lanes << " by " << other << (left ? " left" : " right"));
          checkSums(how, left, depth, lanes, other, threads);
        }
}

void parse(const json &desc) {
  const auto product = schema::Product::read(desc, "product");
  if (!desc.contains("lanes")) {
    const auto kernel = schema::TilesKernel::read(desc, "product");
    products::MatmulDesc matmul(product, tiles::makeKernelConfig(int(kernel.parts)));
    return;
  }
  const auto kernel = schema::VectorsKernel::read(desc, "product");
  products::MatmulDesc matmul(product, vectors::makeKernelConfig(kernel, product.m),
                              kernel.strassen);
}

TEST(ProductDescription, WrongOnesAreRefused) {
  json good = {{"kind", "product"}, {"parts", 2},    {"m", 4},      {"n", 4},
               {"k", 600},          {"a", {600, 1}}, {"b", {4, 1}}, {"dst", {4, 1}}};
  EXPECT_NO_THROW(parse(good));
  auto refusal = [&](const char *member, const json &value) {
    json wrong = good;
    wrong[member] = value;
    try {
      parse(wrong);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  auto contains = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      contains(refusal("m", 0), "'m' must be an integer from 1 to 1099511627776; found: 0"));
  EXPECT_TRUE(contains(refusal("parts", 4), "'parts' must be an integer from 1 to 3; found: 4"));
  EXPECT_TRUE(contains(refusal("lanes", 4),
                       "'lanes' must be an integer from 8 to 16, divisible by 8; found: 4"));
  EXPECT_EQ(refusal("lanes", 8), "accepted");
  EXPECT_THROW(products::MatmulDesc(schema::Product::read(good, "product"),
                                    tiles::makeKernelConfig(2), /*strassen=*/true),
               Error);
  EXPECT_TRUE(contains(refusal("a", {1, 2, 3}), "'a' must be 2 integers; found: [1, 2, 3]"));
  EXPECT_TRUE(contains(refusal("a", {-1, 1}), "'a' must be 2 integers from 0"));
  EXPECT_TRUE(contains(refusal("dst", {1, 4}), "'dst' must be row-major"));
  EXPECT_TRUE(contains(refusal("batch", {0}), "'batch' must be 1 integers from 1"));
  json prologue = {{"of", "a"}, {"row", 600}};
  good["prologue"] = {{"of", "a"}, {"row", 600}, {"factor", 1}};
  EXPECT_TRUE(contains(refusal("lanes", 8), "AMX tiles support prologues"));
  good.erase("prologue");
  EXPECT_EQ(refusal("prologue", prologue), "accepted");
  EXPECT_TRUE(contains(refusal("prologue", {{"of", "c"}, {"row", 600}}),
                       "'of' must be a or b; found: \"c\""));
  EXPECT_TRUE(
      contains(refusal("prologue", {{"of", "a"}, {"row", 599}}), "must be stored in rows of 599"));
  prologue["shift"] = 2;
  EXPECT_TRUE(
      contains(refusal("prologue", prologue), "'shift' must be an integer from 0 to 1; found: 2"));
  prologue = {{"of", "a"}, {"row", 600}, {"sums", true}};
  EXPECT_TRUE(contains(refusal("prologue", prologue), "sums require a product"));
  EXPECT_TRUE(contains(refusal("post_ops", 3), "'post_ops' must be a list"));
  EXPECT_TRUE(
      contains(refusal("post_ops", {{{"kind", "eltwise"}, {"alg", "sine"}}}), "found: \"sine\""));
  EXPECT_TRUE(contains(refusal("post_ops", {{{"kind", "sum"}, {"scale", 2}}}), "a sum must be"));
  json gradient = {{"kind", "binary"}, {"alg", "relu_gradient"}, {"strides", {4, 1}}};
  EXPECT_EQ(refusal("post_ops", json::array({gradient})), "accepted");
  gradient["strides"] = {1, 4};
  EXPECT_TRUE(contains(refusal("post_ops", json::array({gradient})), "operand must be row-major"));
  gradient["alg"] = "sine_gradient";
  EXPECT_TRUE(contains(refusal("post_ops", json::array({gradient})), "'alg' must be relu, clip, "));
  gradient["alg"] = "div";
  EXPECT_TRUE(contains(refusal("post_ops", json::array({gradient})), "binary post-op 'div'"));
  gradient["kind"] = "eltwise";
  EXPECT_TRUE(contains(refusal("post_ops", json::array({gradient})), "eltwise post-op 'div'"));
  EXPECT_TRUE(contains(refusal("kind", "matmul"), "'kind' must be product"));
  EXPECT_TRUE(contains(refusal("parts", "two"), "'parts' must be an integer"));
}

TEST(ProductDescription, QuartersNeedSomethingInEachHalf) {
  auto refusal = [](int64_t m, int64_t n, int64_t k) {
    json desc = {
        {"kind", "product"}, {"lanes", 16}, {"strassen", true}, {"m", m}, {"n", n}, {"k", k}};
    desc["a"] = {k, 1};
    desc["b"] = desc["dst"] = {n, 1};
    try {
      parse(desc);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(28, 33, 2), "accepted");
  const char *sizes = "at least 28 rows and 33 columns, and a depth of 2; found ";
  EXPECT_NE(refusal(27, 33, 2).find(sizes + std::string("27, 33, 2")), std::string::npos);
  EXPECT_NE(refusal(28, 32, 2).find(sizes + std::string("28, 32, 2")), std::string::npos);
  EXPECT_NE(refusal(28, 33, 1).find(sizes + std::string("28, 33, 1")), std::string::npos);
}

TEST_P(Products, ShortBuffersAreRefused) {
  json desc = GetParam().describe(32, 40, 8);
  desc["a"] = {8, 1};
  desc["b"] = {40, 1};
  desc["dst"] = {40, 1};
  auto refusal = [&](std::vector<runtime::BufferInfo> buffers) {
    try {
      runtime::createCall(GetParam().parts ? "tiles" : "vectors", desc, buffers, 1);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal({{1024, false}, {1280, false}, {5120, true}}), "accepted");
  EXPECT_NE(refusal({{1020, false}, {1280, false}, {5120, true}})
                .find("('a') has 1020 bytes; required: 1024"),
            std::string::npos);
  EXPECT_NE(refusal({{1024, false}, {1280, false}, {5120, false}}).find("is written"),
            std::string::npos);
  EXPECT_NE(refusal({{1024, false}, {1280, false}}).find("no buffer for 'dst': found 2 buffers"),
            std::string::npos);
}

} // namespace
