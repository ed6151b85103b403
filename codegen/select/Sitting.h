//===- Sitting.h - candidates built, checked and timed at one time --------===//
#ifndef DLC_CODEGEN_SELECT_SITTING_H
#define DLC_CODEGEN_SELECT_SITTING_H

#include "codegen/select/Trial.h"
#include "codegen/select/TuningDatabase.h"
#include "codegen/select/Worker.h"

namespace dlc {

struct SittingResult {
  /// In the candidates' order: times of this sitting, or why there are none.
  TuningEntry entry;
  /// False: other work on the machine let too few runs finish undisturbed to say anything.
  bool enough = false;
};

/// Those of `known` that are candidates, in order, with what is known of them: who is rejected
/// there does not sit, whose results were compared is not compared again, and rounds that were
/// played count. `line` hears how it goes on.
SittingResult holdSitting(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates,
                          const TuningEntry &known, const TrialConditions &conditions,
                          double seconds, WorkerLine &line);

/// The same, in a process of its own where the operation stands on the host: a candidate that
/// crashes is rejected, and the others go on without it. `progress` hears of each candidate and of
/// the rounds.
SittingResult holdSittingApart(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates,
                               const TuningEntry &known, const TrialConditions &conditions,
                               double seconds,
                               const std::function<void(const TuningEntry &)> &progress);

} // namespace dlc
#endif
