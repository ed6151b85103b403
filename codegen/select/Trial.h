//===- Trial.h - one operation with one kernel, ready to be timed ---------===//
#ifndef DLC_CODEGEN_SELECT_TRIAL_H
#define DLC_CODEGEN_SELECT_TRIAL_H

#include "codegen/select/Candidates.h"
#include "codegen/select/Contest.h"
#include "ir/tensor/Tensor.h"

namespace dlc {

/// Operands of an operation: constants as they are, the others random.
struct TrialOperands {
  explicit TrialOperands(mlir::Operation *op);
  std::vector<ref::Tensor> tensors; ///< in the operands' order; empty where constant
};

/// module { func @main(operands that are not constant) { op } }
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(mlir::Operation *op);

/// A program of one operation, made by the phases that make whole ones, on the device that the
/// operation stands on.
class Trial : public Timed {
public:
  /// False, and why in `reason`, when the program fails.
  virtual bool run(std::string &reason) = 0;
  /// Results of the last run, as bytes in their layouts. They may be written to.
  virtual std::vector<ref::Tensor> &results() = 0;
  /// Bytes of scratch memory.
  virtual uint64_t workspace() const = 0;
};

/// What a trial is made with.
struct TrialConditions {
  const CompileOptions &options;
  const cpu::Target &target;
  /// Constants leave the caches before each run.
  bool coldWeights = false;
};

/// Null, and why in `reason`, when the kernel cannot be made or nothing can time it.
std::unique_ptr<Trial> createTrial(mlir::Operation *op, const Candidate &candidate,
                                   const TrialOperands &operands, const TrialConditions &conditions,
                                   std::string &reason);

} // namespace dlc
#endif
