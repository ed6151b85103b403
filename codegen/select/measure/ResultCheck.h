//===- ResultCheck.h - checks the results of candidates -------------------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_RESULTCHECK_H
#define DLC_CODEGEN_SELECT_MEASURE_RESULTCHECK_H

#include "codegen/select/measure/Trial.h"

namespace dlc {

struct ResultCheck {
  std::string wrong; ///< reason for rejection; empty if the results are correct
  double error =
      -1; ///< largest difference from the f64 reference, relative to the largest value; -1: unknown
  /// Reference of the check: "f64", "f64 at 512 positions", "the other candidates".
  std::string checked;
};

/// Checks the results of all candidates. If the f64 reference has only sample positions, candidates
/// are compared with it there, and at all positions with the candidate that is closest to it.
std::vector<ResultCheck> checkResults(mlir::Operation *op, const TrialOperands &operands,
                                      llvm::ArrayRef<const std::vector<ref::Tensor> *> results,
                                      double extraAllowed = 0);

} // namespace dlc
#endif
