//===- MeasurementSession.h - one measurement session ---------------------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_MEASUREMENTSESSION_H
#define DLC_CODEGEN_SELECT_MEASURE_MEASUREMENTSESSION_H

#include "codegen/select/measure/Trial.h"
#include "codegen/select/measure/TuningDatabase.h"
#include "codegen/select/measure/Worker.h"

namespace dlc {

struct SessionResult {
  /// Results in the order of the candidates: times of this session, or reasons for rejection.
  TuningEntry entry;
  /// Whether the session has a result. False if other work on the machine disturbed too many runs.
  bool enough = false;
};

/// Runs a measurement session in this process: builds, checks and times the candidates. `known` has
/// their earlier results in the same order. Candidates that are rejected in `known` are skipped,
/// results that it marks as checked are not checked again, and its finished rounds count. Progress
/// messages are sent to `line`.
SessionResult runSession(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates,
                         const TuningEntry &known, const TrialConditions &conditions,
                         double seconds, WorkerConnection &line);

/// Runs a measurement session (see runSession) in a separate process, if the operation runs on the
/// host. A candidate that crashes is rejected, and the session continues without it. `progress` is
/// called for each candidate and during the rounds.
SessionResult runSessionInWorker(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates,
                                 const TuningEntry &known, const TrialConditions &conditions,
                                 double seconds,
                                 const std::function<void(const TuningEntry &)> &progress);

} // namespace dlc
#endif
