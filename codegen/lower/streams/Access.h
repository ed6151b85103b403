//===- Access.h - bytes that commands read and write ----------------------===//
#ifndef DLC_CODEGEN_LOWER_STREAMS_ACCESS_H
#define DLC_CODEGEN_LOWER_STREAMS_ACCESS_H

#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Range of bytes that a command reads or writes, before the arena is planned.
struct MemoryAccess {
  const void *memory; ///< key of the buffer or state
  int64_t start, end;
  bool write;

  bool conflictsWith(const MemoryAccess &other) const {
    return memory == other.memory && (write || other.write) && start < other.end &&
           other.start < end;
  }
};

/// Returns the bytes that a command and the commands in its bodies access. Inputs and constants are
/// omitted because no command writes them, so that they cause no dependency.
llvm::SmallVector<MemoryAccess> getMemoryAccesses(mlir::Operation *command);

/// Returns true if one of the commands writes bytes that the other one accesses.
bool haveConflict(llvm::ArrayRef<MemoryAccess> first, llvm::ArrayRef<MemoryAccess> second);

} // namespace dlc::lower
#endif
