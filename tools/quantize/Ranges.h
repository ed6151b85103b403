//===- Ranges.h - what is seen of a value, and its scale ---------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_RANGES_H
#define DLC_TOOLS_QUANTIZE_RANGES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc::quantize {

/// Of unsigned 8-bit numbers: value = (number - zeroPoint) * scale.
struct Scale {
  float scale = 1;
  uint8_t zeroPoint = 0;
};

/// How a range follows from what was seen.
struct RangeRule {
  /// mse: the least square error; minmax: all that was seen; percentile: all but outliers; entropy:
  /// what loses least information (Kullback and Leibler's divergence).
  std::string kind = "mse";
  /// Of the values, for percentile: so many in a hundred lie within, on each side.
  double percentile = 99.99;
};

/// All names of rules.
const std::vector<std::string> &rangeRules();

/// What was seen of one value: first its ends, then, for rules that need it, how often what.
class Seen {
public:
  /// Whether all are finite.
  bool addEnds(const float *values, size_t count);
  /// After all ends are known.
  void addCounts(const float *values, size_t count);
  Scale scaleBy(const RangeRule &rule) const;

private:
  std::vector<double> counts;
  float low = 0, high = 0;
};

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_RANGES_H
