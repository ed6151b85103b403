//===- Features.h - feature extraction: the bytes of a file as network input ------------------===//
#ifndef DLC_TOOLS_MAGIKA_FEATURES_H
#define DLC_TOOLS_MAGIKA_FEATURES_H

#include <cstdint>
#include <string>
#include <vector>

namespace magika {

struct FeatureSizes {
  int64_t begin = 1024, end = 1024, padding = 256, block = 4096, least = 8;
};

struct FileFeatures {
  /// Input of the network: the first `begin` bytes after leading white space, padded at the end,
  /// followed by the last `end` bytes before trailing white space, padded at the start.
  std::vector<int32_t> tokens;
  /// Label of a file that is too small for the network: "empty", "txt" or "unknown". The text is
  /// empty if the network must be run.
  std::string simple;
};

/// Extracts the input of the file-type model (bytes of the beginning and the end of a file). Reads
/// at most one block from each end of the file. Throws dlc::Error if the file cannot be read.
FileFeatures readFeatures(const std::string &path, const FeatureSizes &sizes);

bool isUtf8(const std::string &bytes);

} // namespace magika

#endif // DLC_TOOLS_MAGIKA_FEATURES_H
