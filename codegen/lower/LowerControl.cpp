//===- LowerControl.cpp - lowers branches and loops -----------------------===//
#include "codegen/lower/Lowering.h"

#include "codegen/cpu/Inplace.h"
#include "codegen/cpu/Normalize.h"
#include "codegen/lower/State.h"
#include "codegen/lower/Views.h"
#include "codegen/memory/Memory.h"
#include "codegen/providers/Provider.h"
#include "passes/fuse/analysis/StepSlice.h"

using namespace mlir;

namespace dlc::lower {

LogicalResult Lowering::region(Block &block, ArrayRef<Value> targets) {
  for (Operation &op : block.without_terminator())
    if (failed(command(op)))
      return failure();
  for (auto [value, to] : llvm::zip(block.getTerminator()->getOperands(), targets))
    if (to)
      copy(block.getTerminator()->getLoc(), bufferOf(value), to, storageBytes(tensorTypeOf(value)));
  return success();
}

LogicalResult Lowering::lowerIf(IfOp op) {
  SmallVector<Value> results;
  for (Value result : op.getResults())
    results.push_back(resultBuffer(result));
  auto branch = exec::IfOp::create(b, op.getLoc(), bufferOf(op.getCondition()));
  Enclosing enclosing(*this, branch);
  for (auto [from, to] : {std::pair{&op.getThenRegion(), &branch.getThenRegion()},
                          {&op.getElseRegion(), &branch.getElseRegion()}}) {
    OpBuilder::InsertionGuard guard(b);
    to->push_back(new Block);
    b.setInsertionPointToStart(&to->front());
    if (failed(region(from->front(), results)))
      return failure();
  }
  return success();
}

LogicalResult Lowering::lowerLoop(LoopOp op) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  size_t carried = op.getInits().size();
  bool conditional = bool(op.getCondition());
  auto values = body.getTerminator()->getOperands();
  auto nextValues = values.slice(conditional, carried);
  LoopBuffers places = placeLoop(op);
  Value condition;
  if (conditional) {
    condition = allocate(loc, 1);
    copy(loc, bufferOf(op.getCondition()), condition, 1);
  }
  Value index = allocate(loc, 8);
  buffers[body.getArgument(0)] = index;
  auto loop = exec::LoopOp::create(b, loc, op.getTrip() ? bufferOf(op.getTrip()) : Value(),
                                   condition, index);
  Enclosing enclosing(*this, loop);
  OpBuilder::InsertionGuard guard(b);
  loop.getBody().push_back(new Block);
  b.setInsertionPointToStart(&loop.getBody().front());
  for (Operation &inner : body.without_terminator())
    if (failed(command(inner)))
      return failure();
  for (auto [value, to] : llvm::zip(values.drop_front(conditional + carried), places.stacked))
    copyUnlessThere(loc, bufferOf(value), to);
  // Buffers of the loop-carried values. The next value of one may be another loop-carried value (a
  // swap), which is then copied to a temporary buffer before it is overwritten.
  llvm::DenseSet<Value> roots;
  for (Value place : places.carried)
    roots.insert(findRootBuffer(place).first);
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(nextValues)) {
    Value from = bufferOf(value);
    if (roots.contains(findRootBuffer(from).first) && !isSamePlace(from, places.next[i])) {
      Value saved = allocate(loc, storageBytes(tensorTypeOf(value)));
      copy(loc, from, saved, storageBytes(tensorTypeOf(value)));
      from = saved;
    }
    next.push_back(from);
  }
  for (auto [from, to] : llvm::zip(next, places.next))
    copyUnlessThere(loc, from, to);
  if (conditional)
    copy(loc, bufferOf(values[0]), condition, 1);
  return success();
}

bool Lowering::isSamePlace(Value a, Value b) {
  return findRootBuffer(a) == findRootBuffer(b) && getViewStep(a) == getViewStep(b);
}

void Lowering::copyUnlessThere(Location loc, Value from, Value to) {
  if (!isSamePlace(from, to))
    copy(loc, from, to, cast<exec::BufferType>(to.getType()).getBytes());
}

Lowering::LoopBuffers Lowering::placeLoop(LoopOp op) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  size_t carried = op.getInits().size();
  auto values = body.getTerminator()->getOperands().drop_front(bool(op.getCondition()));
  auto trips = getTripCount(op);
  bool moves = trips && *trips > 0 && isInnermost(op);
  LoopBuffers places;
  places.stacked.resize(values.size() - carried);
  // Makes the operation in the loop's body that computes `value` write its result directly to the
  // buffer `place`.
  auto claimInside = [&](Value value, Value place) {
    Operation *def = skipReshapes(value).getDefiningOp();
    if (moves && def && def->getBlock() == &body)
      claim(value, place, 0);
  };
  // Returns the index of a stacked result that collects `value` in each iteration and whose buffer
  // can also store the loop-carried value, as one additional row. Returns 0 if there is no such
  // result.
  auto stackOf = [&](Value value) {
    for (size_t k = carried; k < values.size(); ++k)
      if (values[k] == value && !places.stacked[k - carried] &&
          !destinations.count(op.getResult(k)) && !isReversed(op.getResult(k)))
        return k;
    return size_t(0);
  };
  for (size_t i = 0; i < carried; ++i) {
    Value init = op.getInits()[i], result = op.getResult(i);
    BlockArgument argument = body.getArgument(i + 1);
    int64_t bytes = storageBytes(tensorTypeOf(init));
    size_t before = 0, after = 0;
    if (moves && bytes > 0 && !destinations.count(result)) {
      before = stackOf(argument);
      after = values[i] == argument ? 0 : stackOf(values[i]);
    }
    if (before || after) {
      Value rows = allocate(loc, (*trips + 1) * bytes);
      auto rowsFrom = [&](size_t k, int64_t first) {
        if (!k)
          return;
        buffers[op.getResult(k)] = view(loc, rows, first * bytes, *trips * bytes);
        places.stacked[k - carried] = view(loc, rows, first * bytes, bytes, bytes);
      };
      rowsFrom(before, 0);
      rowsFrom(after, 1);
      places.carried.push_back(view(loc, rows, 0, bytes, bytes));
      places.next.push_back(view(loc, rows, bytes, bytes, bytes));
      buffers[result] = view(loc, rows, *trips * bytes, bytes);
      copy(loc, bufferOf(init), view(loc, rows, 0, bytes), bytes);
      claimInside(values[i], places.next.back());
    } else {
      Value to = resultBuffer(result);
      copy(loc, bufferOf(init), to, bytes);
      places.carried.push_back(to);
      places.next.push_back(to);
      if (isFreeBefore(values[i], argument))
        claimInside(values[i], to);
    }
    buffers[argument] = places.carried.back();
  }
  for (size_t k = carried; k < values.size(); ++k) {
    Value &place = places.stacked[k - carried];
    if (place)
      continue;
    Value stack = resultBuffer(op.getResult(k));
    int64_t bytes = storageBytes(tensorTypeOf(values[k]));
    bool reversed = isReversed(op.getResult(k));
    place = view(loc, stack, reversed ? (*trips - 1) * bytes : 0, bytes, reversed ? -bytes : bytes);
    claimInside(values[k], place);
  }
  return places;
}

bool Lowering::isReversed(Value stack) {
  return stack.hasOneUse() && isReversedLoopOutput(*stack.user_begin());
}

bool Lowering::isFreeBefore(Value next, BlockArgument argument) {
  Operation *maker = skipReshapes(next).getDefiningOp();
  Block *body = argument.getOwner();
  if (!maker || maker->getBlock() != body)
    return false;
  SmallVector<Value> work{argument};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *top = body->findAncestorOpInBlock(*user);
      if (matchView(user) && top == user)
        work.push_back(user->getResult(0));
      else if (top != maker ? !top->isBeforeInBlock(maker) : !mayWriteOver(next, argument))
        return false;
    }
  return true;
}

bool Lowering::mayWriteOver(Value next, Value other) {
  auto fusion = next.getDefiningOp<FusionOp>();
  const Provider *provider = fusion ? findProvider(fusion) : nullptr;
  if (!provider || !llvm::is_contained(fusion.getInputs(), other))
    return false;
  unsigned result = cast<OpResult>(next).getResultNumber();
  if (provider->about.kind == KernelKind::Gpu) {
    SmallVector<unsigned> operands;
    for (auto [i, operand] : llvm::enumerate(fusion.getInputs()))
      if (operand == other)
        operands.push_back(i);
    return gpuMayReplace(fusion, result, operands, options);
  }
  if (provider->about.kind != KernelKind::Host)
    return false;
  std::string why;
  auto normal = cpu::normalizeFusion(fusion, why);
  if (failed(normal))
    return false;
  auto pairs = cpu::findElementwiseInplacePairs(*normal);
  normal->erase();
  for (auto [i, operand] : llvm::enumerate(fusion.getInputs()))
    if (operand == other && !llvm::is_contained(pairs, std::pair(result, unsigned(i))))
      return false;
  return true;
}

} // namespace dlc::lower
