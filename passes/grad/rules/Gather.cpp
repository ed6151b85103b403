//===- Gather.cpp - gradients of gathers and scatters ---------------------===//
#include "ir/dlc/Shape.h"
#include "passes/grad/Rules.h"
#include "passes/grad/rules/Scatter.h"

using namespace mlir;

namespace dlc::grad {

Expr scatterAddAlongAxis(Expr x, Expr indices, ArrayRef<int64_t> shape, int64_t axis) {
  TensorBuilder &b = x.builder();
  int64_t taken = indices.rank(), rank = int64_t(shape.size());
  // scatter_nd adds slices along the first dimension. If `axis` is not 0, it is transposed to the
  // front, and the result is transposed back.
  SmallVector<int64_t> first = range(axis, axis + taken), moved(shape), back = range(1, axis + 1);
  llvm::append_range(first, range(0, axis));
  llvm::append_range(first, range(axis + taken, x.rank()));
  moved.erase(moved.begin() + axis);
  moved.insert(moved.begin(), shape[axis]);
  back.push_back(0);
  llvm::append_range(back, range(axis + 1, rank));
  SmallVector<int64_t> tuples(indices.shape());
  tuples.push_back(1);
  auto type = makeTensorType(moved, x.element(), deviceOf(Value(x).getType()));
  Expr updates = axis == 0 ? x : x.transpose(first);
  Expr sum(b, b.make<ScatterNdOp>(Value(zeros(b, type)), Value(indices.reshape(tuples)),
                                  Value(updates), ScatterReduction::add));
  return axis == 0 ? sum : sum.transpose(back);
}

/// Prepends the indices of the batch dimensions to each of the index tuples [b.., i.., k].
static Expr prependBatchIndices(Expr indices, int64_t batch) {
  SmallVector<int64_t> shape(indices.shape());
  shape.back() = 1;
  SmallVector<Value> parts;
  for (int64_t d = 0; d < batch; ++d)
    parts.push_back(iota(indices.builder(), shape, d, indices).cast(indices.element()));
  parts.push_back(indices);
  return concat(parts, int64_t(shape.size()) - 1, indices.builder());
}

/// Gradient of scatter_elements and scatter_nd. `read` gathers elements at the indices, and `write`
/// scatters elements to the indices.
template <typename Op, typename Read, typename Write>
static void differentiateScatter(Op op, BackwardPass &g, Read read, Write write) {
  Expr dy = g.of(op.getY()), x = g(op.getX()), y = g(op.getY()), updates = g(op.getUpdates());
  switch (op.getReduction()) {
  case ScatterReduction::none:
    // none: dx = dy with 0 at the indices, dupdates = dy[indices]
    g.add(x,
          [&] { return write(dy, zeros(g.build(), Value(updates).getType()), op.getReduction()); });
    g.add(updates, [&] { return read(dy); });
    return;
  case ScatterReduction::add:
    // add: dx = dy, dupdates = dy[indices]
    g.add(x, [&] { return dy; });
    g.add(updates, [&] { return read(dy); });
    return;
  case ScatterReduction::mul:
    // mul: dx = dy times the updates
    g.add(x, [&] { return write(dy, updates, ScatterReduction::mul); });
    // mul: dupdates = (dy y)[indices] / updates. If an update is the only 0 among the factors of an
    // element, its gradient is dy times the other factors.
    g.add(updates, [&] {
      Expr isZero = compare(Predicate::eq, updates, updates.scalar(0)), one = updates.scalar(1);
      Expr none = zeros(g.build(), Value(x).getType());
      Expr count = read(write(none, isZero.cast(x.element()), ScatterReduction::add));
      Expr isOnly = isZero.template with<AndOp>(compare(Predicate::eq, count, one));
      Expr others = write(x, select(isOnly, one, updates), ScatterReduction::mul);
      return select(isOnly, read(dy * others), read(dy * y) / select(isZero, one, updates));
    });
    return;
  case ScatterReduction::max:
  case ScatterReduction::min: {
    // max and min: dy is divided equally among the elements of x and the updates that equal y
    Expr stays = compare(Predicate::eq, x, y), taken = compare(Predicate::eq, updates, read(y));
    Expr count = write(stays.cast(x.element()), taken.cast(x.element()), ScatterReduction::add);
    Expr share = dy / count;
    g.add(x, [&] { return keep(stays, share); });
    g.add(updates, [&] { return keep(taken, read(share)); });
    return;
  }
  }
}

void addGatherGradients(GradientRules &rules) {
  // gather: dx = slices of dy added to zeros at the indices
  rules.add<GatherOp>([](GatherOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      return scatterAddAlongAxis(g.of(op.getY()), g(op.getIndices()), shapeOf(op.getX()),
                                 op.getAxis());
    });
  });
  // gather_elements: dx = elements of dy added to zeros at the indices
  rules.add<GatherElementsOp>([](GatherElementsOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      return g.build().make<ScatterElementsOp>(Value(zeros(g.build(), op.getX().getType())),
                                               op.getIndices(), Value(g.of(op.getY())),
                                               op.getAxis(), ScatterReduction::add);
    });
  });
  // gather_nd: dx = slices of dy added to zeros at the index tuples
  rules.add<GatherNdOp>([](GatherNdOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      Expr tuples = prependBatchIndices(g(op.getIndices()), op.getBatchDims());
      return g.build().make<ScatterNdOp>(Value(zeros(g.build(), op.getX().getType())),
                                         Value(tuples), Value(g.of(op.getY())),
                                         ScatterReduction::add);
    });
  });
  rules.add<ScatterElementsOp>([](ScatterElementsOp op, BackwardPass &g) {
    TensorBuilder &b = g.build();
    differentiateScatter(
        op, g,
        [&](Expr x) -> Expr {
          return {b, b.make<GatherElementsOp>(Value(x), op.getIndices(), op.getAxis())};
        },
        [&](Expr x, Value updates, ScatterReduction reduction) -> Expr {
          return {b, b.make<ScatterElementsOp>(Value(x), op.getIndices(), updates, op.getAxis(),
                                               reduction)};
        });
  });
  rules.add<ScatterNdOp>([](ScatterNdOp op, BackwardPass &g) {
    TensorBuilder &b = g.build();
    differentiateScatter(
        op, g,
        [&](Expr x) -> Expr {
          return {b, b.make<GatherNdOp>(Value(x), op.getIndices(), /*batch_dims=*/0)};
        },
        [&](Expr x, Value updates, ScatterReduction reduction) -> Expr {
          return {b, b.make<ScatterNdOp>(Value(x), op.getIndices(), updates, reduction)};
        });
  });
}

} // namespace dlc::grad
