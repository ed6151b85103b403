//===- AccuracyTest.cpp - table of the errors of faster matmul algorithms and of direct sums -===//
//
// `dlc_runtime_tests --gtest_filter=Accuracy.* --gtest_brief=1` prints what docs/accuracy.md shows.
//
//===------------------------------------------------------------------------------------------===//
#include "Accuracy.h"

#include "runtime/library/tiles/Describe.h"
#include "runtime/library/vectors/Describe.h"

using namespace dlc::test;

namespace {

/// Returns the errors against f64 of direct f32 sums and of dlc's matmul kernel for m x k by k x n,
/// and the difference of both. `how` has the description's attributes other than the sizes.
std::array<double, 3> productErrors(int64_t m, int64_t n, int64_t k, const json &how) {
  Numbers a = randomNumbers(size_t(m * k), 1), b = randomNumbers(size_t(k * n), 2),
          direct(size_t(m * n)), faster(size_t(m * n), NAN);
  std::vector<double> want(size_t(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) {
        float x = a[size_t(i * k + l)], y = b[size_t(l * n + j)];
        direct[size_t(i * n + j)] += x * y;
        want[size_t(i * n + j)] += double(x) * double(y);
      }
  json desc = {{"kind", "product"}, {"m", m},      {"n", n},       {"k", k},
               {"a", {k, 1}},       {"b", {n, 1}}, {"dst", {n, 1}}};
  desc.update(how);
  std::vector<dlc::runtime::BufferInfo> infos = {{a.size() * sizeof(float), false},
                                                 {b.size() * sizeof(float), false},
                                                 {faster.size() * sizeof(float), true}};
  void *buffers[] = {a.data(), b.data(), faster.data()};
  Runnable(desc.contains("parts") ? "tiles" : "vectors", desc, infos, 1).run(buffers);
  return {errorOf(direct, want), errorOf(faster, want), apart(faster, direct)};
}

TEST(Accuracy, Products) {
  if (!dlc::tiles::isAvailable())
    GTEST_SKIP() << "this processor has no AMX tiles for bf16";
  std::printf("| terms of a sum | three bf16 products: direct, parts, apart | six bf16 products |\n"
              "|---|---|---|\n");
  for (int64_t k : {16, 64, 256, 1024, 4096}) {
    std::vector<std::array<double, 3>> columns;
    for (int parts : {2, 3}) {
      columns.push_back(productErrors(64, 64, k, {{"parts", parts}}));
      // The error is relative to the largest result, whose terms cancel less than those of other
      // results.
      EXPECT_LE(columns.back()[1], parts == 2 ? 1e-5 : 1e-6) << k;
    }
    printRow(std::to_string(k), columns);
  }
}

TEST(Accuracy, ProductsByQuarters) {
  int64_t lanes = dlc::vectors::lanes();
  if (lanes == 0)
    GTEST_SKIP() << "this processor has no vectors with fused products";
  std::printf(
      "| terms of a sum | by Strassen's algorithm: direct, seven products, apart |\n|---|---|\n");
  for (int64_t k : {16, 64, 256, 1024, 4096}) {
    auto errors = productErrors(96, 128, k, {{"lanes", lanes}, {"strassen", true}});
    EXPECT_LE(errors[1], 5e-6) << k;
    printRow(std::to_string(k), {errors});
  }
}

} // namespace
