//===- Activity.cpp - values on a path from xs to ys ----------------------===//
#include "passes/grad/Activity.h"

#include "ir/dlc/CustomGradient.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Returns the operands that may get a gradient from the operation.
static OperandRange getDifferentiableOperands(Operation *op) {
  if (auto custom = dyn_cast<CustomGradientOp>(op))
    return custom.getXs();
  return op->getOperands();
}

ActivityAnalysis::ActivityAnalysis(const GradientRules &rules, ArrayRef<Operation *> ops,
                                   ValueRange ys, ValueRange xs)
    : rules(rules) {
  for (Value x : xs)
    setVaried(x);
  for (Operation *op : ops)
    vary(op);
  for (Value y : ys)
    setNeeded(y);
  for (Operation *op : llvm::reverse(ops))
    need(op);
}

bool ActivityAnalysis::isActive(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value v) { return isActive(v); }) &&
         !rules.isConstant(op);
}

bool ActivityAnalysis::setVaried(Value value) {
  return isFloat(value) && varied.insert(value).second;
}
bool ActivityAnalysis::setNeeded(Value value) {
  return isFloat(value) && needed.insert(value).second;
}

void ActivityAnalysis::vary(Block &block) {
  for (Operation &op : block.without_terminator())
    vary(&op);
}

void ActivityAnalysis::need(Block &block) {
  for (Operation &op : llvm::reverse(block.without_terminator()))
    need(&op);
}

void ActivityAnalysis::vary(Operation *op) {
  if (auto branch = dyn_cast<IfOp>(op)) {
    for (Region &region : op->getRegions()) {
      vary(region.front());
      for (auto [value, result] :
           llvm::zip(region.front().getTerminator()->getOperands(), op->getResults()))
        if (isVaried(value))
          setVaried(result);
    }
    return;
  }
  if (auto loop = dyn_cast<LoopOp>(op)) {
    Block &body = loop.getBody().front();
    OperandRange yields = body.getTerminator()->getOperands().drop_front(bool(loop.getCondition()));
    auto carried = body.getArguments().drop_front();
    for (auto [init, argument] : llvm::zip(loop.getInits(), carried))
      if (isVaried(init))
        setVaried(argument);
    for (bool changed = true; changed;) {
      vary(body);
      changed = false;
      for (auto [value, argument] : llvm::zip(yields, carried))
        if (isVaried(value))
          changed |= setVaried(argument);
    }
    for (auto [value, result] : llvm::zip(yields, op->getResults()))
      if (isVaried(value))
        setVaried(result);
    for (auto [argument, result] : llvm::zip(carried, op->getResults()))
      if (isVaried(argument))
        setVaried(result);
    return;
  }
  if (!rules.isConstant(op) &&
      llvm::any_of(getDifferentiableOperands(op), [&](Value v) { return isVaried(v); }))
    for (Value result : op->getResults())
      setVaried(result);
}

void ActivityAnalysis::need(Operation *op) {
  if (auto branch = dyn_cast<IfOp>(op)) {
    for (Region &region : op->getRegions()) {
      for (auto [value, result] :
           llvm::zip(region.front().getTerminator()->getOperands(), op->getResults()))
        if (isNeeded(result))
          setNeeded(value);
      need(region.front());
    }
    return;
  }
  if (auto loop = dyn_cast<LoopOp>(op)) {
    Block &body = loop.getBody().front();
    OperandRange yields = body.getTerminator()->getOperands().drop_front(bool(loop.getCondition()));
    for (auto [value, result] : llvm::zip(yields, op->getResults()))
      if (isNeeded(result))
        setNeeded(value);
    auto carried = body.getArguments().drop_front();
    for (bool changed = true; changed;) {
      need(body);
      changed = false;
      for (auto [value, argument] : llvm::zip(yields, carried))
        if (isNeeded(argument))
          changed |= setNeeded(value);
    }
    for (auto [init, argument, result] : llvm::zip(loop.getInits(), carried, op->getResults()))
      if (isNeeded(argument) || isNeeded(result))
        setNeeded(init);
    return;
  }
  if (!rules.isConstant(op) && llvm::any_of(op->getResults(), [&](Value v) { return isNeeded(v); }))
    for (Value operand : getDifferentiableOperands(op))
      setNeeded(operand);
}

} // namespace dlc::grad
