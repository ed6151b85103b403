//===- Order.h - order of the samples in an epoch ----------------------------===//
#ifndef DLC_RUNTIME_DATA_ORDER_H
#define DLC_RUNTIME_DATA_ORDER_H

#include "dlc/data.hpp"

namespace dlc::data {

/// Order of one rank's samples in one epoch.
class SampleOrder {
public:
  SampleOrder() = default;
  SampleOrder(int64_t size, const LoaderOptions &options, uint64_t epoch);

  /// Returns the sample at an index of this rank's share.
  int64_t operator[](int64_t place) const {
    int64_t at = globalPlace(place) % size;
    return permutation.empty() ? at : permutation[static_cast<size_t>(at)];
  }

private:
  /// Converts an index of this rank's share to an index of the epoch. Full global batches are split
  /// into contiguous parts, one per rank; the remaining samples are distributed round-robin.
  int64_t globalPlace(int64_t place) const {
    const int64_t step = place / batch, whole = size / (batch * world);
    if (step < whole)
      return (step * world + rank) * batch + place % batch;
    return whole * batch * world + (place - whole * batch) * world + rank;
  }
  std::vector<int64_t> permutation; // permutation of the epoch's samples; empty if not shuffled
  int64_t size = 0, batch = 1, rank = 0, world = 1;
};

/// Returns the number of samples in a rank's share of an epoch; it is the same for all ranks.
int64_t countRankSamples(int64_t size, const LoaderOptions &options);
int64_t countBatches(int64_t size, const LoaderOptions &options);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_ORDER_H
