//===- Control.cpp - reference evaluation of branches, loops and fusions ---===//
//
// `ReferenceInterface::evaluate` receives only the operands. Regions that use values from outside
// are evaluated by ref::evaluateOp, which receives a callback that returns these values.
//
//===----------------------------------------------------------------------===//
#include "ir/reference/Control.h"
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "ir/reference/Rows.h"

#include <cstring>

using namespace mlir;

namespace dlc {
using namespace ref;

LogicalResult ref::evaluateIf(IfOp op, Inputs inputs, function_ref<Tensor(Value)> outer,
                              Outputs outputs) {
  if (inputs[0].size() != 1)
    return op.emitOpError("(C1) needs a condition of one element, found ") << inputs[0].getType();
  Region &region = inputs[0].getInt(0) ? op.getThenRegion() : op.getElseRegion();
  return evaluateBlock(region.front(), {}, outer, outputs);
}

/// Stacks the result tensors of all loop iterations along a new first dimension.
static Tensor stackIterations(Value declared, ArrayRef<Tensor> parts, Type yielded) {
  // Without an iteration, there is no tensor to stack, so the shape of an element is taken from the
  // yielded type.
  auto part = parts.empty() ? cast<RankedTensorType>(yielded) : parts.front().getType();
  Shape shape{int64_t(parts.size())};
  for (int64_t d : part.getShape())
    shape.push_back(ShapedType::isDynamic(d) ? 0 : d);
  Tensor whole = makeResult(declared, shape, part.getElementType());
  char *to = whole.mutableData();
  for (const Tensor &tensor : parts) {
    std::memcpy(to, tensor.data(), tensor.bytes());
    to += tensor.bytes();
  }
  return whole;
}

LogicalResult ref::evaluateLoop(LoopOp op, Inputs inputs, function_ref<Tensor(Value)> outer,
                                Outputs outputs) {
  std::optional<int64_t> trip;
  const bool conditional = bool(op.getCondition());
  bool holds = true;
  if (op.getTrip()) {
    trip = inputs.front().getInt(0);
    inputs = inputs.drop_front();
  }
  if (conditional) {
    holds = inputs.front().getInt(0) != 0;
    inputs = inputs.drop_front();
  }
  Block &body = op.getBody().front();
  const size_t carried = inputs.size();
  SmallVector<Tensor> state(inputs);
  std::vector<std::vector<Tensor>> stacked(op.getNumResults() - carried);
  auto counterType = RankedTensorType::get({}, IntegerType::get(op.getContext(), 64));
  for (int64_t i = 0; holds && (!trip || i < *trip); ++i) {
    Tensor counter = Tensor::empty(counterType);
    counter.setInt(0, i);
    SmallVector<Tensor> arguments{counter}, yielded;
    arguments.append(state);
    if (failed(evaluateBlock(body, arguments, outer, yielded)))
      return failure();
    ArrayRef<Tensor> rest = yielded;
    if (conditional)
      holds = rest.consume_front().getInt(0) != 0;
    if (rest.size() != op.getNumResults())
      return op.emitOpError("(C2) needs ")
             << op.getNumResults() << " values from its region, found " << rest.size();
    state.assign(rest.begin(), rest.begin() + carried);
    for (auto [all, part] : llvm::zip(stacked, rest.drop_front(carried))) {
      if (!all.empty() && all.front().getShape() != part.getShape())
        return op.emitOpError("(C2) stacks values of different shapes: ")
               << all.front().getType() << " and " << part.getType();
      all.push_back(part);
    }
  }
  outputs.append(state);
  OperandRange yields = body.getTerminator()->getOperands().drop_front(conditional + carried);
  for (auto [i, all] : llvm::enumerate(stacked))
    outputs.push_back(stackIterations(op.getResult(carried + i), all, yields[i].getType()));
  return success();
}

LogicalResult IfOp::evaluate(Inputs inputs, Outputs outputs) {
  return evaluateIf(*this, inputs, nullptr, outputs);
}
LogicalResult LoopOp::evaluate(Inputs inputs, Outputs outputs) {
  return evaluateLoop(*this, inputs, nullptr, outputs);
}
LogicalResult FusionOp::evaluate(Inputs inputs, Outputs outputs) {
  return evaluateBlock(getBody().front(), inputs, nullptr, outputs);
}

} // namespace dlc
