//===- Access.cpp - bytes that commands read and write --------------------===//
#include "codegen/lower/Access.h"

#include "codegen/memory/Memory.h"

using namespace mlir;

namespace dlc::lower {

namespace {

/// Returns the key that identifies a state's memory. The StateOps of the old and the new value map
/// to the same key, because both values share their memory.
const void *stateMemory(exec::StateOp state) {
  for (auto other : state->getBlock()->getOps<exec::StateOp>())
    if (other.getIndex() == state.getIndex())
      return other.getBuffer().getAsOpaquePointer();
  llvm_unreachable("a state is in its own block");
}

void collect(Operation *op, SmallVectorImpl<Access> &accesses) {
  SmallVector<unsigned> written = exec::writtenOperands(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto [root, start, bytes] = extentOf(operand);
    Operation *def = root.getDefiningOp();
    if (isa<exec::InputOp, exec::ConstantOp>(def))
      continue;
    const void *memory = root.getAsOpaquePointer();
    if (auto state = dyn_cast<exec::StateOp>(def))
      memory = stateMemory(state);
    accesses.push_back({memory, start, start + bytes, llvm::is_contained(written, i)});
  }
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front())
      if (exec::streamOf(&inner))
        collect(&inner, accesses);
}

} // namespace

SmallVector<Access> accessesOf(Operation *command) {
  SmallVector<Access> accesses;
  collect(command, accesses);
  return accesses;
}

bool haveConflict(ArrayRef<Access> first, ArrayRef<Access> second) {
  return llvm::any_of(first, [&](const Access &a) {
    return llvm::any_of(second, [&](const Access &b) { return a.conflictsWith(b); });
  });
}

} // namespace dlc::lower
