//===- Schedule.h - how a generated kernel's code is to be made -----------===//
//
// An exec.kernel holds its meaning, a fusion; its attribute `schedule` says which emitter makes the
// code, and `packed` which operand the compiler has packed for it.
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
  std::string layout; ///< for people
  std::shared_ptr<void> data;
};

struct Schedule {
  std::string name; ///< rows (any body, row by row), parts (reductions whose partial results
                    ///< another kernel combines) or contract (a blocked matrix product)
  cpu::KernelPlan plan;
  std::optional<PackedOperand> packed;
};

/// How a fusion's normal form is made row by row.
Schedule planRows(FusionOp normal, const cpu::Target &target);
/// How it is made as a blocked product of the model's `fusion`; `why` where it is none. With
/// `packs` false nothing is packed yet: the packed operand has no data.
mlir::FailureOr<Schedule> planBlocks(FusionOp fusion, FusionOp normal, const cpu::Target &target,
                                     bool packs, std::string &why);

/// Writes the schedule's attributes; those of a kernel that walks rows are none.
void setSchedule(exec::KernelOp kernel, const Schedule &schedule);
/// The text of these attributes: two kernels of one body and one text are one kernel.
std::string scheduleText(const Schedule &schedule);

/// Emits a kernel's code as its schedule says.
mlir::LogicalResult emitScheduled(mlir::OpBuilder &b, exec::KernelOp kernel, llvm::StringRef name,
                                  const cpu::Target &target);

} // namespace dlc
#endif
