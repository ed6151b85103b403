//===- Tune.h - kernel selection by measurement ---------------------------===//
#ifndef DLC_CODEGEN_SELECT_TUNE_H
#define DLC_CODEGEN_SELECT_TUNE_H

#include "codegen/select/measure/Trial.h"
#include "codegen/select/measure/TuningDatabase.h"

namespace dlc {

/// Conditions on which the candidates' times depend, in addition to the operation.
struct TuningConditions {
  NamedValues settings, machine, versions;
  /// Whether the model's weights exceed the caches, so that each run reads an operation's weights
  /// from memory.
  bool coldWeights = false;
};

TuningConditions conditionsOf(mlir::ModuleOp module, const CompileOptions &options,
                              const cpu::Target &target);

/// Returns the tuning-database key of the operation under these conditions. It contains no names or
/// locations, so that equal operations share their measurements.
TuningKey makeTuningKey(mlir::Operation *op, const TuningConditions &conditions);

struct Measurement {
  /// Results of this measurement session and of earlier ones.
  TuningEntry entry;
  /// Whether this session has a result. False if other work on the machine disturbed too many runs.
  bool enough = false;
};

/// Runs one measurement session: an interleaved benchmark of the candidates on random operands of
/// their real size, until their order is certain or `seconds` have passed. Times count only for
/// candidates with correct results. Candidates whose estimates are far above the best are recorded
/// as rejected. Candidates that `known` (earlier sessions, or an interrupted one) shows to be too
/// slow are skipped. `progress` is called after each timing step.
Measurement measureCandidates(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates,
                              const TuningKey &key, const TuningEntry *known,
                              const TrialConditions &conditions, double seconds,
                              const std::function<void(const TuningEntry &)> &progress);

/// Returns true if the entry has measured times of implementations that are not among the
/// candidates.
bool hasOtherImplementations(const TuningEntry &entry, llvm::ArrayRef<Candidate> candidates);

/// Copies the measured times from the entry to the candidates and moves the entry's choice to the
/// front.
void applyMeasurement(const TuningEntry &entry, std::vector<Candidate> &candidates);

} // namespace dlc
#endif
