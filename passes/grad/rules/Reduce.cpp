//===- Reduce.cpp - gradients of reductions -------------------------------===//
#include "passes/Dimensions.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

/// Returns, for each element, the product of all elements before it along an axis, or after it if
/// `reverse` is set.
static Expr exclusiveProduct(Expr x, int64_t axis, bool reverse) {
  TensorBuilder &b = x.builder();
  return {b, b.make<CumulativeOp>(ReduceKind::prod, Value(x), axis, /*exclusive=*/true, reverse)};
}

/// Returns, for each element, the product of all other elements along the axes. The result is also
/// correct if there are zeros, because nothing is divided.
static Expr productOfOtherElements(Expr x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x.scalar(1).broadcast(x.shape());
  if (axes.size() == 1)
    return exclusiveProduct(x, axes[0], false) * exclusiveProduct(x, axes[0], true);
  // Several reduced axes are transposed to the end and merged into one.
  SmallVector<int64_t> permutation, shape;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!llvm::is_contained(axes, d)) {
      permutation.push_back(d);
      shape.push_back(x.dim(d));
    }
  int64_t last = int64_t(shape.size());
  llvm::append_range(permutation, axes);
  Expr moved = x.transpose(permutation);
  shape.push_back(product(moved.shape().drop_front(last)));
  Expr others = productOfOtherElements(moved.reshape(shape), last);
  return others.reshape(moved.shape()).transpose(invertPermutation(permutation));
}

static void differentiate(ReduceOp op, BackwardPass &g) {
  Expr x = g(op.getX());
  SmallVector<int64_t> kept(x.shape());
  int64_t count = 1;
  for (int64_t axis : op.getAxes()) {
    count *= kept[axis];
    kept[axis] = 1;
  }
  Expr dy = g.of(op.getY()).reshape(kept);
  g.add(x, [&]() -> Value {
    switch (op.getKind()) {
    case ReduceKind::sum:
      // sum: dx = dy, broadcast along the reduced dimensions
      return dy.broadcast(x.shape());
    case ReduceKind::mean:
      // mean: dx = dy / count
      return (1.0 / double(std::max<int64_t>(count, 1)) * dy).broadcast(x.shape());
    case ReduceKind::prod:
      // prod: dx = dy times the product of the other elements
      return dy * productOfOtherElements(x, op.getAxes());
    case ReduceKind::max:
    case ReduceKind::min: {
      // max and min: dx = dy, divided equally among the elements that equal the maximum (minimum)
      Expr chosen = compare(Predicate::eq, x, g(op.getY()).reshape(kept));
      Expr number = chosen.cast(x.element()).sum(op.getAxes());
      return keep(chosen, dy / number).fit(x.shape());
    }
    }
    llvm_unreachable("kind");
  });
}

/// Returns the running sum of x in the direction opposite to that of the operation.
static Expr reverseRunningSum(BackwardPass &g, CumulativeOp op, Expr x) {
  return {g.build(), g.build().make<CumulativeOp>(ReduceKind::sum, Value(x), op.getAxis(),
                                                  op.getExclusive(), !op.getReverse())};
}

// Gradient of a running product (cumprod). Before the first 0 along the axis: dx = (reverse running
// sum of dy y) / x. At the first 0: the reverse running sum with products that exclude this
// element. After the first 0: dx = 0.
static Value runningProductGradient(BackwardPass &g, CumulativeOp op, Expr x) {
  Expr dy = g.of(op.getY()), isZero = compare(Predicate::eq, x, x.scalar(0));
  Expr flag = isZero.cast(x.element());
  Expr count(g.build(), g.build().make<CumulativeOp>(ReduceKind::sum, Value(flag), op.getAxis(),
                                                     /*exclusive=*/false, op.getReverse()));
  Expr isFirst = isZero.with<AndOp>(compare(Predicate::eq, count, count.scalar(1)));
  Expr one = x.scalar(1), others = select(isFirst, one, x);
  Expr products(g.build(), g.build().make<CumulativeOp>(op.getKind(), Value(others), op.getAxis(),
                                                        op.getExclusive(), op.getReverse()));
  Expr before = reverseRunningSum(g, op, dy * g(op.getY())) / select(isZero, one, x);
  Expr first = keep(isFirst, reverseRunningSum(g, op, dy * products));
  return select(compare(Predicate::eq, count, count.scalar(0)), before, first);
}

void addReduceGradients(GradientRules &rules) {
  rules.add<ReduceOp>([](ReduceOp op, BackwardPass &g) { differentiate(op, g); });
  // Running sum: dx = reverse running sum of dy
  rules.add<CumulativeOp>([](CumulativeOp op, BackwardPass &g) {
    g.add(op.getX(), [&]() -> Value {
      if (op.getKind() == ReduceKind::sum)
        return reverseRunningSum(g, op, g.of(op.getY()));
      return runningProductGradient(g, op, g(op.getX()));
    });
  });
  // topk: dx = gradients of the values, at the indices
  rules.add<TopKOp>([](TopKOp op, BackwardPass &g) {
    g.add(op.getX(), [&] {
      return g.build().make<ScatterElementsOp>(Value(zeros(g.build(), op.getX().getType())),
                                               op.getIndices(), Value(g.of(op.getValues())),
                                               op.getAxis(), ScatterReduction::none);
    });
  });
}

} // namespace dlc::grad
