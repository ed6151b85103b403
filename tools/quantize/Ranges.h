//===- Ranges.h - observed range of a value, and the scale derived from it --------------------===//
#ifndef DLC_TOOLS_QUANTIZE_RANGES_H
#define DLC_TOOLS_QUANTIZE_RANGES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc::quantize {

/// Quantization parameters of unsigned 8-bit integers: value = (q - zeroPoint) * scale.
struct Scale {
  float scale = 1;
  uint8_t zeroPoint = 0;
};

/// Rule that derives a range from the observed values.
struct RangeRule {
  /// mse: least square error; minmax: all observed values; percentile: without outliers; entropy:
  /// least Kullback-Leibler divergence.
  std::string kind = "mse";
  /// For `percentile`: percentage of the values that are not clipped, at each end.
  double percentile = 99.99;
};

/// Returns the names of all rules.
const std::vector<std::string> &rangeRules();

/// Observed range of one value and, for rules that need it, a histogram, which is added in a second
/// pass.
class Seen {
public:
  /// Extends the range. Returns true if all values are finite.
  bool addEnds(const float *values, size_t count);
  /// Adds to the histogram. Call after all values have been passed to addEnds().
  void addCounts(const float *values, size_t count);
  Scale scaleBy(const RangeRule &rule) const;

private:
  std::vector<double> counts;
  float low = 0, high = 0;
};

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_RANGES_H
