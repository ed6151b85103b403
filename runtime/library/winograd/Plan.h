//===- Plan.h - how a Winograd convolution is cut up ----------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H

#include "runtime/library/describe/Convolution.h"
#include "runtime/library/winograd/Kernels.h"

namespace dlc::winograd {

/// What Desc.md describes, checked.
struct Convolution : describe::Convolution {
  int lanes = 16, outputs = 4, side = 3; // of a tile of results, and of the window
  bool isGradient = false;               // of the weights
  bool hasStatistics = false;
  Shape shape; // of the same in blocks, for the kernels

  /// Throws dlc::Error.
  static Convolution parse(const nlohmann::json &desc);

  int points() const { return (outputs + side - 1) * (outputs + side - 1); }
  /// Weights by point, which all have room for in one piece of memory.
  PointWeights weightsAt(float *memory) const;
  int64_t pointWeightElements() const;
};

/// Cut by tiles, each thread on its own, where the weights stay in its cache; else all threads
/// share the tiles' data, and each makes some of the results' channels (or of the weights).
struct Plan {
  bool sharesTiles = false;
  int64_t tiles = 0;     // at once
  int64_t outBlocks = 2; // of results at once, between product and image
  /// In elements, from the start of the scratch memory: `weights` by point; data, and gradient or
  /// products, of each thread `dataStep` and `otherStep` apart.
  int64_t weights = 0, weightsStep = 0, data = 0, dataStep = 0, other = 0, otherStep = 0,
          scratch = 0;
  int weightParts = 1;
  /// Sums of each part of the tiles for statistics, [part][block of results][kSums][V].
  int64_t sums = 0, sumsStep = 0;

  Plan(const Convolution &request, int threads);
  int64_t parts(const Shape &shape) const { return (shape.tiles() + tiles - 1) / tiles; }
};

/// From a point to the next, so that not all points fall into the same few lines of the cache.
int64_t pointStep(int64_t vectors, int lanes);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H
