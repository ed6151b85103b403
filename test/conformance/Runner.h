//===- Runner.h - cases through the whole pipeline -------------------------------===//
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
  /// How cases are compiled. Sums of products of f32 are exact: the compiler's own default allows
  /// more error than the cases do by themselves.
  CompileOptions compile = [] {
    CompileOptions options;
    options.accuracy = "strict";
    return options;
  }();
  /// Cases compiled as one module.
  int batch = 24;
  /// Processes at a time; 0: as many as there are processors.
  int jobs = 0;
};

/// A module whose function holds some cases side by side, and where their arguments and results
/// stand in it.
struct Batch {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  struct Place {
    size_t firstInput, firstResult, results;
  };
  std::vector<Place> places;
  std::vector<ref::Tensor> inputs;
};
mlir::FailureOr<Batch> buildBatch(mlir::MLIRContext &context, llvm::ArrayRef<Case> cases);

/// Runs the cases; calls `failed` for each that does not agree with the reference. A module that
/// does not compile is tried again case by case, so that one case cannot hide another.
void runCases(mlir::MLIRContext &context, llvm::ArrayRef<Case> cases, const RunnerOptions &options,
              const std::function<void(const Failure &)> &failed);

/// Whether two tensors agree; else says where they differ most.
bool agree(const ref::Tensor &got, const ref::Tensor &want, const Tolerance &tolerance,
           std::string &why);

} // namespace dlc::conformance

#endif // DLC_TEST_CONFORMANCE_RUNNER_H
