//===- Compare.cpp - compares a result with the reference -------------------------===//
#include "test/conformance/Runner.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace dlc::conformance {
namespace {

struct FloatFormat {
  double epsilon, smallest;
};

FloatFormat formatOf(mlir::Type type) {
  if (type.isF16())
    return {0x1p-10, 0x1p-24};
  if (type.isBF16())
    return {0x1p-7, 0x1p-133};
  if (type.isF32())
    return {0x1p-23, 0x1p-149};
  return {0x1p-52, 0x1p-1074};
}

} // namespace

bool agree(const ref::Tensor &got, const ref::Tensor &want, const Tolerance &tolerance,
           std::string &why) {
  int64_t bad = 0, worst = -1;
  double worstExcess = 0;
  if (!want.isFloat()) {
    for (int64_t i = 0; i < want.size(); ++i) {
      if (got.getInt(i) == want.getInt(i))
        continue;
      ++bad;
      if (worst < 0)
        worst = i;
    }
    if (bad)
      why = llvm::formatv("{0} of {1} elements differ; first [{2}]: got {3}, reference {4}", bad,
                          want.size(), worst, got.getInt(worst), want.getInt(worst));
    return bad == 0;
  }
  FloatFormat format = formatOf(want.getElementType());
  double largest = 0;
  for (int64_t i = 0; i < want.size(); ++i)
    if (std::isfinite(want.getDouble(i)))
      largest = std::max(largest, std::fabs(want.getDouble(i)));
  // Denormal results may be flushed to zero, so below the smallest normal number the tolerance is
  // absolute.
  double normal = format.smallest / format.epsilon;
  for (int64_t i = 0; i < want.size(); ++i) {
    double g = got.getDouble(i), w = want.getDouble(i);
    if ((std::isnan(g) && std::isnan(w)) || g == w)
      continue;
    double allowed =
        format.epsilon * (tolerance.ulps * std::fabs(w) + tolerance.ofLargest * largest) + normal;
    double excess = std::fabs(g - w) / allowed;
    // A result close to the largest finite number may round to infinity.
    if (std::isnan(excess) || std::isinf(g) != std::isinf(w))
      excess = INFINITY;
    if (excess <= 1)
      continue;
    ++bad;
    if (excess > worstExcess) {
      worstExcess = excess;
      worst = i;
    }
  }
  if (bad)
    why =
        llvm::formatv("{0} of {1} elements differ; worst [{2}]: got {3}, reference {4} ({5:f1} of "
                      "what is allowed)",
                      bad, want.size(), worst, llvm::formatv("{0:e8}", got.getDouble(worst)).str(),
                      llvm::formatv("{0:e8}", want.getDouble(worst)).str(), worstExcess);
  return bad == 0;
}

} // namespace dlc::conformance
