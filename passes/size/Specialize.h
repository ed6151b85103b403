//===- Specialize.h - static programs from programs with symbols -------------===//
#ifndef DLC_PASSES_SIZE_SPECIALIZE_H
#define DLC_PASSES_SIZE_SPECIALIZE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <map>
#include <memory>
#include <string>

namespace dlc {

/// Values of symbols by name.
using SizeValues = std::map<std::string, int64_t>;

/// Replaces symbols by values in all types and attributes of the module, and each `dlc.size` that
/// becomes a number by a constant. Symbols without a value remain. Fails if a name is not a symbol
/// of the module, or if a value or a resulting size is out of range.
mlir::LogicalResult specializeSizes(mlir::ModuleOp module, const SizeValues &values);

/// `dlc-specialize`: replaces the symbols that the pass option `sizes` names by their values.
std::unique_ptr<mlir::Pass> createSpecializePass();

} // namespace dlc

#endif // DLC_PASSES_SIZE_SPECIALIZE_H
