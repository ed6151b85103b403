//===- Trial.h - one operation with one kernel, ready to be timed ---------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_TRIAL_H
#define DLC_CODEGEN_SELECT_MEASURE_TRIAL_H

#include "codegen/select/candidates/Candidates.h"
#include "codegen/select/measure/InterleavedBenchmark.h"
#include "ir/tensor/Tensor.h"

namespace dlc {

/// Operands for a trial of an operation: constants are unchanged, other operands have random
/// values.
struct TrialOperands {
  explicit TrialOperands(mlir::Operation *op);
  std::vector<ref::Tensor> tensors; ///< one tensor per operand; an empty tensor for constants
};

/// Returns a module that contains only the operation: module { func @main(operands that are not
/// constant) { op } }.
mlir::OwningOpRef<mlir::ModuleOp> wrapInModule(mlir::Operation *op);

/// Compiled program of one operation on the operation's device, built by the same phases as whole
/// models.
class Trial : public Timeable {
public:
  /// Runs the program once. Returns false and sets `reason` if it fails.
  virtual bool run(std::string &reason) = 0;
  /// Returns the results of the last run as bytes in their layouts. Callers may overwrite them.
  virtual std::vector<ref::Tensor> &results() = 0;
  /// Returns the bytes of scratch memory that the program uses.
  virtual uint64_t workspace() const = 0;
};

/// Parameters with which a trial is created.
struct TrialConditions {
  const CompileOptions &options;
  const cpu::Target &target;
  /// Whether the operation's constants are evicted from the caches before each run.
  bool coldWeights = false;
};

/// Creates a trial of the operation with the candidate's kernel. Returns null and sets `reason` if
/// the kernel cannot be built or timed.
std::unique_ptr<Trial> createTrial(mlir::Operation *op, const Candidate &candidate,
                                   const TrialOperands &operands, const TrialConditions &conditions,
                                   std::string &reason);

} // namespace dlc
#endif
