//===- Features.h - the bytes of a file as the network wants them ---------------------===//
#ifndef DLC_TOOLS_MAGIKA_FEATURES_H
#define DLC_TOOLS_MAGIKA_FEATURES_H

#include <cstdint>
#include <string>
#include <vector>

namespace magika {

struct FeatureSizes {
  int64_t begin = 1024, end = 1024, padding = 256, block = 4096, least = 8;
};

struct Features {
  /// `begin` bytes after leading white space, padded behind; then `end` bytes before trailing white
  /// space, padded in front.
  std::vector<int32_t> tokens;
  /// Too little to ask the network: then what stands in for its answer ("empty", "txt" or
  /// "unknown").
  std::string simple;
};

/// Reads at most one block from each end of the file. Throws dlc::Error when it cannot.
Features featuresOf(const std::string &path, const FeatureSizes &sizes);

bool isUtf8(const std::string &bytes);

} // namespace magika

#endif // DLC_TOOLS_MAGIKA_FEATURES_H
