//===- Recurrent.cpp - gradients of recurrent layers ----------------------===//
//
// The layer becomes a loop over time that saves its gates. Its backward pass is a loop in the
// opposite direction that saves the gradients of the gates before activation. After that loop, the
// gradients of the weights and of the input are matmuls over all time steps.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/grad/Rules.h"
#include "passes/grad/rules/Loops.h"
#include "passes/grad/rules/RecurrentCells.h"

using namespace mlir;

namespace dlc::grad {
namespace {

/// Operand numbers of all recurrent layers: input, weights, recurrent weights, bias and initial
/// state.
enum { X, W, R, B, H0 };

/// Function that builds the body of a loop over time from the step number and the states. Returns
/// the next states, then the values that the loop stacks.
using Body = llvm::function_ref<SmallVector<Value>(TensorBuilder &, Expr, ArrayRef<Value>)>;

LoopOp createTimeLoop(OpBuilder &here, Location loc, int64_t steps, ArrayRef<Value> inits,
                      Body fill) {
  TensorBuilder b(here, loc);
  Expr trip = index(b, steps, inits.front());
  SmallVector<Type> types{Value(trip).getType()}, results;
  llvm::append_range(types, ValueRange(inits).getTypes());
  Region region;
  {
    OpBuilder::InsertionGuard guard(here);
    Block *body = here.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc));
    SmallVector<Value> states(body->getArguments().drop_front());
    SmallVector<Value> values = fill(b, Expr(b, body->getArgument(0)), states);
    for (auto [i, value] : llvm::enumerate(values)) {
      SmallVector<int64_t> shape(shapeOf(value));
      if (i >= inits.size())
        shape.insert(shape.begin(), steps);
      results.push_back(
          makeTensorType(shape, typeOf(value).getElementType(), deviceOf(value.getType())));
    }
    YieldOp::create(here, loc, values);
  }
  auto loop = LoopOp::create(here, loc, results, Value(trip), Value(), inits);
  loop.getBody().takeBody(region);
  return loop;
}

/// One direction of a recurrent layer, with its operands reshaped without the dimension of
/// directions.
struct RecurrentLayer {
  RecurrentLayer(Operation *op, TensorBuilder &b, bool reverse, bool lateReset)
      : steps(shapeOf(op->getOperand(X))[0]), batch(shapeOf(op->getOperand(X))[1]),
        features(shapeOf(op->getOperand(X))[2]), gated(shapeOf(op->getOperand(R))[1]),
        hidden(shapeOf(op->getOperand(R))[2]), reverse(reverse) {
    x = Expr(b, op->getOperand(X)).reshape({steps * batch, features});
    w = Expr(b, op->getOperand(W)).reshape({gated, features});
    r = Expr(b, op->getOperand(R)).reshape({gated, hidden});
    Expr biases(b, op->getOperand(B));
    Expr first = biases.part(1, 0, gated).reshape(gated);
    second = biases.part(1, gated, gated).reshape(gated);
    Expr all = matmul(x, w, false, true) + (lateReset ? first : first + second);
    fromInput = all.reshape({steps, batch, gated});
    for (Value state : op->getOperands().drop_front(H0))
      states.push_back(Expr(b, state).reshape({batch, hidden}));
  }

  /// Returns the time index for a step of the loop, which runs backwards in time if `reverse` is
  /// set.
  Expr time(Expr step) const { return reverse ? double(steps - 1) - step : step; }

  int64_t steps, batch, features, gated, hidden;
  bool reverse;
  Expr x, w, r, second, fromInput;
  SmallVector<Value> states;
};

/// Adds the gradients of all operands of the layer, derived from the gradients of the gates before
/// activation in all time steps.
void addGradients(Operation *op, BackwardPass &g, const RecurrentLayer &layer,
                  const RecurrentCell &cell, LoopOp backward, ArrayRef<Value> kept) {
  int64_t rows = layer.steps * layer.batch;
  size_t states = layer.states.size();
  auto flat = [&](Value v) { return g(v).reshape({rows, shapeOf(v).back()}); };
  // The backward loop visits the steps in reverse order, so that its stacked values are reversed to
  // step order.
  auto inStepOrder = [&](Expr x) { return x.reversed(0); };
  Expr last = g(backward->getResult(states));
  Expr input = flat(layer.reverse ? last : inStepOrder(last));
  bool separate = backward->getNumResults() > states + 1;
  Expr recurrent = separate ? g(backward->getResult(states + 1)) : last;
  recurrent = flat(inStepOrder(recurrent));
  Expr sums = input.sum(0), recurrentSums = separate ? recurrent.sum(0) : sums;
  g.add(op->getOperand(X), [&] {
    return matmul(input, g(layer.w)).reshape({layer.steps, layer.batch, layer.features});
  });
  g.add(op->getOperand(W),
        [&] { return matmul(input, g(layer.x), true).reshape(shapeOf(op->getOperand(W))); });
  g.add(op->getOperand(R), [&] {
    SmallVector<Value> flatKept;
    for (Value value : kept)
      flatKept.push_back(flat(value));
    return cell.recurrentGradient(g.build(), recurrent, flatKept)
        .reshape(shapeOf(op->getOperand(R)));
  });
  g.add(op->getOperand(B), [&] { return concat({sums, recurrentSums}, 1, g.build()); });
  for (size_t i = 0; i < states; ++i)
    g.add(op->getOperand(H0 + i), [&] {
      return g(backward->getResult(i)).reshape({1, layer.batch, layer.hidden});
    });
}

void differentiate(Operation *op, BackwardPass &g, bool reverse, bool lateReset,
                   const RecurrentCell &cell) {
  OpBuilder here(op);
  TensorBuilder b(here, op->getLoc());
  RecurrentLayer layer(op, b, reverse, lateReset);
  size_t states = layer.states.size();
  RecurrentWeights weights{layer.r, layer.second, {}, {}, layer.hidden};
  if (cell.wantsApart) {
    weights.gates = layer.r.part(0, 0, layer.gated - layer.hidden);
    weights.candidate = layer.r.part(0, layer.gated - layer.hidden, layer.hidden);
  }
  LoopOp forward =
      createTimeLoop(here, op->getLoc(), layer.steps, layer.states,
                     [&](TensorBuilder &b, Expr step, ArrayRef<Value> before) {
                       Expr now = Expr(b, layer.fromInput).at(layer.time(step));
                       SmallVector<Value> values = cell.forward(b, weights, now, before);
                       // The loop also stacks, for each step, the new hidden state (the first
                       // state), which is part of the layer's result, and the states before the
                       // step, which the backward pass reads.
                       values.insert(values.begin() + states, values.front());
                       values.insert(values.begin() + states + 1, before.begin(), before.end());
                       return values;
                     });
  ArrayRef<int64_t> stateShape = shapeOf(layer.states.front());
  Expr y(b, forward->getResult(states));
  SmallVector<Value> results{
      (reverse ? y.reversed(0) : y).reshape({layer.steps, 1, layer.batch, layer.hidden})};
  for (size_t i = 0; i < states; ++i)
    results.push_back(Expr(b, forward->getResult(i)).reshape({1, layer.batch, layer.hidden}));

  SmallVector<Value> kept(forward->getResults().drop_front(states)), inits;
  for (size_t i = 0; i < states; ++i) {
    Expr last = g.of(op->getResult(i + 1));
    inits.push_back(last ? last.reshape(stateShape) : zeros(g.build(), layer.states[i].getType()));
  }
  Value dy = g.of(op->getResult(0));
  if (dy)
    dy = g.build().reshape(dy, {layer.steps, layer.batch, layer.hidden});
  LoopOp backward = createTimeLoop(g.place(), g.location(), layer.steps, inits,
                                   [&](TensorBuilder &b, Expr number, ArrayRef<Value> gradients) {
                                     Expr step = double(layer.steps - 1) - number;
                                     SmallVector<Value> all(gradients), saved;
                                     if (dy)
                                       all[0] = Expr(b, all[0]) + Expr(b, dy).at(layer.time(step));
                                     for (Value value : kept)
                                       saved.push_back(Expr(b, value).at(step));
                                     return cell.backward(b, weights, all, saved);
                                   });
  addGradients(op, g, layer, cell, backward, kept);
  g.replace(op, results);
  dropUnusedLoopResults(forward, states);
}

/// Creates a recurrent layer with the attributes of `op`, but another direction.
template <typename L>
Operation *createLayer(L op, TensorBuilder &b, Direction direction, ArrayRef<Value> operands) {
  NamedAttrList attributes(op->getAttrs());
  attributes.set("direction", DirectionAttr::get(op.getContext(), direction));
  return b.make<L>(ValueRange(operands), attributes.getAttrs()).getDefiningOp();
}

// Splits a bidirectional layer, and computes a 16-bit layer in f32: layer(both) =
// concat(layer(forward), layer(reverse)); layer(x: f16) = cast(layer(cast(x): f32))
template <typename L> SmallVector<Value> decomposeLayer(L op, TensorBuilder &b) {
  Type narrow = typeOf(op.getX()).getElementType();
  SmallVector<Value> results;
  if (op.getDirection() == Direction::both) {
    SmallVector<Operation *> layers;
    for (Direction direction : {Direction::forward, Direction::reverse}) {
      SmallVector<Value> operands{op.getX()};
      for (Value both : op->getOperands().drop_front())
        operands.push_back(Expr(b, both).part(0, int64_t(layers.size()), 1));
      layers.push_back(createLayer(op, b, direction, operands));
    }
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      results.push_back(
          concat({layers[0]->getResult(i), layers[1]->getResult(i)}, i == 0 ? 1 : 0, b));
  } else if (narrow.isF16() || narrow.isBF16()) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(b.cast(operand, Float32Type::get(op.getContext())));
    for (Value result : createLayer(op, b, op.getDirection(), operands)->getResults())
      results.push_back(b.cast(result, narrow));
  }
  return results;
}

} // namespace

void addRecurrentGradients(GradientRules &rules) {
  rules.open<LstmOp>([](LstmOp op, TensorBuilder &b) { return decomposeLayer(op, b); });
  rules.open<GruOp>([](GruOp op, TensorBuilder &b) { return decomposeLayer(op, b); });
  rules.open<RnnOp>([](RnnOp op, TensorBuilder &b) { return decomposeLayer(op, b); });
  rules.add<LstmOp>([](LstmOp op, BackwardPass &g) {
    differentiate(op, g, op.getDirection() == Direction::reverse, false, lstmCell());
  });
  rules.add<GruOp>([](GruOp op, BackwardPass &g) {
    bool late = op.getLinearBeforeReset();
    differentiate(op, g, op.getDirection() == Direction::reverse, late, gruCell(late));
  });
  rules.add<RnnOp>([](RnnOp op, BackwardPass &g) {
    differentiate(op, g, op.getDirection() == Direction::reverse, false, rnnCell(op.getRelu()));
  });
}

} // namespace dlc::grad
