//===- Options.h - options of a compilation -------------------------------===//
#ifndef DLC_CODEGEN_OPTIONS_OPTIONS_H
#define DLC_CODEGEN_OPTIONS_OPTIONS_H

#include "codegen/options/TuningOptions.h"
#include "passes/Settings.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Phases in order. `--from`, `--to` and `--print-after` take their names.
enum class Phase {
  Import,
  Simplify,
  Grad,
  Precision,
  Place,
  Layout,
  Fuse,
  Select,
  Refine,
  Lower,
  Memory,
  Native
};

llvm::StringRef phaseName(Phase phase);
/// Returns one line about what the phase decides.
llvm::StringRef phaseSummary(Phase phase);
std::optional<Phase> phaseFromName(llvm::StringRef name);
llvm::ArrayRef<Phase> allPhases();

struct CompileOptions : ModelOptions {
  /// Uses no cache folder unless one is set.
  CompileOptions();
  /// Takes the user's options, with the default cache folder if they name none.
  explicit CompileOptions(const ModelOptions &options);

  /// First phase to run. The module must be the result of the previous phase.
  Phase from = Phase::Simplify;
  /// Last phase to run; only `Native` builds a program.
  Phase to = Phase::Native;
  /// Provider or family whose kernels are used wherever possible; empty: the fastest.
  std::string kernels;
  /// Target GPU architecture, as in "sm_90a"; empty: that of this machine's GPUs.
  std::string gpuArch;
  /// `tune` is a short form of tuning.onMiss = Measure.
  TuningOptions tuning;
  /// Limit of the memory estimate for recomputation, if memory planning checks the result; unset:
  /// maxMemory.
  std::optional<int64_t> memoryEstimate;
  /// Called after each phase with its duration (for --time, --print-after and progress bars).
  std::function<void(Phase, mlir::ModuleOp, double seconds)> afterPhase;
  /// Called while kernels are generated or tuned: activity, number done, total number.
  std::function<void(llvm::StringRef what, int done, int total)> progress;
  /// Called frequently, from any thread. Once it returns true, the compilation ends with an error,
  /// and measuring ends with the results so far.
  std::function<bool()> isCancelled;

  bool cancelled() const { return isCancelled && isCancelled(); }
};

/// Replaces 0 threads by the host's number of threads.
CompileOptions resolved(CompileOptions options);

/// Returns the settings of ModelOptions and those of CompileOptions.
std::vector<Setting> settingsOf(CompileOptions &options);

/// Returns $DLC_CACHE_DIR, else dlc's folder in the user's cache. Empty (no cache) if neither is
/// known, or if DLC_CACHE_DIR is set to an empty string.
std::string defaultCacheDir();
/// Returns the path of the tuning database; empty for none.
std::string databaseOf(const CompileOptions &options);

} // namespace dlc

#endif // DLC_CODEGEN_OPTIONS_OPTIONS_H
