//===- Chunks.h - sums that do not depend on how many ranks there are -----===//
//
// The whole batch is always so many chunks. Each rank computes its own, each by itself; then all
// ranks have all of them, and add them up in the order of chunks.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_CHUNKS_H
#define DLC_FRONTEND_TRACE_CHUNKS_H

#include "dlc/optim.hpp"

namespace dlc {

/// What a part of the batch gives: the loss, the metrics, and the gradients.
struct PartResults {
  std::vector<trace::Tensor> figures;
  optim::Gradients gradients;
};

/// The mean over all chunks of all ranks, of which `own` are this one's.
PartResults meanInOrder(const std::vector<PartResults> &own, int64_t chunks, int64_t world);

} // namespace dlc

#endif // DLC_FRONTEND_TRACE_CHUNKS_H
