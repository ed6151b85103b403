//===- Statistics.h - sums over channels become what batch normalisation wants ----===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_STATISTICS_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_STATISTICS_H

#include "runtime/library/winograd/Plan.h"

namespace dlc::winograd {

/// Of each channel its first result, the mean of what its results differ from that by, and the mean
/// of the square of that.
struct Statistics {
  float *first, *shift, *square;
};

/// From the sums of all parts of the tiles.
void writeStatistics(const Convolution &request, const Plan &plan, const float *sums,
                     const Statistics &to, int threads);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_STATISTICS_H
