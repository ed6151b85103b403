//===- Schedule.h - how the code of a generated kernel is created ---------===//
//
// The body of an exec.kernel is a fusion, which defines what it computes. Its attribute `schedule`
// selects the emitter of its code. Its attribute `packed` is the operand that the compiler has
// packed.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_SCHEDULE_H
#define DLC_CODEGEN_CPU_SCHEDULE_H

#include "codegen/cpu/Kernel.h"
#include "ir/exec/Exec.h"

#include <memory>
#include <optional>

namespace dlc {

/// A constant operand in the order in which the kernel reads it.
struct PackedOperand {
  unsigned argument = 0;
  int64_t bytes = 0;
  std::string layout; ///< layout description for readers
  std::shared_ptr<void> data;
};

struct Schedule {
  std::string name; ///< rows (any body, row by row), parts (reductions whose partial results
                    ///< another kernel combines) or contract (a blocked matrix multiplication)
  cpu::KernelPlan plan;
  std::optional<PackedOperand> packed;
};

/// Returns the row-by-row schedule of a normalized fusion.
Schedule planRows(FusionOp normal, const cpu::Target &target);
/// Returns the schedule of `normal` as a blocked matrix multiplication; `fusion` is its origin in
/// the model. On failure, `why` is the reason. If `packs` is false, nothing is packed yet: the
/// packed operand has no data.
mlir::FailureOr<Schedule> planBlocks(FusionOp fusion, FusionOp normal, const cpu::Target &target,
                                     bool packs, std::string &why);

/// Writes the schedule's attributes. The rows schedule has none.
void setSchedule(exec::KernelOp kernel, const Schedule &schedule);
/// Returns these attributes as text. Kernels with equal bodies and equal texts are duplicates.
std::string scheduleText(const Schedule &schedule);

/// Emits a kernel's code with the emitter that its schedule selects.
mlir::LogicalResult emitScheduled(mlir::OpBuilder &b, exec::KernelOp kernel, llvm::StringRef name,
                                  const cpu::Target &target);

} // namespace dlc
#endif
