//===- Corrections.cpp - how far off arithmetic was, by what was measured --===//
#include "codegen/machine/Corrections.h"

#include "codegen/machine/Work.h"

#include <algorithm>
#include <cmath>

namespace dlc {

namespace {

/// Samples that stand for "nothing is known", which is an error of 0.
constexpr double kFew = 1, kFewNearby = 0.3;
/// Octaves, in all sizes together, over which samples tell of one another.
constexpr double kWide = 3, kNearby = 1;
/// The error of what nobody measured at any size.
constexpr double kUnseen = 0.1;
constexpr double kMost = 2.1;
/// What one implementation is farther off by says nothing of the others: a library's reference
/// implementation takes thirty times what its arithmetic does.
constexpr double kShared = 0.7;

double weightOf(const CostSample &sample, const std::vector<double> &sizes, double width) {
  double square = 0;
  for (size_t i = 0; i < std::min(sizes.size(), sample.sizes.size()); ++i)
    square += (sizes[i] - sample.sizes[i]) * (sizes[i] - sample.sizes[i]);
  return std::exp(-square / (2 * width * width));
}

/// What samples say of the error at these sizes, beyond `known`.
double errorAt(const std::vector<double> &sizes, const std::vector<CostSample> &samples,
               double known) {
  double sum = 0;
  for (const CostSample &sample : samples)
    sum += sample.error - known;
  double error = sum / (double(samples.size()) + kFew);
  for (auto [width, few] : {std::pair(kWide, kFew), std::pair(kNearby, kFewNearby)}) {
    double weighed = 0, weights = few;
    for (const CostSample &sample : samples) {
      double weight = weightOf(sample, sizes, width);
      weighed += weight * (sample.error - known - error);
      weights += weight;
    }
    error += weighed / weights;
  }
  return error;
}

} // namespace

void Corrections::add(const CostSample &sample) {
  byKind[sample.kind].push_back(sample);
  double &shared = byKind[sample.kind].back().error;
  shared = std::clamp(shared, -kShared, kShared);
  byKernel[{sample.implementation, sample.kind}].push_back(sample);
}

double Corrections::factor(const std::string &implementation, const Work &work) const {
  auto kind = byKind.find(work.kind);
  if (kind == byKind.end())
    return 1;
  double error = errorAt(work.sizes, kind->second, 0);
  auto own = byKernel.find({implementation, work.kind});
  error += own == byKernel.end() ? kUnseen : errorAt(work.sizes, own->second, error);
  return std::exp(std::clamp(error, -kMost, kMost));
}

} // namespace dlc
