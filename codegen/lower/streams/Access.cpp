//===- Access.cpp - bytes that commands read and write --------------------===//
#include "codegen/lower/streams/Access.h"

#include "codegen/memory/Memory.h"

using namespace mlir;

namespace dlc::lower {

namespace {

/// Returns the key that identifies a state's memory. The StateOps of the old and the new value map
/// to the same key, because both values share their memory.
const void *getStateMemoryKey(exec::StateOp state) {
  for (auto other : state->getBlock()->getOps<exec::StateOp>())
    if (other.getIndex() == state.getIndex())
      return other.getBuffer().getAsOpaquePointer();
  llvm_unreachable("a state is in its own block");
}

void collectAccesses(Operation *op, SmallVectorImpl<MemoryAccess> &accesses) {
  SmallVector<unsigned> written = exec::getWrittenOperands(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto [root, start, bytes] = getBufferExtent(operand);
    Operation *def = root.getDefiningOp();
    if (isa<exec::InputOp, exec::ConstantOp>(def))
      continue;
    const void *memory = root.getAsOpaquePointer();
    if (auto state = dyn_cast<exec::StateOp>(def))
      memory = getStateMemoryKey(state);
    accesses.push_back({memory, start, start + bytes, llvm::is_contained(written, i)});
  }
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front())
      if (exec::getStreamNumber(&inner))
        collectAccesses(&inner, accesses);
}

} // namespace

SmallVector<MemoryAccess> getMemoryAccesses(Operation *command) {
  SmallVector<MemoryAccess> accesses;
  collectAccesses(command, accesses);
  return accesses;
}

bool haveConflict(ArrayRef<MemoryAccess> first, ArrayRef<MemoryAccess> second) {
  return llvm::any_of(first, [&](const MemoryAccess &a) {
    return llvm::any_of(second, [&](const MemoryAccess &b) { return a.conflictsWith(b); });
  });
}

} // namespace dlc::lower
