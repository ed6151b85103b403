//===- Tune.h - the choice by measurement ---------------------------------===//
#ifndef DLC_CODEGEN_SELECT_TUNE_H
#define DLC_CODEGEN_SELECT_TUNE_H

#include "codegen/select/Candidates.h"
#include "codegen/select/TuningFile.h"

namespace dlc {

/// What the candidates' times depend on beside the operation itself.
struct TuningConditions {
  /// Processor, threads, versions.
  std::string text;
  /// The model has more weights than the caches hold: each run finds an operation's own in memory.
  bool coldWeights = false;
};

TuningConditions conditionsOf(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

/// The operation without names and places, with what it depends on: equal texts are equal measurements.
std::string tuningKey(mlir::Operation *op, const TuningConditions &conditions);

/// Runs the candidates in turns, on random operands of real size, until their order is certain or the operation's time is
/// over. Results are compared before a time counts. Nothing when other work on the machine let no run finish undisturbed.
std::optional<TunedEntry> measureCandidates(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates, const TuningConditions &conditions,
                             const CompileOptions &options, const cpu::Target &target);

/// Puts measured figures on the candidates and the fastest in front. Candidates that only the measurement knew are added.
void applyMeasurement(const TunedEntry &entry, std::vector<Candidate> &candidates);

} // namespace dlc
#endif
