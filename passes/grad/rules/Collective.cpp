//===- Collective.cpp - gradients of collectives --------------------------===//
//
// All gradients are gradients of the sum of the losses of all ranks.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Collective.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

void addCollectiveGradients(GradientRules &rules) {
  // All-reduce. Sum, y = sum of x over ranks: dx = sum of dy over ranks. Mean, y = mean of x: dx =
  // mean of dy. If only one rank has y, its dy is broadcast to all ranks.
  rules.add<AllReduceOp>([](AllReduceOp op, BackwardPass &g) -> LogicalResult {
    if (op.getKind() == ReduceKind::max)
      return op.emitError("dlc.all_reduce max has no gradient; take the maximum after "
                          "dlc.all_gather, or mark it dlc.no_gradient");
    Expr dy = g.of(op.getY());
    g.add(op.getX(), [&]() -> Value {
      if (IntegerAttr to = op.getToAttr())
        return g.build().make<BroadcastRanksOp>(Value(dy), op.getGroupAttr(), op.getSizeAttr(), to);
      return g.build().make<AllReduceOp>(op.getKindAttr(), Value(dy), op.getGroupAttr(),
                                         op.getSizeAttr(), IntegerAttr());
    });
    return success();
  });
  // All-gather: y contains the rows of all ranks, so that dx = this rank's rows of the sum of dy
  // over ranks.
  rules.add<AllGatherOp>([](AllGatherOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    auto sum = ReduceKindAttr::get(op.getContext(), ReduceKind::sum);
    g.add(op.getX(), [&]() -> Value {
      return g.build().make<ReduceScatterOp>(sum, Value(dy), op.getGroupAttr(), op.getSizeAttr());
    });
  });
  // Reduce-scatter: y is this rank's part of the sum over all ranks, so that dx = the dy of all
  // ranks, concatenated.
  rules.add<ReduceScatterOp>([](ReduceScatterOp op, BackwardPass &g) -> LogicalResult {
    if (op.getKind() == ReduceKind::max)
      return op.emitError("dlc.reduce_scatter max has no gradient; take the maximum after "
                          "dlc.all_gather, or mark it dlc.no_gradient");
    Expr dy = g.of(op.getY());
    g.add(op.getX(), [&]() -> Value {
      TensorBuilder &b = g.build();
      Expr all(b, b.make<AllGatherOp>(Value(dy), op.getGroupAttr(), op.getSizeAttr()));
      return op.getKind() == ReduceKind::mean ? (1.0 / double(*op.getSize())) * all : all;
    });
    return success();
  });
  // y is this rank's part of the rows of xs, and the parts differ between ranks: dx = dy at this
  // rank's rows, and 0 at the rows of other ranks.
  rules.add<OwnRowsOp>([](OwnRowsOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    TensorBuilder &b = g.build();
    int64_t all = 0;
    for (Value x : op.getXs())
      all += shapeOf(x)[0];
    const int64_t size = op.getSize() ? int64_t(*op.getSize()) : all;
    Value numbers = iota(b, {size}, 0, dy);
    Expr rank(b, b.make<OwnRowsOp>(ValueRange{numbers}, op.getGroupAttr(), op.getSizeAttr()));
    SmallVector<Value> shares;
    for (int64_t r = 0; r < size; ++r)
      shares.push_back(keep(compare(Predicate::eq, rank, index(b, r, dy)), dy));
    Expr rows = concat(shares, 0, b);
    int64_t from = 0;
    for (Value x : op.getXs()) {
      int64_t count = shapeOf(x)[0];
      g.add(x, [&]() -> Value { return rows.part(0, from, count); });
      from += count;
    }
  });
  // Broadcast: y of every rank is x of the root, so that dx = sum of dy over ranks, on the root.
  rules.add<BroadcastRanksOp>([](BroadcastRanksOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    auto sum = ReduceKindAttr::get(op.getContext(), ReduceKind::sum);
    g.add(op.getX(), [&]() -> Value {
      return g.build().make<AllReduceOp>(sum, Value(dy), op.getGroupAttr(), op.getSizeAttr(),
                                         op.getRootAttr());
    });
  });
}

} // namespace dlc::grad
