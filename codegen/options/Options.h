//===- Options.h - what a compilation is asked for ------------------------===//
#ifndef DLC_CODEGEN_OPTIONS_OPTIONS_H
#define DLC_CODEGEN_OPTIONS_OPTIONS_H

#include "codegen/options/TuningOptions.h"
#include "passes/Settings.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// The phases in order. `--from`, `--to` and `--print-after` take these names.
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
/// What it decides, in a line.
llvm::StringRef phaseSummary(Phase phase);
std::optional<Phase> phaseFromName(llvm::StringRef name);
llvm::ArrayRef<Phase> allPhases();

struct CompileOptions : ModelOptions {
  /// Keeps nothing that nobody asks it to keep.
  CompileOptions();
  /// What users ask for; the cache is theirs where they name none.
  explicit CompileOptions(const ModelOptions &options);

  /// The module already stands after the phase before this one.
  Phase from = Phase::Simplify;
  /// Stop after this phase; only `Native` makes a program.
  Phase to = Phase::Native;
  /// Whose kernels to take wherever they can do the work; empty: the fastest.
  std::string kernels;
  /// The GPUs that the program is for, as in "sm_90a"; empty: those of this machine.
  std::string gpuArch;
  /// `tune` is short for tuning.onMiss = Measure.
  TuningOptions tuning;
  /// The least estimate of memory that recomputation is to reach, where planning checks what comes
  /// of it; nothing: maxMemory.
  std::optional<int64_t> memoryEstimate;
  /// Called after each phase with its seconds (for --time, --print-after and progress bars).
  std::function<void(Phase, mlir::ModuleOp, double seconds)> afterPhase;
  /// Called while kernels are generated or tuned: what, done, of how many.
  std::function<void(llvm::StringRef what, int done, int total)> progress;
  /// Asked often, by any thread: once it says yes, the compilation ends with an error, and
  /// measuring with what is known by then.
  std::function<bool()> isCancelled;

  bool cancelled() const { return isCancelled && isCancelled(); }
};

/// With the threads that 0 stands for.
CompileOptions resolved(CompileOptions options);

/// Those of ModelOptions, and what else has a name.
std::vector<Setting> settingsOf(CompileOptions &options);

/// $DLC_CACHE_DIR, else dlc's folder in the user's cache; empty ("keep nothing") when neither can
/// be told or DLC_CACHE_DIR is set and empty.
std::string defaultCacheDir();
/// The tuning database; empty for none.
std::string databaseOf(const CompileOptions &options);

} // namespace dlc

#endif // DLC_CODEGEN_OPTIONS_OPTIONS_H
