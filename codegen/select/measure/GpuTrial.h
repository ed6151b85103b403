//===- GpuTrial.h - one operation on a GPU, timed by the GPU's own clock ---===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_GPUTRIAL_H
#define DLC_CODEGEN_SELECT_MEASURE_GPUTRIAL_H

#include "codegen/select/measure/Trial.h"
#include "codegen/select/measure/TuningDatabase.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Creates a trial on the GPU from `module`, a program that contains only the operation. Returns
/// null and sets `reason` if the trial cannot be created.
std::unique_ptr<Trial> createGpuTrial(mlir::ModuleOp module, mlir::Operation *op,
                                      const std::string &device, const TrialOperands &operands,
                                      const TrialConditions &conditions, std::string &reason);

/// Adds the properties on which times on the GPU depend: its model, driver and libraries. Returns
/// false if the GPU is not available, so that nothing can be measured.
bool addGpuProperties(const std::string &device, NamedValues &machine, NamedValues &versions);

} // namespace dlc
#endif
