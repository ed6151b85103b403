//===- Agree.h - whether candidates compute the same ----------------------===//
#ifndef DLC_CODEGEN_SELECT_AGREE_H
#define DLC_CODEGEN_SELECT_AGREE_H

#include "codegen/select/Trial.h"

namespace dlc {

/// For each candidate's results: nothing, or why they are wrong. Small operations are held against the reference
/// evaluator; large ones against one another first, and against the reference where they differ.
std::vector<std::string> whoIsWrong(mlir::Operation *op, const TrialOperands &operands,
                                    llvm::ArrayRef<const std::vector<ref::Tensor> *> results);

} // namespace dlc
#endif
