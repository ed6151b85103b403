//===- CalibrationCases.h - what a machine is measured with ----------------===//
#ifndef DLC_CODEGEN_SELECT_CALIBRATIONCASES_H
#define DLC_CODEGEN_SELECT_CALIBRATIONCASES_H

#include "codegen/machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// A module of one function, and which of a machine's rates its time tells.
struct CalibrationCase {
  std::string text;
  FigureScale tells = FigureScale::None;
};

/// In the order of what they are worth: time may end before they do.
std::vector<CalibrationCase> calibrationCases(int threads);

/// The case as a module; arguments that are marked as weights are constants of random numbers.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const CalibrationCase &each, mlir::MLIRContext &context);

} // namespace dlc
#endif
