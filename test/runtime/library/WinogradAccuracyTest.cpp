//===- WinogradAccuracyTest.cpp - table of errors of Winograd convolutions and direct sums ---===//
//
// `dlc_runtime_tests --gtest_filter=Accuracy.* --gtest_brief=1` prints what
// docs/accuracy.md shows.
//
//===------------------------------------------------------------------------------------------===//
#include "Accuracy.h"
#include "WinogradHelp.h"

using namespace dlc::test::winograd;

namespace {

TEST(Accuracy, Convolutions) {
  if (blocks().empty())
    GTEST_SKIP() << "this processor has no convolutions with fewer products";
  int block = blocks().back();
  std::printf("| form, channels | forward: direct, form, apart | gradient of data | of weights |\n"
              "|---|---|---|---|\n");
  for (int64_t window : {3, 5})
    for (int64_t channels : {16, 64, 256}) {
      // Few output channels, because the f64 reference is slow.
      int64_t pad = window / 2;
      Layer l{1, channels, 16, 13, 13, window, pad, pad, pad, pad};
      Operands operands(l);
      auto direct = [&](bool transposed, bool gradient) {
        return directSums(l, block, transposed, operands.x, operands.w, gradient, operands.dy);
      };
      Numbers sums[] = {direct(false, false), direct(true, false), direct(false, true)};
      for (int tile : {2, 4}) {
        auto errors = [&](const char *kind, bool transposed, const Numbers &plain) {
          json desc = describe(l, kind, tile, block);
          desc["transposed"] = transposed;
          bool gradient = desc["kind"] == "convolution_weights";
          const auto &want = operands.want(l, block, transposed, gradient);
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

} // namespace
