//===- Apply.h - a placement into types, and its transfers ----------------===//
#ifndef DLC_PASSES_PLACE_APPLY_H
#define DLC_PASSES_PLACE_APPLY_H

#include "passes/place/Build.h"

namespace dlc::place {

/// A transfer that nobody wrote.
struct Crossing {
  std::string value, user;
  OnAttr from, to;
  int64_t bytes = 0;
};

/// Gives every value its device, constants a copy on each device that uses them, and other values a
/// transfer, right where they are made. Fails, with a diagnostic for each, where `forbidden` (a
/// pattern; empty: none) matches the names of a value that crosses or of its user.
mlir::FailureOr<std::vector<Crossing>> applyPlacement(FunctionProblem &placement, const Labels &at,
                                                      llvm::StringRef forbidden);

/// Chains of transfers become one, equal ones one, each stands right behind what it moves.
void tidyTransfers(mlir::func::FuncOp function);

/// What stands where and why, for kPlacementAttr.
mlir::DictionaryAttr describePlacement(const FunctionProblem &placement, const Labels &at,
                                       llvm::ArrayRef<Crossing> crossings,
                                       const Annotations &annotations, const CostTable &costs);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_APPLY_H
