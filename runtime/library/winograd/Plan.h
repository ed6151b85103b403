//===- Plan.h - work partition of a Winograd convolution ------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H

#include "runtime/library/describe/Convolution.h"
#include "runtime/library/winograd/Kernels.h"

namespace dlc::winograd {

/// Checked description of Desc.md.
struct Convolution : describe::Convolution {
  int lanes = 16, outputs = 4, side = 3; // size of a tile of results, and of the window
  bool isGradient = false;               // computes the weight gradient
  bool hasStatistics = false;
  Shape shape; // the convolution's shape in blocks of channels

  /// Throws dlc::Error.
  static Convolution parse(const nlohmann::json &desc);

  int points() const { return (outputs + side - 1) * (outputs + side - 1); }
  /// Returns the layout of the transformed weights, which are stored in one range from `memory` on.
  PointWeights weightsAt(float *memory) const;
  int64_t pointWeightElements() const;
};

/// If the weights fit a thread's cache, the tiles are split among the threads, and each thread
/// works on its own. Otherwise all threads share the tiles' data, and each computes some of the
/// output channels (or of the weights).
struct Plan {
  bool sharesTiles = false;
  int64_t tiles = 0;     // number of tiles that are computed at once
  int64_t outBlocks = 2; // output blocks between product and result at once
  /// Offsets and strides in the scratch memory, in elements: `weights` by point, then each thread's
  /// `data`, and `other` (each thread's gradient or products).
  int64_t weights = 0, weightsStep = 0, data = 0, dataStep = 0, other = 0, otherStep = 0,
          scratch = 0;
  int weightParts = 1;
  /// Statistics of each part of the tiles: [part][output block][kSums][V].
  int64_t sums = 0, sumsStep = 0;

  Plan(const Convolution &request, int threads);
  int64_t parts(const Shape &shape) const { return (shape.tiles() + tiles - 1) / tiles; }
};

/// Returns the stride between two points, in elements, which avoids mapping all points to the same
/// few cache sets.
int64_t pointStep(int64_t vectors, int lanes);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H
