//===- ResultCheck.h - checks the results of candidates -------------------===//
#ifndef DLC_CODEGEN_SELECT_RESULTCHECK_H
#define DLC_CODEGEN_SELECT_RESULTCHECK_H

#include "codegen/select/Trial.h"

namespace dlc {

struct ResultCheck {
  std::string wrong;   ///< reason for rejection; empty: correct
  double error = -1;   ///< largest difference from f64, relative to the largest value; -1: unknown
  std::string checked; ///< reference: "f64", "f64 at 512 positions", "the other candidates"
};

/// Checks the results of all candidates. If the reference has sample positions only, candidates are
/// compared with f64 there, and everywhere with the candidate that is closest to it.
std::vector<ResultCheck> checkResults(mlir::Operation *op, const TrialOperands &operands,
                                      llvm::ArrayRef<const std::vector<ref::Tensor> *> results,
                                      double extraAllowed = 0);

} // namespace dlc
#endif
