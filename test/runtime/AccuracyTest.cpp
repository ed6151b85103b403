//===- AccuracyTest.cpp - errors of the faster algorithms beside direct sums', as a table ----===//
//
// `dlc_runtime_tests --gtest_filter=Accuracy.* --gtest_brief=1` prints what docs/accuracy.md shows.
//
//===------------------------------------------------------------------------------------------===//
#include "WinogradHelp.h"

#include "runtime/library/Library.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/library/vectors/Describe.h"

#include <array>
#include <cstdio>
#include <cstdlib>

using namespace dlc::test::winograd;

namespace {

/// Between two results in f32, in units of the largest.
double apart(const Numbers &a, const Numbers &b) {
  return errorOf(a, std::vector<double>(b.begin(), b.end()));
}

void printRow(const std::string &what, const std::vector<std::array<double, 3>> &columns) {
  std::printf("| %s |", what.c_str());
  for (auto [direct, faster, both] : columns)
    std::printf(" %.1e %.1e %.1e |", direct, faster, both);
  std::printf("\n");
}

TEST(Accuracy, Convolutions) {
  if (blocks().empty())
    GTEST_SKIP() << "this processor has no convolutions with fewer products";
  int block = blocks().back();
  std::printf("| form, channels | forward: direct, form, apart | gradient of data | of weights |\n"
              "|---|---|---|---|\n");
  for (int64_t window : {3, 5})
    for (int64_t channels : {16, 64, 256}) {
      // Few results' channels: sums in f64 take long.
      int64_t pad = window / 2;
      Layer l{1, channels, 16, 13, 13, window, pad, pad, pad, pad};
      Operands operands(l);
      auto direct = [&](bool turned, bool gradient) {
        return directSums(l, block, turned, operands.x, operands.w, gradient, operands.dy);
      };
      Numbers sums[] = {direct(false, false), direct(true, false), direct(false, true)};
      for (int tile : {2, 4}) {
        auto errors = [&](const char *kind, bool turned, const Numbers &plain) {
          json desc = describe(l, kind, tile, block);
          desc["turned"] = turned;
          bool gradient = desc["kind"] == "convolution_weights";
          const auto &want = operands.want(l, block, turned, gradient);
          Numbers faster = resultOf(desc, 1, operands);
          EXPECT_LE(errorOf(faster, want), (gradient ? 2 : 1) * bound(tile, window)) << desc;
          return std::array{errorOf(plain, want), errorOf(faster, want), apart(faster, plain)};
        };
        char name[64];
        std::snprintf(name, sizeof name, "F(%dx%d,%dx%d), %d", tile, tile, int(window), int(window),
                      int(channels));
        printRow(name, {errors("convolution", false, sums[0]), errors("convolution", true, sums[1]),
                        errors("convolution_weights", false, sums[2])});
      }
    }
}

/// f32's sums and those of a product of our own, m x k by k x n, held against f64. `how` is what
/// its description says beside the sizes.
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
  auto make = desc.contains("parts") ? dlc::runtime::makeTilesCall : dlc::runtime::makeVectorsCall;
  auto call = make(desc, infos, 1);
  std::unique_ptr<void, void (*)(void *)> scratch(
      std::aligned_alloc(64, (call->scratchBytes() + 127) / 64 * 64), std::free);
  void *buffers[] = {a.data(), b.data(), faster.data()};
  call->execute(buffers, {scratch.get(), 1});
  return {errorOf(direct, want), errorOf(faster, want), apart(faster, direct)};
}

TEST(Accuracy, Products) {
  if (!dlc::tiles::available())
    GTEST_SKIP() << "this processor has no tiles for bf16";
  std::printf("| terms of a sum | three bf16 products: direct, parts, apart | six bf16 products |\n"
              "|---|---|---|\n");
  for (int64_t k : {16, 64, 256, 1024, 4096}) {
    std::vector<std::array<double, 3>> columns;
    for (int parts : {2, 3}) {
      columns.push_back(productErrors(64, 64, k, {{"parts", parts}}));
      // Of the largest result, in which a sum's terms cancel less than in others.
      EXPECT_LE(columns.back()[1], parts == 2 ? 1e-5 : 1e-6) << k;
    }
    printRow(std::to_string(k), columns);
  }
}

TEST(Accuracy, ProductsByQuarters) {
  int64_t lanes = dlc::vectors::lanes();
  if (lanes == 0)
    GTEST_SKIP() << "this processor has no vectors with fused products";
  std::printf("| terms of a sum | by quarters: direct, seven products, apart |\n|---|---|\n");
  for (int64_t k : {16, 64, 256, 1024, 4096}) {
    auto errors = productErrors(96, 128, k, {{"lanes", lanes}, {"strassen", true}});
    EXPECT_LE(errors[1], 5e-6) << k;
    printRow(std::to_string(k), {errors});
  }
}

} // namespace
