//===- Control.cpp - gradients of branches and loops ----------------------===//
//
// The backward pass of a region first recomputes the values of the region that it needs. The
// gradients of values from outside of the region are results of the backward operation.
//
//===----------------------------------------------------------------------===//
#include "passes/grad/Rules.h"
#include "passes/grad/rules/Loops.h"

#include "ir/dlc/Matchers.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace dlc::grad {

/// Returns the values defined outside of the operation that its regions use and whose gradients are
/// needed.
static SmallVector<Value> findCapturedValues(Operation *op, BackwardPass &g) {
  llvm::SetVector<Value> values;
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, values);
  return llvm::to_vector(
      llvm::make_filter_range(values, [&](Value v) { return g.needsGradient(v); }));
}

static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Clones the operations of a block at the insertion point, and differentiates the block's yielded
/// values there.
static FailureOr<SmallVector<Value>> runBack(BackwardPass &g, Block &block, IRMapping &map,
                                             ArrayRef<std::pair<Value, Value>> yieldsAndSeeds,
                                             ArrayRef<Value> xs) {
  OpBuilder &here = g.place();
  for (Operation &op : block.without_terminator())
    here.clone(op, map);
  SmallVector<Value> ys, seeds, inside;
  for (auto [y, seed] : yieldsAndSeeds) {
    ys.push_back(map.lookupOrDefault(y));
    seeds.push_back(seed);
  }
  for (Value x : xs)
    inside.push_back(map.lookupOrDefault(x));
  BackwardPass inner(g.allRules(), here);
  return inner.run({ys, seeds, inside, g.location(), here.getInsertionBlock()});
}

// Gradient of a branch: if (c) f(v) else g(v) has dv = if (c) df(v) else dg(v)
static LogicalResult differentiate(IfOp op, BackwardPass &g) {
  SmallVector<Value> outside = findCapturedValues(op, g);
  SmallVector<Type> types{ValueRange(outside).getTypes()};
  SmallVector<Value> seeds;
  for (Value result : op.getResults())
    seeds.push_back(g.of(result));
  auto backward = IfOp::create(g.place(), g.location(), types, op.getCondition());
  for (auto [from, to] : llvm::zip(op->getRegions(), backward->getRegions())) {
    OpBuilder::InsertionGuard guard(g.place());
    g.place().createBlock(&to);
    Block &block = from.front();
    SmallVector<std::pair<Value, Value>> pairs;
    for (auto [y, seed] : llvm::zip(block.getTerminator()->getOperands(), seeds))
      if (seed)
        pairs.push_back({y, seed});
    IRMapping map;
    auto gradients = runBack(g, block, map, pairs, outside);
    if (failed(gradients))
      return failure();
    TensorBuilder b(g.place(), g.location());
    for (auto [gradient, type] : llvm::zip(*gradients, types))
      if (!gradient)
        gradient = zeros(b, type);
    YieldOp::create(g.place(), g.location(), *gradients);
    eraseDeadOps(to.front());
  }
  for (auto [value, gradient] : llvm::zip(outside, backward.getResults()))
    g.add(value, [&, gradient = gradient] { return gradient; });
  return success();
}

namespace {
/// Builds the backward pass of one loop, which is a loop in reverse order.
struct LoopGradient {
  LoopGradient(LoopOp op, BackwardPass &g) : op(op), g(g) {}

  LoopOp op;
  BackwardPass &g;
  /// Numbers of the carried values, and values from outside of the loop, whose gradients are
  /// needed.
  SmallVector<unsigned> states;
  SmallVector<Value> outside;
  SmallVector<Value> seeds;

  LogicalResult run();
  LogicalResult fill(LoopOp backward, LoopOp kept);
};
} // namespace

// Builds the backward loop. With s[i + 1], y[i] = f(i, s[i], v) in the forward loop, a loop over i
// in reverse order computes ds[i] and accumulates dv from ds[i + 1] and dy[i].
LogicalResult LoopGradient::run() {
  if (op.getCondition())
    return op.emitError("has no gradient: the trip count of a loop with a condition is not known "
                        "in advance; use only a trip count, and select its values with dlc.select");
  double trips;
  if (!isSplat(op.getTrip(), trips))
    return op.emitError("has no gradient: it needs the values of all iterations, whose number is "
                        "not known; make the trip count a constant");
  if (trips < 1) {
    for (auto [init, result] : llvm::zip(op.getInits(), op->getResults()))
      g.add(init, [&, result = result] { return g.of(result); });
    return success();
  }
  Block &body = op.getBody().front();
  for (auto [i, argument] : llvm::enumerate(body.getArguments().drop_front()))
    if (g.needsGradient(argument) || g.needsGradient(op.getResult(i)) ||
        g.needsGradient(op.getInits()[i]))
      states.push_back(unsigned(i));
  outside = findCapturedValues(op, g);
  SmallVector<Value> inits;
  for (Value result : op->getResults())
    seeds.push_back(g.of(result));
  for (unsigned i : states)
    inits.push_back(seeds[i] ? seeds[i] : Value(zeros(g.build(), op.getInits()[i].getType())));
  for (Value value : outside)
    inits.push_back(zeros(g.build(), value.getType()));

  unsigned first = op->getNumResults();
  OpBuilder here(op);
  LoopOp kept = stackLoopStates(op, int64_t(trips), here);
  auto backward = LoopOp::create(g.place(), g.location(), ValueRange(inits).getTypes(),
                                 kept.getTrip(), Value(), inits);
  if (failed(fill(backward, kept)))
    return failure();
  kept = dropUnusedLoopResults(kept, first);
  for (auto [i, state] : llvm::enumerate(states))
    g.add(kept.getInits()[state], [&, i = i] { return backward->getResult(i); });
  for (auto [i, value] : llvm::enumerate(outside))
    g.add(value, [&, i = i] { return backward->getResult(states.size() + i); });
  g.replace(op, kept->getResults().take_front(first));
  return success();
}

LogicalResult LoopGradient::fill(LoopOp backward, LoopOp kept) {
  OpBuilder &here = g.place();
  Block &forward = kept.getBody().front();
  auto yield = llvm::cast<YieldOp>(forward.getTerminator());
  OpBuilder::InsertionGuard guard(here);
  SmallVector<Type> types{forward.getArgument(0).getType()};
  llvm::append_range(types, backward->getResultTypes());
  Block *body = here.createBlock(&backward.getBody(), {}, types,
                                 SmallVector<Location>(types.size(), g.location()));
  TensorBuilder b(here, g.location());
  unsigned carried = kept.getInits().size();
  Expr trip(b, kept.getTrip());
  Expr time = trip - 1 - Expr(b, body->getArgument(0));
  IRMapping map;
  map.map(forward.getArgument(0), Value(time));
  SmallVector<Value> xs;
  for (auto [i, argument] : llvm::enumerate(forward.getArguments().drop_front())) {
    Value stacked = kept->getResult(op->getNumResults() + i);
    map.map(argument, Value(Expr(b, stacked).at(time)));
  }
  SmallVector<std::pair<Value, Value>> pairs;
  for (auto [i, state] : llvm::enumerate(states)) {
    xs.push_back(forward.getArgument(state + 1));
    pairs.push_back({yield.getValues()[state], body->getArgument(i + 1)});
  }
  for (unsigned i = carried; i < op->getNumResults(); ++i)
    if (seeds[i])
      pairs.push_back({yield.getValues()[i], Value(Expr(b, seeds[i]).at(time))});
  llvm::append_range(xs, outside);
  auto gradients = runBack(g, forward, map, pairs, xs);
  if (failed(gradients))
    return failure();
  for (auto [i, gradient] : llvm::enumerate(*gradients)) {
    Value before = body->getArgument(i + 1);
    if (i >= states.size())
      gradient = gradient ? b.make<AddOp>(before, gradient) : before;
    else if (!gradient)
      gradient = zeros(b, before.getType());
  }
  YieldOp::create(here, g.location(), *gradients);
  eraseDeadOps(*body);
  return success();
}

void addControlFlowGradients(GradientRules &rules) {
  rules.add<IfOp>([](IfOp op, BackwardPass &g) { return differentiate(op, g); });
  rules.add<LoopOp>([](LoopOp op, BackwardPass &g) { return LoopGradient(op, g).run(); });
}

} // namespace dlc::grad
