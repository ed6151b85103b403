//===- Agree.h - whether candidates compute what they should ---------------===//
#ifndef DLC_CODEGEN_SELECT_AGREE_H
#define DLC_CODEGEN_SELECT_AGREE_H

#include "codegen/select/Trial.h"

namespace dlc {

struct Verdict {
  std::string wrong; ///< why it does not count
  double error = -1; ///< the largest difference from f64 in units of the largest value; -1: unknown
  std::string checked; ///< against what: "f64", "f64 at 512 places", "the other candidates"
};

/// For each candidate's results. What stands only at some places is held against f64 there, and
/// everywhere against the candidate that comes nearest to it.
std::vector<Verdict> judge(mlir::Operation *op, const TrialOperands &operands,
                           llvm::ArrayRef<const std::vector<ref::Tensor> *> results,
                           double extraAllowed = 0);

} // namespace dlc
#endif
