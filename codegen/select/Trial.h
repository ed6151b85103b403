//===- Trial.h - one operation with one kernel, ready to be timed ---------===//
#ifndef DLC_CODEGEN_SELECT_TRIAL_H
#define DLC_CODEGEN_SELECT_TRIAL_H

#include "codegen/select/Candidates.h"
#include "codegen/select/InterleavedBenchmark.h"
#include "ir/tensor/Tensor.h"

namespace dlc {

/// Operands of an operation: constants unchanged, the others random.
struct TrialOperands {
  explicit TrialOperands(mlir::Operation *op);
  std::vector<ref::Tensor> tensors; ///< in the order of the operands; empty for constants
};

/// Returns module { func @main(operands that are not constant) { op } }.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(mlir::Operation *op);

/// Program of one operation, built by the same phases as whole models, on the operation's device.
class Trial : public Timed {
public:
  /// Returns false and sets `reason` if the program fails.
  virtual bool run(std::string &reason) = 0;
  /// Results of the last run as bytes in their layouts. Callers may overwrite them.
  virtual std::vector<ref::Tensor> &results() = 0;
  /// Returns the bytes of scratch memory.
  virtual uint64_t workspace() const = 0;
};

/// Parameters for building a trial.
struct TrialConditions {
  const CompileOptions &options;
  const cpu::Target &target;
  /// Whether constants are evicted from the caches before each run.
  bool coldWeights = false;
};

/// Returns null and sets `reason` if the kernel cannot be built or timed.
std::unique_ptr<Trial> createTrial(mlir::Operation *op, const Candidate &candidate,
                                   const TrialOperands &operands, const TrialConditions &conditions,
                                   std::string &reason);

} // namespace dlc
#endif
