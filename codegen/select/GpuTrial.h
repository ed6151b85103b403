//===- GpuTrial.h - one operation on a GPU, timed by the GPU's own clock ------===//
#ifndef DLC_CODEGEN_SELECT_GPUTRIAL_H
#define DLC_CODEGEN_SELECT_GPUTRIAL_H

#include "codegen/select/Trial.h"
#include "codegen/select/TuningDatabase.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// `module` is a program of the operation alone. Null, and why in `reason`, where it cannot be
/// made.
std::unique_ptr<Trial> createGpuTrial(mlir::ModuleOp module, mlir::Operation *op,
                                      const std::string &device, const TrialOperands &operands,
                                      const TrialConditions &conditions, std::string &reason);

/// What times on the GPU depend on: which one it is, driver and libraries. False where it is not
/// here: then nothing can be measured.
bool addGpuFacts(const std::string &device, Facts &machine, Facts &versions);

} // namespace dlc
#endif
