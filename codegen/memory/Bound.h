//===- Bound.h - a training step within so many bytes ---------------------===//
#ifndef DLC_CODEGEN_MEMORY_BOUND_H
#define DLC_CODEGEN_MEMORY_BOUND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <limits>

namespace dlc {

/// The bytes that a planned program takes: state, constants and arena, libraries' scratch memory in
/// it included. Not what the caller gives and gets, nor code.
int64_t plannedMemory(mlir::ModuleOp module);

/// Meets a bound on that, though what to compute again is decided long before memory is planned:
/// from an estimate. The first plan, with as little as possible computed again, says what the
/// estimate is worth; what later ones take too much tightens it.
class MemoryBound {
public:
  explicit MemoryBound(int64_t bytes)
      : bytes(bytes), limit(bytes > 0 ? std::numeric_limits<int64_t>::max() : 0) {}

  /// What the estimate may be; 0: anything.
  int64_t estimate() const { return limit; }
  /// The module as it stands, to go back to.
  void remember(mlir::ModuleOp module);
  /// After planning: whether the module stands as it was remembered, for another try. Fails where
  /// no try can help.
  mlir::FailureOr<bool> tighten(mlir::ModuleOp module);

private:
  int64_t bytes, limit, least = 0;
  int tries = 0;
  mlir::OwningOpRef<mlir::ModuleOp> before;
};

} // namespace dlc
#endif
