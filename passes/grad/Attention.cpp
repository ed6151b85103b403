//===- Attention.cpp - the gradient of scaled dot-product attention -------===//
#include "passes/Compositions.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

// The forward operation is spelled out with its weights p: y = p v, p = softmax(s),
// s = scale q k^T + mask. Then dv = p^T dy, dp = dy v^T, ds = p (dp - sum of dp p), dq = scale ds
// k, dk = scale ds^T q, dmask = ds. What is hidden has p = 0 and needs no other care.
static void differentiate(AttentionOp op, Backward &g) {
  OpBuilder here(op);
  TensorBuilder forward(here, op.getLoc());
  Expr weights(forward, attentionWeights(forward, op));
  Expr y = matmul(weights, Expr(forward, op.getV()));
  Expr dy = g.of(op.getY()), p = g(weights), q = g(op.getQ()), k = g(op.getK()), v = g(op.getV());
  g.add(v, [&] { return matmul(p, dy, true, false); });
  auto isWanted = [&](Value operand) { return operand && g.wants(operand); };
  if (isWanted(q) || isWanted(k) || isWanted(op.getMask())) {
    Type wide = statisticsType(q);
    Expr dp = matmul(dy, v, false, true).cast(wide), full = p.cast(wide);
    Expr ds = full * (dp - (dp * full).sum(p.rank() - 1));
    Expr scaled = (op.getScale().convertToDouble() * ds).cast(q.element());
    g.add(q, [&] { return matmul(scaled, k); });
    g.add(k, [&] { return matmul(scaled, q, true, false); });
    if (op.getMask())
      g.add(op.getMask(), [&] { return ds; });
  }
  g.replace(op, Value(y));
}

void addAttention(Rules &rules) {
  rules.add<AttentionOp>([](AttentionOp op, Backward &g) { differentiate(op, g); });
}

} // namespace dlc::grad
