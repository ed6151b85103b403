//===- Corrections.h - how far off arithmetic was, by what was measured ----===//
//
// Arithmetic knows what all kernels of a kind have in common; what one library does badly at some
// sizes it learns from samples. How far all implementations of a kind were off at sizes like these
// holds for all of them, measured or not; how far one differs from that holds for it alone. Both
// are taken from all samples first, then from those within a few octaves, then from those nearby,
// each only as far as there are enough of them. What nobody measured is taken to be a little worse:
// it is not chosen for a small lead.
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
  std::vector<double> sizes; ///< as Work has them
  double error = 0;          ///< natural logarithm of measured over estimated time

  bool operator==(const CostSample &) const = default;
};

class Corrections {
public:
  void add(const CostSample &sample);
  bool empty() const { return byKind.empty(); }
  /// What an estimate is multiplied by.
  double factor(const std::string &implementation, const Work &work) const;

private:
  /// By kind, and of each kind by implementation.
  std::map<std::string, std::vector<CostSample>> byKind;
  std::map<std::pair<std::string, std::string>, std::vector<CostSample>> byKernel;
};

} // namespace dlc
#endif
