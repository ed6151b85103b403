//===- Bound.h - memory bound of a training step --------------------------===//
#ifndef DLC_CODEGEN_MEMORY_BOUND_H
#define DLC_CODEGEN_MEMORY_BOUND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <limits>

namespace dlc {

/// Bytes that a planned program uses: state, constants and arena, including the scratch memory of
/// libraries. Excludes the caller's inputs and outputs, and code.
int64_t plannedMemory(mlir::ModuleOp module);

/// Enforces a bound on plannedMemory(). Recomputation is decided by an estimate, long before memory
/// is planned. The first plan, with the least recomputation, calibrates the estimate; the excess of
/// later plans tightens it.
class MemoryBound {
public:
  explicit MemoryBound(int64_t bytes)
      : bytes(bytes), limit(bytes > 0 ? std::numeric_limits<int64_t>::max() : 0) {}

  /// Limit of the estimate for recomputation; 0: unlimited.
  int64_t estimate() const { return limit; }
  /// Saves the module's current state to return to.
  void remember(mlir::ModuleOp module);
  /// Called after planning: returns true if the bound was exceeded and the module was restored for
  /// another attempt. Fails if no further attempt can help.
  mlir::FailureOr<bool> tighten(mlir::ModuleOp module);

private:
  int64_t bytes, limit, least = 0;
  int tries = 0;
  mlir::OwningOpRef<mlir::ModuleOp> before;
};

} // namespace dlc
#endif
