//===- MatchFormula.h - matches operations as the formula of an activation ----===//
#ifndef DLC_PASSES_FUSE_EPILOGUE_MATCHFORMULA_H
#define DLC_PASSES_FUSE_EPILOGUE_MATCHFORMULA_H

#include "ir/dlc/Dialect.h"
#include "runtime/epilogue/EpilogueOps.h"

namespace dlc {

/// Match of an activation's formula: the activation, and the operations that compute it, in
/// topological order.
struct FormulaMatch {
  Activation activation;
  llvm::SmallVector<mlir::Operation *, 6> ops;
};

/// Matches `last` and the operations that compute its operands as the formula of an activation of
/// `x` (an ACTIVATION row of runtime/epilogue/EpilogueOps.def). With `exact`, matches only
/// activations whose kernels return the same bits as the operations.
std::optional<FormulaMatch> matchFormula(mlir::Operation *last, mlir::Value x, bool exact);

} // namespace dlc

#endif // DLC_PASSES_FUSE_EPILOGUE_MATCHFORMULA_H
