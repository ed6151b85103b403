//===- Plan.h - how a direct convolution is cut up ------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H
#define DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H

#include "runtime/library/direct/Kernels.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace dlc::direct {

/// What Desc.md describes, checked.
struct Request {
  Shape shape;
  int lanes = 16;
  bool hasBias = false;
  std::vector<Step> steps; // operands still open

  /// Throws dlc::Error.
  static Request parse(const nlohmann::json &desc);

  int64_t pixels() const { return shape.outHeight * shape.outWidth; } // of an image
  int64_t pairs() const { return (shape.outBlocks + 1) / 2; }         // of blocks of results
  int64_t results() const { return shape.outBlocks * lanes; }
  int64_t sourceElements() const;
  int64_t resultElements() const { return shape.batch * results() * pixels(); }
  int64_t weightElements() const { return shape.depth * lanes * results(); }
  /// A window of one pixel over an image that lies in blocks.
  bool readsInPlace() const;
};

/// Work comes in parts of an image's pixels by pairs of blocks of results' channels. Each thread
/// has parts of its own and all weights, or, where pixels are few, all parts and weights of its
/// own.
struct Plan {
  bool sharesPixels = false;
  int64_t pixels = 0, imageParts = 0, parts = 0; // of a part; parts of an image, and of all
  /// In elements: what is copied of a part. Each thread copies for itself: what another one wrote
  /// lies in its cache.
  int64_t partStep = 0;
  /// From the start of the scratch memory: each thread's copies, and its sums.
  int64_t dataStep = 0, sums = 0, sumsStep = 0, scratch = 0;

  Plan(const Request &request, int threads);
  Pixels part(const Request &request, int64_t index) const;
};

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H
