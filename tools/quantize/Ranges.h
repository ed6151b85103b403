//===- Ranges.h - observed range of a value, and the scale derived from it --------------------===//
#ifndef DLC_TOOLS_QUANTIZE_RANGES_H
#define DLC_TOOLS_QUANTIZE_RANGES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc::quantize {

/// Quantization parameters of unsigned 8-bit integers: value = (q - zeroPoint) * scale.
struct QuantizationScale {
  float scale = 1;
  uint8_t zeroPoint = 0;
};

/// Rule by which the quantization range is derived from the observed values.
struct RangeRule {
  /// Name of the rule. mse: minimum squared error; minmax: all observed values; percentile: without
  /// outliers; entropy: minimum Kullback-Leibler divergence.
  std::string kind = "mse";
  /// For the rule `percentile`: percentage of the values that are not clipped, at each end.
  double percentile = 99.99;
};

/// Returns the names of all range rules.
const std::vector<std::string> &rangeRuleNames();

/// Observed range of one value and, for rules that need it, a histogram of its elements, which is
/// computed in a second pass over the calibration data.
class ObservedRange {
public:
  /// Extends the observed range by these elements. Returns true if all of them are finite.
  bool addEnds(const float *values, size_t count);
  /// Adds these elements to the histogram. Must be called after all elements have been passed to
  /// addEnds(), which determines the bins.
  void addCounts(const float *values, size_t count);
  QuantizationScale scaleBy(const RangeRule &rule) const;

private:
  std::vector<double> counts;
  float low = 0, high = 0;
};

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_RANGES_H
