//===- Corrections.h - correction of estimates by measured samples --------===//
//
// The analytical model describes what all kernels of a kind have in common; samples correct it
// where implementations deviate. The mean error of all implementations of a kind at similar sizes
// is applied to all of them, measured or not. The deviation of one implementation from that mean is
// applied to it alone. Both are computed from all samples first, then from those within a few
// octaves, then from those nearby, each weighted by the number of samples. An implementation
// without samples gets a small penalty, so that it is not chosen for a small lead.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_MACHINE_CORRECTIONS_H
#define DLC_CODEGEN_MACHINE_CORRECTIONS_H

#include <map>
#include <string>
#include <vector>

namespace dlc {

struct Work;

/// One measurement of one kernel.
struct CostSample {
  std::string implementation, kind;
  std::vector<double> sizes; ///< see Work
  double error = 0;          ///< natural logarithm of measured over estimated time

  bool operator==(const CostSample &) const = default;
};

class Corrections {
public:
  void add(const CostSample &sample);
  bool empty() const { return byKind.empty(); }
  /// Returns the factor that corrects an estimate.
  double factor(const std::string &implementation, const Work &work) const;

private:
  /// Samples by kind, and by implementation and kind.
  std::map<std::string, std::vector<CostSample>> byKind;
  std::map<std::pair<std::string, std::string>, std::vector<CostSample>> byKernel;
};

} // namespace dlc
#endif
