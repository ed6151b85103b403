//===- Schedule.h - how the code of a generated kernel is created ---------===//
//
// The body of an exec.kernel is a fusion, which defines what the kernel computes. The attribute
// `schedule` of the exec.kernel selects the emitter of its code. The attribute `packed` is the
// index of the operand that is packed at compile time.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_SCHEDULE_H
#define DLC_CODEGEN_CPU_SCHEDULE_H

#include "codegen/cpu/kernel/Kernel.h"
#include "ir/exec/Exec.h"

#include <memory>
#include <optional>

namespace dlc {

/// Constant operand that is packed at compile time, in the order in which the kernel reads it.
struct PackedOperand {
  unsigned argument = 0;
  int64_t bytes = 0;
  std::string layout; ///< name of the packed layout, with its sizes
  std::shared_ptr<void> data;
};

struct Schedule {
  /// Name of the schedule: `rows` (any body, row by row), `parts` (reductions whose partial results
  /// another kernel combines) or `contract` (a blocked matrix multiplication).
  std::string name;
  cpu::KernelPlan plan;
  std::optional<PackedOperand> packed;
};

/// Returns the schedule `rows` of a normalized fusion: loops over the rows of each result.
Schedule planRowSchedule(FusionOp normal, const cpu::Target &target);
/// Returns the schedule `contract` of a normalized fusion: a blocked matrix multiplication.
/// `fusion` is the fusion in the model that `normal` was created from. On failure, `why` is set to
/// the reason. If `packs` is false, the constant operand is not packed yet, and the packed operand
/// has no data.
mlir::FailureOr<Schedule> planContractSchedule(FusionOp fusion, FusionOp normal,
                                               const cpu::Target &target, bool packs,
                                               std::string &why);

/// Sets the attributes of `kernel` that record the schedule. The schedule `rows` needs no
/// attributes.
void setSchedule(exec::KernelOp kernel, const Schedule &schedule);
/// Returns the attributes of a schedule as text. Kernels with equal bodies and equal texts are
/// duplicates.
std::string formatSchedule(const Schedule &schedule);

/// Emits a kernel's function with the emitter that its attribute `schedule` selects.
mlir::LogicalResult emitScheduled(mlir::OpBuilder &b, exec::KernelOp kernel, llvm::StringRef name,
                                  const cpu::Target &target);

} // namespace dlc
#endif
