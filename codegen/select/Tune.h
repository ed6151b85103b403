//===- Tune.h - the choice by measurement ---------------------------------===//
#ifndef DLC_CODEGEN_SELECT_TUNE_H
#define DLC_CODEGEN_SELECT_TUNE_H

#include "codegen/select/Trial.h"
#include "codegen/select/TuningDatabase.h"

namespace dlc {

/// What the candidates' times depend on beside the operation itself.
struct TuningConditions {
  Facts settings, machine, versions;
  /// The model has more weights than the caches hold: each run finds an operation's own in memory.
  bool coldWeights = false;
};

TuningConditions conditionsOf(mlir::ModuleOp module, const CompileOptions &options,
                              const cpu::Target &target);

/// The operation without names and places, with what it depends on: equal keys are equal
/// measurements.
TuningKey tuningKey(mlir::Operation *op, const TuningConditions &conditions);

struct Measurement {
  /// With what earlier sittings found.
  TuningEntry entry;
  /// False: other work on the machine let too few runs finish undisturbed to say anything.
  bool enough = false;
};

/// One sitting: runs the candidates in turns, on random operands of real size, until their order is
/// certain or `seconds` are over. Results are checked before a time counts. Candidates that the
/// estimate rules out are written down as such; those that `known` (of earlier sittings, or of one
/// that was broken off) leaves without hope sit out. `progress` hears of every step.
Measurement measureCandidates(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates,
                              const TuningKey &key, const TuningEntry *known,
                              const TrialConditions &conditions, double seconds,
                              const std::function<void(const TuningEntry &)> &progress);

/// Whether it has times of implementations that are not among these.
bool namesOthers(const TuningEntry &entry, llvm::ArrayRef<Candidate> candidates);

/// Puts measured figures on the candidates and the entry's choice in front. Candidates that only
/// the measurement knew are added.
void applyMeasurement(const TuningEntry &entry, std::vector<Candidate> &candidates);

} // namespace dlc
#endif
