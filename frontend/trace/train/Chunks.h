//===- Chunks.h - sums that do not depend on the number of ranks ----------===//
//
// The global batch is always split into the same number of chunks. Each rank computes its chunks
// separately. The ranks then exchange the results of all chunks and add them in chunk order.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_TRAIN_CHUNKS_H
#define DLC_FRONTEND_TRACE_TRAIN_CHUNKS_H

#include "dlc/optim.hpp"

namespace dlc {

/// Results of one part (micro-batch or chunk) of a rank's batch: the loss, the metrics, and the
/// gradients.
struct BatchPartResults {
  std::vector<trace::Tensor> figures;
  optim::Gradients gradients;
};

/// Returns the mean of the results over all chunks of all ranks, added in chunk order. `own`
/// contains the results of this rank's chunks.
BatchPartResults averageChunksInOrder(const std::vector<BatchPartResults> &own, int64_t chunks,
                                      int64_t world);

} // namespace dlc

#endif // DLC_FRONTEND_TRACE_TRAIN_CHUNKS_H
