//===- Pipeline.h - the order of everything -------------------------------===//
#ifndef DLC_CODEGEN_PIPELINE_H
#define DLC_CODEGEN_PIPELINE_H

#include "codegen/select/TuningOptions.h"
#include "passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

namespace runtime {
struct Program;
}

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
std::optional<Phase> phaseFromName(llvm::StringRef name);
llvm::ArrayRef<Phase> allPhases();

struct CompileOptions {
  std::string device = "cpu";
  /// Which operations, inputs and outputs stand elsewhere, or which devices share the work; see
  /// PlaceOptions.
  std::vector<std::string> place;
  /// Operations of such names may not need a transfer that nobody wrote; empty: any may.
  std::string forbidTransfers;
  /// Threads that the program is meant for; 0 means all that the process may use.
  int threads = 0;
  /// The module already stands after the phase before this one.
  Phase from = Phase::Simplify;
  /// Stop after this phase; only `Native` makes a program.
  Phase to = Phase::Native;
  /// Whose kernels to take wherever they can do the work: generated, rows, contract, onednn,
  /// builtin, tiles, direct, winograd, attention; empty: the fastest.
  std::string kernels;
  /// What is computed in 16 bits.
  PrecisionOptions precision;
  /// What sums of f32 products may lose for speed: strict (as written), default (convolutions and
  /// products with fewer multiplications, products of bf16 parts on tiles: codegen/select/README.md
  /// has the bounds), fast (also what precision.matmul = medium allows).
  std::string accuracy = "default";
  /// PATTERN=strict|default|fast: products of such names, whatever `accuracy`.
  std::vector<std::string> accuracyOf;
  /// Bytes of state, constants and arena that a training step may take: what does not fit is
  /// computed again; 0: any.
  int64_t maxMemory = 0;
  /// The GPUs that the program is for, as in "sm_90a"; empty: those of this machine.
  std::string gpuArch;
  /// Measure candidates that nothing is known of instead of asking the cost model: tuning.onMiss =
  /// Measure in short.
  bool tune = false;
  TuningOptions tuning;
  /// Where object code and tuning results are kept; empty means keep nothing.
  std::string cacheDir;
  /// Called after each phase with its seconds (for --time, --print-after and progress bars).
  std::function<void(Phase, mlir::ModuleOp, double seconds)> afterPhase;
  /// Called while kernels are generated or tuned: what, done, of how many.
  std::function<void(llvm::StringRef what, int done, int total)> progress;
};

/// Runs the phases from `from` to `to` on the module. Returns the program when `to` is Native, else
/// null. Errors are diagnostics on the module's context.
mlir::FailureOr<std::shared_ptr<runtime::Program>> compile(mlir::ModuleOp module,
                                                           const CompileOptions &options);

/// Loads every dialect that some phase uses, and sets the context up.
void prepareContext(mlir::MLIRContext &context);

} // namespace dlc

#endif // DLC_CODEGEN_PIPELINE_H
