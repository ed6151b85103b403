//===- CalibrationCases.h - operations that calibrate a machine profile ---===//
#ifndef DLC_CODEGEN_SELECT_CALIBRATIONCASES_H
#define DLC_CODEGEN_SELECT_CALIBRATIONCASES_H

#include "codegen/machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// A module of one function, and the rate that its time represents.
struct CalibrationCase {
  std::string text;
  FigureScale tells = FigureScale::None;
};

/// Returns the cases in order of importance, since time may run out before all are measured.
std::vector<CalibrationCase> calibrationCases(int threads);

/// Returns the case as a module. Arguments that are marked as weights become random constants.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const CalibrationCase &each, mlir::MLIRContext &context);

} // namespace dlc
#endif
