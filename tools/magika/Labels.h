//===- Labels.h - what the network's 214 figures mean -----------------------------------===//
#ifndef DLC_TOOLS_MAGIKA_LABELS_H
#define DLC_TOOLS_MAGIKA_LABELS_H

#include "tools/magika/Features.h"

#include <map>
#include <string>
#include <vector>

namespace magika {

struct Label {
  std::string name, description;
  double score;
};

/// The package's configuration. Throws dlc::Error for files that are not as required.
class Labels {
public:
  /// `modelDir` holds config.min.json; `kindsFile` describes each type.
  Labels(const std::string &modelDir, const std::string &kindsFile);
  const FeatureSizes &sizes() const { return featureSizes; }
  size_t size() const { return names.size(); }
  /// The most likely type, or what stands in for it where the network is not sure enough of this
  /// type.
  Label choose(const float *scores) const;
  std::string describe(const std::string &name) const;

private:
  FeatureSizes featureSizes;
  std::vector<std::string> names;
  std::map<std::string, double> thresholds;
  std::map<std::string, std::string> instead, descriptions;
  std::map<std::string, bool> isText;
  double usualThreshold = 0.5;
};

} // namespace magika

#endif // DLC_TOOLS_MAGIKA_LABELS_H
