//===- Trial.h - one operation with one kernel, ready to be timed ---------===//
#ifndef DLC_CODEGEN_SELECT_TRIAL_H
#define DLC_CODEGEN_SELECT_TRIAL_H

#include "codegen/select/Candidates.h"

#include "ir/reference/Tensor.h"

namespace dlc {

namespace runtime {
class Session;
struct Program;
} // namespace runtime

/// Operands of an operation: constants as they are, the others random.
struct TrialOperands {
  explicit TrialOperands(mlir::Operation *op);
  std::vector<ref::Tensor> tensors; ///< in the operands' order; empty where constant
};

/// A program of one operation, made by the phases that make whole ones.
class Trial {
public:
  /// Null, and why in `reason`, when the kernel cannot be made.
  static std::unique_ptr<Trial> create(mlir::Operation *op, const Candidate &candidate, const TrialOperands &operands,
                                       const CompileOptions &options, const cpu::Target &target, std::string &reason);
  ~Trial();

  /// False, and why in `reason`, when the program fails.
  bool run(std::string &reason);
  /// Results of the last run, as bytes in their layouts.
  const std::vector<ref::Tensor> &results() const { return outputs; }
  /// Pushes the program's constants out of all caches.
  void coolConstants() const;

private:
  Trial() = default;
  void releasePacked();
  std::shared_ptr<runtime::Program> program;
  std::unique_ptr<runtime::Session> session;
  std::vector<ref::Tensor> inputs, outputs;
  mlir::MLIRContext *context = nullptr;
  std::vector<std::string> packed; ///< names of weights that were packed for this trial
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
};

} // namespace dlc
#endif
