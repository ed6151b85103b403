//===- Ranges.cpp - observed range of a value, and the scale derived from it ------------------===//
#include "tools/quantize/Ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace dlc::quantize {
namespace {

constexpr int kBins = 4096, kLevels = 256;

/// Range [first, last) of histogram bins.
struct BinRange {
  int first = 0, last = kBins;
};

/// Returns the range of bins without outliers: drops at most the fraction `outside` of all counts
/// at each end.
BinRange clipOutliers(const std::vector<double> &counts, double outside) {
  double all = 0;
  for (double count : counts)
    all += count;
  BinRange part;
  double cut = 0;
  while (part.first + 1 < kBins && (cut += counts[size_t(part.first)]) <= all * outside)
    ++part.first;
  cut = 0;
  while (part.last - 1 > part.first && (cut += counts[size_t(part.last - 1)]) <= all * outside)
    --part.last;
  return part;
}

/// Returns the signal-to-noise ratio in dB if the observed values are clipped to [from, to] and
/// quantized to 256 levels over this range.
double snrWithin(const std::vector<double> &counts, double low, double width, double from,
                 double to) {
  double step = (to - from) / (kLevels - 1), signal = 0, noise = 0;
  for (int i = 0; i < kBins; ++i) {
    double value = low + width * (i + 0.5), cut = value - std::clamp(value, from, to);
    signal += counts[size_t(i)] * value * value;
    noise += counts[size_t(i)] * (cut * cut + step * step / 12);
  }
  return 10 * std::log10(signal / noise);
}

/// Returns the Kullback-Leibler divergence between the observed distribution and the distribution
/// after quantizing the bins `part` to 256 levels. Values outside of `part` are counted in its
/// first and last bin.
double computeKlDivergence(const std::vector<double> &counts, const BinRange &part) {
  std::vector<double> seen(counts.begin() + part.first, counts.begin() + part.last);
  std::vector<double> told(seen.size(), 0);
  const size_t size = seen.size();
  for (int level = 0; level < kLevels; ++level) {
    size_t from = size * size_t(level) / kLevels, to = size * size_t(level + 1) / kLevels;
    double sum = 0, filled = 0;
    for (size_t i = from; i < to; ++i) {
      sum += seen[i];
      filled += seen[i] > 0;
    }
    for (size_t i = from; i < to; ++i)
      if (seen[i] > 0)
        told[i] = sum / filled;
  }
  double inside = 0, all = 0;
  for (double count : seen)
    inside += count;
  for (double count : counts)
    all += count;
  if (inside <= 0)
    return std::numeric_limits<double>::infinity();
  for (int i = 0; i < kBins; ++i) {
    if (i < part.first)
      seen.front() += counts[size_t(i)];
    else if (i >= part.last)
      seen.back() += counts[size_t(i)];
  }
  double sum = 0;
  for (size_t i = 0; i < size; ++i) {
    if (seen[i] <= 0)
      continue;
    // A small probability replaces zero in bins where the quantized distribution has no mass, to
    // avoid a division by zero.
    double p = seen[i] / all, q = std::max(told[i] / inside, 1e-9);
    sum += p * std::log(p / q);
  }
  return sum;
}

/// Returns the range of bins with the minimum divergence. Candidate ranges extend equally far to
/// both sides of `zero`, the bin of value 0.
BinRange findMinKlRange(std::vector<double> counts, int zero) {
  // The count of value 0 is ignored, because 0 is represented exactly.
  counts[size_t(std::min(zero, kBins - 1))] = 0;
  BinRange best;
  double least = std::numeric_limits<double>::infinity();
  constexpr int kSteps = 128;
  for (int step = kSteps; step >= kSteps / 16; --step) {
    // The candidate range extends equally far to both sides of zero, within the histogram.
    int reach = std::max(zero, kBins - zero) * step / kSteps;
    BinRange part{std::max(zero - reach, 0), std::min(zero + reach, kBins)};
    if (part.last - part.first < kLevels)
      break;
    if (double found = computeKlDivergence(counts, part); found < least) {
      least = found;
      best = part;
    }
  }
  return best;
}

/// Returns the range with the minimum squared quantization error. Uses coordinate descent: each end
/// in turn is set to the best of 64 positions between zero and the observed end.
std::pair<double, double> findMinSquaredErrorRange(const std::vector<double> &counts, double low,
                                                   double high) {
  constexpr int kSteps = 64, kRounds = 3;
  double width = (high - low) / kBins, from = low, to = high;
  double best = snrWithin(counts, low, width, from, to);
  for (int round = 0; round < kRounds; ++round)
    for (double *end : {&from, &to}) {
      double whole = end == &from ? low : high, kept = *end;
      for (int step = 1; step <= kSteps; ++step) {
        *end = whole * step / kSteps;
        if (double snr = snrWithin(counts, low, width, from, to); to > from && snr > best) {
          best = snr;
          kept = *end;
        }
      }
      *end = kept;
    }
  return {from, to};
}

} // namespace

const std::vector<std::string> &rangeRuleNames() {
  static const std::vector<std::string> rules = {"mse", "minmax", "percentile", "entropy"};
  return rules;
}

bool ObservedRange::addEnds(const float *values, size_t count) {
  bool isFinite = true;
  for (size_t i = 0; i < count; ++i) {
    isFinite &= std::isfinite(values[i]);
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  return isFinite;
}

void ObservedRange::addCounts(const float *values, size_t count) {
  counts.resize(kBins, 0.0);
  double width = double(high) - low, perBin = width > 0 ? kBins / width : 0;
  for (size_t i = 0; i < count; ++i) {
    auto bin = int64_t((double(values[i]) - low) * perBin);
    counts[size_t(std::clamp<int64_t>(bin, 0, kBins - 1))] += 1;
  }
}

QuantizationScale ObservedRange::scaleBy(const RangeRule &rule) const {
  double from = low, to = high;
  if (rule.kind == "mse" && !counts.empty() && high > low) {
    std::tie(from, to) = findMinSquaredErrorRange(counts, low, high);
  } else if (rule.kind != "minmax" && !counts.empty() && high > low) {
    double width = (double(high) - low) / kBins;
    int zero = std::clamp(int(-low / width), 0, kBins);
    BinRange part = rule.kind == "percentile" ? clipOutliers(counts, 1 - rule.percentile / 100)
                                              : findMinKlRange(counts, zero);
    // The range must include zero, because padding consists of zeros, which must be representable.
    double least = std::min(low + width * part.first, 0.0),
           most = std::max(low + width * part.last, 0.0);
    // The entropy and percentile rules may clip too much if rare large values matter. Their range
    // is used only if its signal-to-noise ratio is at least 20 dB, or as high as that of the full
    // range.
    constexpr double kEnough = 20;
    if (snrWithin(counts, low, width, least, most) >=
        std::min(kEnough, snrWithin(counts, low, width, low, high))) {
      from = least;
      to = most;
    }
  }
  QuantizationScale result;
  // Minimum scale: the smallest normal float, because some processors flush denormals to zero.
  result.scale = std::max(float((to - from) / 255), std::numeric_limits<float>::min());
  if (to <= from)
    result.scale = 1;
  result.zeroPoint = uint8_t(std::clamp(std::nearbyint(-from / result.scale), 0.0, 255.0));
  return result;
}

} // namespace dlc::quantize
