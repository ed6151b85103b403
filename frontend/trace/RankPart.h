//===- RankPart.h - one part of a rank's batch, while it is traced --------===//
//
// Ranks run one program on batches of their own. What they may not do alike is draw random numbers;
// what they may do together is take the statistics of batch norm.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_RANKPART_H
#define DLC_FRONTEND_TRACE_RANKPART_H

#include "dlc/step.hpp"
#include "frontend/trace/State.h"

namespace dlc::trace {

/// The active trace's, while this lives.
class RankPart {
public:
  RankPart(const StepOptions &options, int64_t part);
  ~RankPart();
  RankPart(const RankPart &) = delete;

  /// Added to the counters of random numbers: each rank has others, or each chunk, whichever rank
  /// computes it. Absent where there is one process.
  Tensor stream();
  /// How many batches of this size batch norm's statistics are of; absent: this one's alone.
  Tensor batches();
  /// What chunks after a rank's first one assign would depend on how many ranks there are, where
  /// all have the same to assign.
  bool keepsState() const { return part == 0 || !isChunk() || !options.syncBatchNorm; }
  /// The forward pass is traced: its batch norms are of all ranks, where that is asked for.
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
