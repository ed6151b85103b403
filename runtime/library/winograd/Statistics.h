//===- Statistics.h - batch normalization statistics from the sums over channels -===//
#ifndef DLC_RUNTIME_LIBRARY_WINOGRAD_STATISTICS_H
#define DLC_RUNTIME_LIBRARY_WINOGRAD_STATISTICS_H

#include "runtime/library/winograd/Plan.h"

namespace dlc::winograd {

/// Batch normalization statistics of each channel: the first result, the mean of the differences of
/// all results from it, and the mean of the squared differences.
struct ChannelStatistics {
  float *first, *shift, *square;
};

/// Computes the statistics from the sums of all parts of the tiles.
void writeStatistics(const Convolution &request, const WorkPartition &plan, const float *sums,
                     const ChannelStatistics &to, int threads);

} // namespace dlc::winograd

#endif // DLC_RUNTIME_LIBRARY_WINOGRAD_STATISTICS_H
