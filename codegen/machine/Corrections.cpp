//===- Corrections.cpp - correction of estimates by measured samples ------===//
#include "codegen/machine/Corrections.h"

#include "codegen/machine/Work.h"

#include <algorithm>
#include <cmath>

namespace dlc {

namespace {

/// Weight of the prior, which assumes an error of 0, as a number of samples: kFew for the means
/// over all samples and over similar sizes, kFewNearby for the mean over nearby sizes.
constexpr double kFew = 1, kFewNearby = 0.3;
/// A sample's weight is a Gaussian of the difference between its sizes and those of the estimated
/// operation, in octaves. Standard deviations for similar sizes (kWide) and nearby sizes (kNearby).
constexpr double kWide = 3, kNearby = 1;
/// Error (natural logarithm) that is assumed for an implementation without samples, as a penalty of
/// about 10 %.
constexpr double kUnseen = 0.1;
constexpr double kMax = 2.1;
/// Maximum error that a sample contributes to the estimates of other implementations. It limits the
/// influence of outliers, such as a library's reference implementation that takes thirty times its
/// estimate.
constexpr double kShared = 0.7;

double computeSampleWeight(const CostSample &sample, const std::vector<double> &sizes,
                           double width) {
  double square = 0;
  for (size_t i = 0; i < std::min(sizes.size(), sample.sizes.size()); ++i)
    square += (sizes[i] - sample.sizes[i]) * (sizes[i] - sample.sizes[i]);
  return std::exp(-square / (2 * width * width));
}

/// Returns the weighted mean error of samples at these sizes, after subtraction of `known`, the
/// error that is already corrected.
double errorAt(const std::vector<double> &sizes, const std::vector<CostSample> &samples,
               double known) {
  double sum = 0;
  for (const CostSample &sample : samples)
    sum += sample.error - known;
  double error = sum / (double(samples.size()) + kFew);
  for (auto [width, few] : {std::pair(kWide, kFew), std::pair(kNearby, kFewNearby)}) {
    double weighed = 0, weights = few;
    for (const CostSample &sample : samples) {
      double weight = computeSampleWeight(sample, sizes, width);
      weighed += weight * (sample.error - known - error);
      weights += weight;
    }
    error += weighed / weights;
  }
  return error;
}

} // namespace

void CostCorrections::add(const CostSample &sample) {
  byKind[sample.kind].push_back(sample);
  double &shared = byKind[sample.kind].back().error;
  shared = std::clamp(shared, -kShared, kShared);
  byKernel[{sample.implementation, sample.kind}].push_back(sample);
}

double CostCorrections::factor(const std::string &implementation, const WorkFeatures &work) const {
  auto kind = byKind.find(work.kind);
  if (kind == byKind.end())
    return 1;
  double error = errorAt(work.sizes, kind->second, 0);
  auto own = byKernel.find({implementation, work.kind});
  error += own == byKernel.end() ? kUnseen : errorAt(work.sizes, own->second, error);
  return std::exp(std::clamp(error, -kMax, kMax));
}

} // namespace dlc
