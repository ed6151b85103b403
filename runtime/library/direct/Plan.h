//===- Plan.h - work partition of a direct convolution --------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H
#define DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H

#include "runtime/library/describe/Convolution.h"
#include "runtime/library/direct/Kernels.h"

namespace dlc::direct {

/// Parsed and checked description of a direct convolution (schema/Convolution.def).
struct Convolution : describe::Convolution {
  int lanes = 16;
  Shape shape; // the convolution's shape in blocks of channels

  /// Parses a description. Throws dlc::Error if it is not valid.
  static Convolution parse(const nlohmann::json &desc);

  int64_t pairs() const { return (shape.outBlocks + 1) / 2; } // pairs of output channel blocks
  /// Returns true if the source pixels are read in place: the window is one pixel and the image is
  /// stored in blocks of channels.
  bool readsInPlace() const { return !channelsLast && isPoint(); }
};

/// Partition of a direct convolution. A unit of work computes a pair of blocks of output channels
/// for a part of an image's pixels. By default, a thread computes all output channels of its own
/// parts. If there are few pixels (`sharesPixels`), it computes its own output channels for all
/// parts.
struct WorkPartition {
  bool sharesPixels = false;
  int64_t pixels = 0, imageParts = 0, parts = 0; // pixels of a part; parts of an image, and in all
  /// Number of elements that are copied for a part. Each thread copies the data for itself, since
  /// data that another thread wrote would be in that thread's cache.
  int64_t partStep = 0;
  /// Offsets and strides in the scratch memory, in elements: each thread's copies, then each
  /// thread's sums.
  int64_t dataStep = 0, sums = 0, sumsStep = 0, scratch = 0;

  WorkPartition(const Convolution &request, int threads);
  PixelRange part(const Convolution &request, int64_t index) const;
  /// Returns the fraction of all multiply-adds that are computed. Window rows that only read
  /// padding are skipped.
  double windowPart(const Convolution &request) const;
};

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_PLAN_H
