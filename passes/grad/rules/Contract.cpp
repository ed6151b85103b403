//===- Contract.cpp - gradients of matrix products ------------------------===//
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

/// Reshapes a batch of matrices [.., m, n] to a single matrix with all rows.
static Expr rows(Expr x) { return x.reshape({product(x.shape().drop_back()), x.shape().back()}); }

// Gradient of y = A B, where A and B are a and b or their transposes: dA = dy B^T, dB = A^T dy,
// expressed by transpose flags so that nothing is transposed in memory.
static void differentiate(MatmulOp op, BackwardPass &g) {
  Expr dy = g.of(op.getY()), a = g(op.getA()), b = g(op.getB());
  bool ta = op.getTransposeA(), tb = op.getTransposeB();
  g.add(a, [&] { return ta ? matmul(b, dy, tb, true) : matmul(dy, b, false, !tb); });
  g.add(b, [&] {
    // If all matrices of the batch share b, db is one matmul over all rows instead of a sum of
    // matmuls.
    bool shared = product(b.shape().drop_back(2)) == 1 && dy.rank() > 2 && !ta &&
                  a.shape().drop_back(2) == dy.shape().drop_back(2);
    Expr left = shared ? rows(a) : a, right = shared ? rows(dy) : dy;
    Expr db = tb ? matmul(right, left, true, ta) : matmul(left, right, !ta, false);
    return shared ? db.reshape(b.shape()) : db;
  });
}

void addMatmulGradients(GradientRules &rules) {
  rules.add<MatmulOp>([](MatmulOp op, BackwardPass &g) { differentiate(op, g); });
  // Gradient of grouped_matmul, y[rows of g] = a[rows of g] b[g] for each group g: da[rows of g] =
  // dy[rows of g] b[g]^T, db[g] = a[rows of g]^T dy[rows of g]
  rules.add<GroupedMatmulOp>([](GroupedMatmulOp op, BackwardPass &g) {
    Expr dy = g.of(op.getY());
    bool transposed = op.getTransposeB();
    TensorBuilder &b = g.build();
    g.add(op.getA(),
          [&] { return b.make<GroupedMatmulOp>(Value(dy), op.getB(), op.getEnds(), !transposed); });
    g.add(op.getB(), [&] {
      return transposed ? b.make<GroupedWeightGradOp>(Value(dy), op.getA(), op.getEnds())
                        : b.make<GroupedWeightGradOp>(op.getA(), Value(dy), op.getEnds());
    });
  });
  // Gradient of grouped_weight_grad, z[g] = a[rows of g]^T y[rows of g] for each group g: da[rows
  // of g] = y[rows of g] dz[g]^T, dy[rows of g] = a[rows of g] dz[g]
  rules.add<GroupedWeightGradOp>([](GroupedWeightGradOp op, BackwardPass &g) {
    Expr dz = g.of(op.getDb());
    TensorBuilder &b = g.build();
    g.add(op.getA(), [&] {
      return b.make<GroupedMatmulOp>(op.getDy(), Value(dz), op.getEnds(), /*transpose_b=*/true);
    });
    g.add(op.getDy(), [&] {
      return b.make<GroupedMatmulOp>(op.getA(), Value(dz), op.getEnds(), /*transpose_b=*/false);
    });
  });
}

} // namespace dlc::grad
