//===- Runner.h - compiles and runs conformance cases and checks their results ---===//
#ifndef DLC_TEST_CONFORMANCE_RUNNER_H
#define DLC_TEST_CONFORMANCE_RUNNER_H

#include "codegen/options/Options.h"
#include "test/conformance/Case.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"

#include <functional>

namespace dlc::conformance {

struct Failure {
  std::string name, reason;
};

struct RunnerOptions {
  bool dump = false;
  /// How cases are compiled. The default is `--accuracy strict`, because the compiler's own default
  /// level permits larger errors in f32 sums of products than the cases do.
  CompileOptions compile = [] {
    CompileOptions options;
    options.accuracy = "strict";
    return options;
  }();
  /// Number of cases that are compiled as one module.
  int batch = 24;
  /// Maximum number of child processes at a time. 0 means the number of processors.
  int jobs = 0;
};

/// A module whose function contains several independent cases, with the index of each case's first
/// argument and first result.
struct Batch {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  struct Place {
    size_t firstInput, firstResult, results;
  };
  std::vector<Place> places;
  std::vector<ref::Tensor> inputs;
};
mlir::FailureOr<Batch> buildBatch(mlir::MLIRContext &context, llvm::ArrayRef<Case> cases);

/// Runs the cases and calls `failed` for each one whose results differ from the reference. If a
/// module does not compile, its cases are compiled again one by one, so that one failing case does
/// not hide the results of others.
void runCases(mlir::MLIRContext &context, llvm::ArrayRef<Case> cases, const RunnerOptions &options,
              const std::function<void(const Failure &)> &failed);

/// Checks whether two tensors agree within the tolerance. If they do not, `why` gets the position
/// of the largest difference.
bool agree(const ref::Tensor &got, const ref::Tensor &want, const Tolerance &tolerance,
           std::string &why);

} // namespace dlc::conformance

#endif // DLC_TEST_CONFORMANCE_RUNNER_H
