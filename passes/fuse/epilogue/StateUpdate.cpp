//===- StateUpdate.cpp - fusions that compute the new value of a state ----===//
#include "passes/fuse/epilogue/StateUpdate.h"

#include "ir/dlc/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace dlc {

/// Returns the function of the block argument if the argument is a state, otherwise null.
static func::FuncOp getStateFunction(BlockArgument argument) {
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!function || !argument.getOwner()->isEntryBlock() ||
      !function.getArgAttr(argument.getArgNumber(), kStateAttr))
    return {};
  return function;
}

bool isState(Value value) { return bool(getStateFunction(dyn_cast<BlockArgument>(value))); }

bool isStateUpdate(Value old, Value fresh) {
  auto argument = dyn_cast<BlockArgument>(old);
  func::FuncOp function = getStateFunction(argument);
  if (!function || old.getType() != fresh.getType())
    return false;
  Attribute name = function.getArgAttr(argument.getArgNumber(), kNameAttr);
  for (OpOperand &returned : argument.getOwner()->getTerminator()->getOpOperands())
    if (returned.get() == fresh &&
        function.getResultAttr(returned.getOperandNumber(), kStateAttr) &&
        function.getResultAttr(returned.getOperandNumber(), kNameAttr) == name)
      return bool(name);
  return false;
}

bool foldStateUpdate(Epilogue &epilogue) {
  SmallVector<EpilogueOp> &steps = epilogue.epilogueOps;
  if (steps.empty() || !steps.back().is(EpilogueBinary::Add) ||
      !epilogue.destination.isContiguous())
    return false;
  Value old = steps.back().operand;
  if (old.getType() != epilogue.destination.base.getType() || epilogue.lhs.base == old ||
      epilogue.rhs.base == old || epilogue.bias == old)
    return false;
  // Each earlier binary op that adds c * old (the decayed state, as in momentum) is folded into the
  // last one. Linear ops in between multiply c by their factors.
  for (size_t i = steps.size() - 1; i-- > 0;) {
    if (steps[i].operand != old) {
      if (steps[i].operand && steps[i].scale != 1)
        return false;
      continue;
    }
    double factor = steps[i].scale;
    for (size_t j = i + 1; j + 1 < steps.size(); ++j) {
      if (!steps[j].is(Activation::Linear))
        return false;
      factor *= steps[j].alpha;
    }
    if (!steps[i].is(EpilogueBinary::Add))
      return false;
    steps.back().scale += factor;
    steps.erase(steps.begin() + i);
  }
  return true;
}

void markStateUpdates(Block &block) {
  for (auto fusion : block.getOps<FusionOp>()) {
    std::optional<Epilogue> epilogue =
        fusion.getNumResults() == 1 ? matchEpilogue(fusion) : std::nullopt;
    if (!epilogue || !foldStateUpdate(*epilogue))
      continue;
    auto operand = dyn_cast<BlockArgument>(epilogue->epilogueOps.back().operand);
    if (operand && isStateUpdate(fusion.getInputs()[operand.getArgNumber()], fusion.getResult(0)))
      fusion->setAttr(kUpdatesAttr, IntegerAttr::get(IntegerType::get(fusion.getContext(), 64),
                                                     operand.getArgNumber()));
  }
}

} // namespace dlc
