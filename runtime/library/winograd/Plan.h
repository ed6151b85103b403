//===- Plan.h - work partition of a Winograd convolution ------------------===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H

#include "runtime/library/describe/Convolution.h"
#include "runtime/library/winograd/Kernels.h"

namespace dlc::winograd {

/// Parsed and checked description of a Winograd convolution (schema/Convolution.def).
struct Convolution : describe::Convolution {
  // Vector lanes, side of a tile of results, side of the window.
  int lanes = 16, outputs = 4, side = 3;
  bool isGradient = false; // computes the weight gradient
  bool hasStatistics = false;
  Shape shape; // the convolution's shape in blocks of channels

  /// Parses a description. Throws dlc::Error if it is not valid.
  static Convolution parse(const nlohmann::json &desc);

  int points() const { return (outputs + side - 1) * (outputs + side - 1); }
  /// Returns the layout of the transformed weights, which are stored in one memory range that
  /// begins at `memory`.
  PointWeights weightsAt(float *memory) const;
  int64_t pointWeightElements() const;
};

/// Partition of a Winograd convolution. If the weights fit in a thread's cache, the tiles are
/// divided among the threads, and each thread computes all steps for its tiles. Otherwise all
/// threads share the tiles' data, and each computes some of the output channels (or of the
/// weights).
struct WorkPartition {
  bool sharesTiles = false;
  int64_t tiles = 0; // number of tiles that are computed at once
  // Output channel blocks that are multiplied before their results are computed.
  int64_t outBlocks = 2;
  /// Offsets and strides in the scratch memory, in elements: the transformed `weights`, then each
  /// thread's `data`, and `other` (each thread's gradient or products).
  int64_t weights = 0, weightsStep = 0, data = 0, dataStep = 0, other = 0, otherStep = 0,
          scratch = 0;
  int weightParts = 1;
  /// Statistics of each part of the tiles: [part][output block][kSums][V].
  int64_t sums = 0, sumsStep = 0;

  WorkPartition(const Convolution &request, int threads);
  int64_t parts(const Shape &shape) const { return (shape.tiles() + tiles - 1) / tiles; }
};

/// Returns the stride between two points of the Winograd domain, in elements. The stride avoids
/// that all points map to the same few cache sets.
int64_t pointStep(int64_t vectors, int lanes);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_PLAN_H
