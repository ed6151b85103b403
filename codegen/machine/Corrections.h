//===- Corrections.h - correction of estimates by measured samples --------===//
//
// The analytical cost model describes what all kernels of a kind have in common. Measured samples
// correct it where implementations deviate. The mean error of all implementations of a kind at
// similar sizes is applied to all of them, measured or not. The deviation of one implementation
// from this mean is applied to that implementation alone. Both are computed from all samples first,
// then from samples whose sizes are within a few octaves, then from samples of nearby sizes, each
// weighted by the number of samples. An implementation without samples gets a small penalty, so
// that it is not selected for a small advantage.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_MACHINE_CORRECTIONS_H
#define DLC_CODEGEN_MACHINE_CORRECTIONS_H

#include <map>
#include <string>
#include <vector>

namespace dlc {

struct WorkFeatures;

/// Measured time of one kernel, compared with the estimate of the cost model.
struct CostSample {
  std::string implementation, kind;
  std::vector<double> sizes; ///< logarithms of the operation's sizes (Work::sizes)
  double error = 0;          ///< natural logarithm of measured time over estimated time

  bool operator==(const CostSample &) const = default;
};

class CostCorrections {
public:
  void add(const CostSample &sample);
  bool empty() const { return byKind.empty(); }
  /// Returns the factor by which the cost model's estimate is multiplied, for a kernel of
  /// `implementation` with the features `work`.
  double factor(const std::string &implementation, const WorkFeatures &work) const;

private:
  /// Samples for each kind of operation (byKind), and for each implementation and kind (byKernel).
  std::map<std::string, std::vector<CostSample>> byKind;
  std::map<std::pair<std::string, std::string>, std::vector<CostSample>> byKernel;
};

} // namespace dlc
#endif
