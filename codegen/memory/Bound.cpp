//===- Bound.cpp - memory bound of a training step ------------------------===//
#include "codegen/memory/Bound.h"

#include "ir/dlc/Attributes.h"
#include "ir/exec/Exec.h"
#include "passes/Passes.h"
#include "passes/grad/recompute/Lifetimes.h"

using namespace mlir;

namespace dlc {

constexpr int kMaxTries = 8;

int64_t getPlannedMemory(ModuleOp module) {
  int64_t total = 0;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    total += int64_t(program.getArena().value_or(0));
    if (DictionaryAttr arenas = program.getArenasAttr())
      for (NamedAttribute arena : arenas)
        total += cast<IntegerAttr>(arena.getValue()).getInt();
    if (ArrayAttr states = program.getStatesAttr())
      for (auto state : states.getAsRange<DictionaryAttr>())
        total += grad::tensorBytes(state.getAs<TypeAttr>("type").getValue());
    program.walk([&](exec::ConstantOp constant) {
      total += cast<exec::BufferType>(constant->getResult(0).getType()).getBytes();
    });
  }
  return total;
}

void MemoryBound::remember(ModuleOp module) {
  if (bytes > 0 && !before)
    before = cast<ModuleOp>(module->clone());
}

FailureOr<bool> MemoryBound::tighten(ModuleOp module) {
  if (bytes <= 0)
    return false;
  int64_t found = getPlannedMemory(module);
  if (found <= bytes)
    return false;
  least = least ? std::min(least, found) : found;
  // Estimate of the memory that the recomputation pass reached, which it stores as an attribute.
  auto estimate = module->getAttrOfType<IntegerAttr>(kEstimateAttr);
  bool exhausted = !before || !estimate || estimate.getInt() > limit;
  if (exhausted || ++tries >= kMaxTries)
    return module.emitError("required: at most ")
               << bytes << " bytes of state, constants and intermediate values; found: at least "
               << least
               << (estimate ? " with maximum recomputation" : ", and no value can be recomputed")
               << "; increase the limit, reduce the batch size, or use more micro-batches",
           failure();
  if (tries == 1)
    limit =
        std::max<int64_t>(1, int64_t(double(bytes) * double(estimate.getInt()) / double(found)));
  else
    limit = std::max<int64_t>(1, std::min(limit, estimate.getInt()) - (found - bytes));
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>((*before)->clone()));
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  return true;
}

} // namespace dlc
