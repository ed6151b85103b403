//===- RankPart.h - scope of one part of a rank's batch during tracing ----===//
//
// All ranks run the same program on their own batches. Two things differ from a single-process
// trace: each rank must draw different random numbers, and batch norm may use the statistics of all
// ranks.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_RANKPART_H
#define DLC_FRONTEND_TRACE_RANKPART_H

#include "dlc/step.hpp"
#include "frontend/trace/State.h"

namespace dlc::trace {

/// Scope in which one part of a rank's batch (the whole batch, a micro-batch or a chunk) is traced.
/// Registers itself with the active trace for its lifetime.
class BatchPartScope {
public:
  BatchPartScope(const StepOptions &options, int64_t part);
  ~BatchPartScope();
  BatchPartScope(const BatchPartScope &) = delete;

  /// Returns the offset added to the counter of random numbers. It differs for each rank or, with
  /// StepOptions::chunks, for each chunk no matter which rank computes the chunk. Absent if the
  /// step is not data parallel.
  Tensor stream();
  /// Returns the number of equal-sized batches over which batch norm computes its statistics.
  /// Absent if the statistics cover only this batch.
  Tensor batches();
  /// Returns whether assignments to state in this part are kept rather than dropped. With chunks
  /// and synchronized batch norm, all chunks assign equal values, so only a rank's first chunk
  /// assigns: chaining the assignments of later chunks would make the result depend on the number
  /// of ranks.
  bool keepsState() const { return part == 0 || !isChunk() || !options.syncBatchNorm; }
  /// Must be called at the end of the forward pass of this part of the batch. With
  /// StepOptions::syncBatchNorm, marks the batch norms of the pass so that the pass
  /// dlc-sync-batch-norm computes them over all ranks.
  void finish();

private:
  bool isChunk() const { return options.chunks > 0; }

  State &state;
  const StepOptions &options;
  const int64_t part;
  mlir::Operation *before;
  std::map<std::string, int64_t> callsBefore;
  Tensor knownStream, knownBatches;
};

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_RANKPART_H
