//===- Bound.h - memory bound of a training step --------------------------===//
#ifndef DLC_CODEGEN_MEMORY_BOUND_H
#define DLC_CODEGEN_MEMORY_BOUND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <limits>

namespace dlc {

/// Returns the bytes that a program uses according to its memory plan: states, constants and
/// arenas, including the scratch memory of libraries. The caller's inputs and outputs, and machine
/// code, are not included.
int64_t getPlannedMemory(mlir::ModuleOp module);

/// Enforces a bound on getPlannedMemory() by recomputation. The recomputation pass needs an
/// estimate because it runs long before memory is planned. The first plan, with the least
/// recomputation, calibrates the estimate. If later plans exceed the bound, the excess is
/// subtracted from the estimate's limit.
class MemoryBound {
public:
  explicit MemoryBound(int64_t bytes)
      : bytes(bytes), limit(bytes > 0 ? std::numeric_limits<int64_t>::max() : 0) {}

  /// Returns the limit, in bytes, on the estimated memory; it is an option of the recomputation
  /// pass. 0: no bound was requested.
  int64_t estimateLimit() const { return limit; }
  /// Saves a copy of the module, which tighten() restores for another attempt. Only the first call
  /// has an effect.
  void remember(mlir::ModuleOp module);
  /// Checks the bound after memory was planned. Returns false if the plan meets it. Otherwise,
  /// reduces the limit of the estimate, restores the saved module, and returns true: the
  /// compilation must be repeated. Fails if no further attempt can help.
  mlir::FailureOr<bool> tighten(mlir::ModuleOp module);

private:
  int64_t bytes, limit, least = 0;
  int tries = 0;
  mlir::OwningOpRef<mlir::ModuleOp> before;
};

} // namespace dlc
#endif
