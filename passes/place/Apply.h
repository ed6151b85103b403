//===- Apply.h - applies a placement: types and transfers -----------------===//
#ifndef DLC_PASSES_PLACE_APPLY_H
#define DLC_PASSES_PLACE_APPLY_H

#include "passes/place/Build.h"

namespace dlc::place {

/// Transfer between devices that the placement inserted.
struct InsertedTransfer {
  std::string value, user;
  OnAttr from, to;
  int64_t bytes = 0;
};

/// Changes the type of each value to its assigned device, and inserts transfers. A constant is
/// copied to each device that uses it. Other values get a transfer immediately after their
/// definition. Fails, with a diagnostic for each transfer, if the pattern `forbidden` (empty: none)
/// matches a name of the transferred value or of its user.
mlir::FailureOr<std::vector<InsertedTransfer>>
applyPlacement(FunctionPlacement &placement, const Labels &at, llvm::StringRef forbidden);

/// Folds chains of transfers into one transfer, merges equal transfers, and moves each transfer to
/// immediately after the definition of its operand.
void simplifyTransfers(mlir::func::FuncOp function);

/// Returns the value of the module attribute kPlacementAttr: the device of each operation with the
/// reason, and the inserted transfers.
mlir::DictionaryAttr describePlacement(const FunctionPlacement &placement, const Labels &at,
                                       llvm::ArrayRef<InsertedTransfer> crossings,
                                       const PlacementOptions &annotations,
                                       const PlacementCostModel &costs);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_APPLY_H
