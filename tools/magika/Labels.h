//===- Labels.h - maps the network's 214 scores to content types ----------===//
#ifndef DLC_TOOLS_MAGIKA_LABELS_H
#define DLC_TOOLS_MAGIKA_LABELS_H

#include "tools/magika/Features.h"

#include <map>
#include <string>
#include <vector>

namespace magika {

struct ScoredContentType {
  std::string name, description;
  double score;
};

/// Content types and thresholds from the configuration of the magika package. Throws dlc::Error if
/// its files are invalid.
class ContentLabels {
public:
  /// Reads config.min.json in the folder `modelDir`, and descriptions of the content types in
  /// `kindsFile`.
  ContentLabels(const std::string &modelDir, const std::string &kindsFile);
  const FeatureSizes &sizes() const { return featureSizes; }
  size_t size() const { return names.size(); }
  /// Returns the content type with the highest score. If the score is below the type's threshold,
  /// returns "txt" or "unknown" instead.
  ScoredContentType choose(const float *scores) const;
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
