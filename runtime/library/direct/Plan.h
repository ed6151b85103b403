//===- Plan.h - how a direct convolution is cut up ------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H
#define DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H

#include "runtime/library/describe/Convolution.h"
#include "runtime/library/direct/Kernels.h"

namespace dlc::direct {

/// What Desc.md describes, checked.
struct Convolution : describe::Convolution {
  int lanes = 16;
  Shape shape; // of the same in blocks, for the kernels

  /// Throws dlc::Error.
  static Convolution parse(const nlohmann::json &desc);

  int64_t pairs() const { return (shape.outBlocks + 1) / 2; } // of blocks of results
  /// A window of one pixel over an image that lies in blocks.
  bool readsInPlace() const { return !channelsLast && isPoint(); }
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

  Plan(const Convolution &request, int threads);
  Pixels part(const Convolution &request, int64_t index) const;
  /// Of all products, those that are made: rows of the window that meet padding alone are left out.
  double windowPart(const Convolution &request) const;
};

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H
