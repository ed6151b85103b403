//===- Collective.cpp - gradients of what ranks share ---------------------===//
//
// What is differentiated is the sum of the losses of all ranks.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Collective.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

void addCollective(Rules &rules) {
  // y = sum of x over ranks: dx = sum of dy over ranks; a mean alike. Where one rank has y, its dy
  // is everybody's.
  rules.add<AllReduceOp>([](AllReduceOp op, Backward &g) -> LogicalResult {
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
  // Each rank's rows are in the result of all.
  rules.add<AllGatherOp>([](AllGatherOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    auto sum = ReduceKindAttr::get(op.getContext(), ReduceKind::sum);
    g.add(op.getX(), [&]() -> Value {
      return g.build().make<ReduceScatterOp>(sum, Value(dy), op.getGroupAttr(), op.getSizeAttr());
    });
  });
  // The share of each rank came from all.
  rules.add<ReduceScatterOp>([](ReduceScatterOp op, Backward &g) -> LogicalResult {
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
  // All ranks' results are the root's elements.
  rules.add<BroadcastRanksOp>([](BroadcastRanksOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    auto sum = ReduceKindAttr::get(op.getContext(), ReduceKind::sum);
    g.add(op.getX(), [&]() -> Value {
      return g.build().make<AllReduceOp>(sum, Value(dy), op.getGroupAttr(), op.getSizeAttr(),
                                         op.getRootAttr());
    });
  });
  // The share went in at this rank's place, and nothing at the others'.
  rules.add<RankRowsOp>([](RankRowsOp op, Backward &g) {
    Expr dy = g.of(op.getY());
    g.add(op.getX(), [&]() -> Expr {
      TensorBuilder &b = g.build();
      int64_t size = int64_t(*op.getSize());
      SmallVector<int64_t> rows{size}, column(dy.rank() + 1, 1), one{1}, all{size};
      column[0] = size;
      llvm::append_range(one, dy.shape());
      llvm::append_range(all, dy.shape());
      Expr ranks = iota(b, rows, 0, dy);
      Expr mine(b, b.make<RankRowsOp>(Value(ranks), op.getGroupAttr(), op.getSizeAttr()));
      Expr isMine = compare(Predicate::eq, ranks, mine).reshape(column);
      return keep(isMine, Expr(b, b.broadcast(dy.reshape(one), all))).reshape(shapeOf(op.getX()));
    });
  });
}

} // namespace dlc::grad
