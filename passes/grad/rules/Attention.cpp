//===- Attention.cpp - the gradient of scaled dot-product attention -------===//
#include "ir/dlc/Attributes.h"
#include "passes/Compositions.h"
#include "passes/fuse/attention/FusedAttention.h"
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

// Differentiates attention after decomposing it into operations, so that the attention weights p
// are a value: s = scale q k^T + mask, p = softmax(s), y = p v. The gradients are dv = p^T dy, dp =
// dy v^T, ds = p (dp - sum of dp p), dq = scale ds k, dk = scale ds^T q, dmask = ds. Masked
// positions have p = 0 and need no special treatment.
static void differentiate(AttentionOp op, BackwardPass &g) {
  OpBuilder here(op);
  TensorBuilder forward(here, op.getLoc());
  Expr weights(forward, buildAttentionWeights(forward, op));
  Expr y = matmul(weights, Expr(forward, op.getV()));
  Expr dy = g.of(op.getY()), p = g(weights), q = g(op.getQ()), k = g(op.getK()), v = g(op.getV());
  g.add(v, [&] { return matmul(p, dy, true, false); });
  auto isWanted = [&](Value operand) { return operand && g.needsGradient(operand); };
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

/// Replaces -inf in row maxima by the lowest finite number. In a row that is masked entirely, -inf
/// would be subtracted from -inf, which is NaN.
static Expr lowestInstead(Expr x) { return {x.builder(), clampNegativeInfinity(x.builder(), x)}; }

// Differentiates fused attention, which does not store its scores: the forward operation saves one
// number per row (lse, the log-sum-exp), from which the backward operation recomputes the scores.
// The gradient of a mask needs stored scores, so that it is not supported. Returns false if the
// attention is not fused.
static bool differentiateFused(AttentionOp op, BackwardPass &g) {
  if (!op->hasAttr(kKeepFusedAttr) || (op.getMask() && g.needsGradient(op.getMask())))
    return false;
  OpBuilder here(op);
  auto forward = AttentionTrainOp::create(here, op.getLoc(), op.getQ(), op.getK(), op.getV(),
                                          op.getMask(), op.getScale(), op.getCausal());
  Expr dy = g.of(op.getY());
  auto grad = AttentionGradOp::create(g.place(), g.location(), op.getQ(), op.getK(), op.getV(),
                                      forward.getY(), forward.getLse(), Value(dy), op.getMask(),
                                      op.getScale(), op.getCausal());
  g.add(op.getQ(), [&] { return grad.getDq(); });
  g.add(op.getK(), [&] { return grad.getDk(); });
  g.add(op.getV(), [&] { return grad.getDv(); });
  g.replace(op, forward.getY());
  return true;
}

// Decompositions of attention_train and attention_grad, which are used if a gradient of these
// operations is needed.
static SmallVector<Value> decompose(AttentionTrainOp op, TensorBuilder &b) {
  Expr weights(b, buildAttentionWeights(b, getScoreOperands(op))),
      scores(b, buildAttentionScores(b, getScoreOperands(op)));
  SmallVector<int64_t> last{scores.rank() - 1};
  Expr largest = lowestInstead(Expr(b, b.reduce(ReduceKind::max, scores, last)));
  Expr lse = largest + (scores - largest).as<ExpOp>().sum(last).as<LogOp>();
  return {matmul(weights, Expr(b, op.getV())), lse.reshape(shapeOf(op.getLse()))};
}

static SmallVector<Value> decompose(AttentionGradOp op, TensorBuilder &b) {
  Expr scores(b, buildAttentionScores(b, getScoreOperands(op))), dy(b, op.getDy()), y(b, op.getY());
  SmallVector<int64_t> rows(shapeOf(op.getLse()));
  rows.push_back(1);
  Expr p = (scores - lowestInstead(Expr(b, op.getLse()).reshape(rows))).as<ExpOp>();
  Type wide = scores.element(), narrow = dy.element();
  Expr share = (dy.cast(wide) * y.cast(wide)).sum(scores.rank() - 1);
  Expr dp = matmul(dy, Expr(b, op.getV()), false, true).cast(wide);
  Expr ds = (op.getScale().convertToDouble() * (p * (dp - share))).cast(narrow);
  return {matmul(ds, Expr(b, op.getK())), matmul(ds, Expr(b, op.getQ()), true, false),
          matmul(p.cast(narrow), dy, true, false)};
}

void addAttentionGradients(GradientRules &rules) {
  rules.add<AttentionOp>([](AttentionOp op, BackwardPass &g) {
    if (!differentiateFused(op, g))
      differentiate(op, g);
  });
  rules.open<AttentionTrainOp>(
      [](AttentionTrainOp op, TensorBuilder &b) { return decompose(op, b); });
  rules.open<AttentionGradOp>(
      [](AttentionGradOp op, TensorBuilder &b) { return decompose(op, b); });
}

} // namespace dlc::grad
