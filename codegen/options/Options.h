//===- Options.h - options of a compilation -------------------------------===//
#ifndef DLC_CODEGEN_OPTIONS_OPTIONS_H
#define DLC_CODEGEN_OPTIONS_OPTIONS_H

#include "codegen/options/TuningOptions.h"
#include "passes/Settings.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Phases of a compilation, in order. The options `--from`, `--to` and `--print-after` take their
/// names.
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
/// Returns a line of text that describes what the phase decides.
llvm::StringRef phaseSummary(Phase phase);
std::optional<Phase> phaseFromName(llvm::StringRef name);
llvm::ArrayRef<Phase> allPhases();

struct CompileOptions : ModelOptions {
  /// Sets default options. There is no cache folder unless the caller sets one.
  CompileOptions();
  /// Copies the user's options. If they set no cache folder, the default one is used.
  explicit CompileOptions(const ModelOptions &options);

  /// First phase to run. The module must be the result of the phase before it.
  Phase from = Phase::Simplify;
  /// Last phase to run. Only `Native`, the last of all, builds a program.
  Phase to = Phase::Native;
  /// Provider, or family of providers, whose kernels are used wherever possible; empty: the fastest
  /// kernels are used.
  std::string kernels;
  /// Target GPU architecture, such as "sm_90a"; empty: the architecture of this machine's GPUs.
  std::string gpuArch;
  /// Options for measuring kernels. The setting `tune` is an abbreviation of tuning.onMiss =
  /// Measure.
  TuningOptions tuning;
  /// Limit of estimated memory for recomputation, set if memory planning checks the result and may
  /// repeat the phases. Unset: maxMemory is the limit.
  std::optional<int64_t> memoryEstimate;
  /// Called after each phase with the module and the phase's duration (for --time, --print-after
  /// and progress bars).
  std::function<void(Phase, mlir::ModuleOp, double seconds)> afterPhase;
  /// Called while kernels are generated or tuned, with the activity, the number of finished kernels
  /// and their total number.
  std::function<void(llvm::StringRef what, int done, int total)> progress;
  /// Called frequently, from any thread. If it returns true, the compilation ends with an error,
  /// and measurements end with the results so far.
  std::function<bool()> isCancelled;

  bool cancelled() const { return isCancelled && isCancelled(); }
};

/// Returns the options with 0 threads replaced by the number of threads of the host.
CompileOptions resolveDefaults(CompileOptions options);

/// Returns descriptions of all settings (the options that users can set by name): those of
/// ModelOptions and those of CompileOptions.
std::vector<Setting> getModelSettings(CompileOptions &options);

/// Returns the default cache folder: $DLC_CACHE_DIR, or dlc's folder in the user's cache. Returns
/// an empty string (no cache) if neither is known, or if DLC_CACHE_DIR is set to an empty string.
std::string defaultCacheDir();
/// Returns the path of the tuning database that the options select; an empty string if there is
/// none.
std::string getTuningDatabasePath(const CompileOptions &options);

} // namespace dlc

#endif // DLC_CODEGEN_OPTIONS_OPTIONS_H
