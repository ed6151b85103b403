//===- CalibrationCases.h - operations that calibrate a machine profile ---===//
#ifndef DLC_CODEGEN_SELECT_CALIBRATIONCASES_H
#define DLC_CODEGEN_SELECT_CALIBRATIONCASES_H

#include "codegen/machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Text of a module with one function to be timed, and the kind of profile parameters that its time
/// determines.
struct CalibrationCase {
  std::string text;
  ParameterScaling tells = ParameterScaling::None;
};

/// Returns the calibration cases in order of importance, since time may run out before all are
/// measured.
std::vector<CalibrationCase> calibrationCases(int threads);

/// Parses the text of a calibration case. Arguments with the attribute `dlc.weights` become random
/// constants.
mlir::OwningOpRef<mlir::ModuleOp> parseCaseModule(const CalibrationCase &each,
                                                  mlir::MLIRContext &context);

} // namespace dlc
#endif
