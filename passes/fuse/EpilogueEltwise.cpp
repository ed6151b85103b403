//===- EpilogueEltwise.cpp - activations as oneDNN names them -------------===//
#include "passes/fuse/EpilogueEltwise.h"

#include <cfloat>
#include <cmath>

using namespace mlir;

namespace dlc {
namespace {

PostOp eltwise(StringRef alg, double alpha = 0, double beta = 0) {
  PostOp postOp;
  postOp.alg = alg.str();
  postOp.alpha = alpha;
  postOp.beta = beta;
  return postOp;
}

/// The operand of a binary operation that is not `value`; null when both or none are.
Value other(Operation *op, Value value) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if ((a == value) == (b == value))
    return {};
  return a == value ? b : a;
}

/// `op` does not change the shape of `value` by broadcasting.
bool keepsShape(Operation *op, Value value) { return shapeOf(op->getResult(0)) == shapeOf(value); }

/// One operation on `value` whose other operands are constants.
std::optional<PostOp> matchSimple(Operation *op, Value value) {
  if (isa<ReluOp>(op))
    return eltwise("relu");
  if (isa<TanhOp>(op))
    return eltwise("tanh");
  if (isa<SigmoidOp>(op))
    return eltwise("logistic");
  if (isa<ExpOp>(op))
    return eltwise("exp");
  if (isa<AbsOp>(op))
    return eltwise("abs");
  if (isa<SqrtOp>(op))
    return eltwise("sqrt");
  if (isa<NegOp>(op))
    return eltwise("linear", -1, 0);
  if (auto gelu = dyn_cast<GeluOp>(op))
    return eltwise(gelu.getApproximate() ? "gelu_tanh" : "gelu_erf");
  if (!isa<AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp>(op) || !keepsShape(op, value))
    return std::nullopt;
  if (isa<MulOp>(op) && op->getOperand(0) == value && op->getOperand(1) == value)
    return eltwise("square");
  Value operand = other(op, value);
  std::optional<double> c = operand ? splatValue(operand) : std::nullopt;
  if (!c)
    return std::nullopt;
  bool first = op->getOperand(0) == value;
  if (isa<AddOp>(op))
    return eltwise("linear", 1, *c);
  if (isa<SubOp>(op))
    return first ? eltwise("linear", 1, -*c) : eltwise("linear", -1, *c);
  if (isa<MulOp>(op))
    return eltwise("linear", *c, 0);
  if (isa<DivOp>(op))
    return first && *c != 0 ? std::optional(eltwise("linear", 1 / *c, 0)) : std::nullopt;
  if (isa<MaxOp>(op))
    return eltwise("clip", std::fmax(*c, -FLT_MAX), FLT_MAX);
  return eltwise("clip", -FLT_MAX, std::fmin(*c, FLT_MAX));
}

/// A chain of simple steps from `from` to `to`; the operations go to `ops`.
std::optional<SmallVector<PostOp>> matchChain(Value from, Value to, OpFilter inside,
                                              SmallVectorImpl<Operation *> &ops) {
  SmallVector<Operation *> chain;
  Value value = to;
  while (value != from) {
    Operation *op = value.getDefiningOp();
    if (!op || !inside(op) || chain.size() > 4 || op->getNumOperands() == 0)
      return std::nullopt;
    chain.push_back(op);
    Value next;
    for (Value operand : op->getOperands())
      if (!splatValue(operand))
        next = operand;
    if (!next)
      return std::nullopt;
    value = next;
  }
  SmallVector<PostOp> steps;
  value = from;
  for (Operation *op : llvm::reverse(chain)) {
    std::optional<PostOp> step = matchSimple(op, value);
    // What another operation uses cannot disappear into one step.
    if (!step || (op->getResult(0) != to && !op->getResult(0).hasOneUse()))
      return std::nullopt;
    appendPostOp(steps, *step);
    value = op->getResult(0);
    ops.push_back(op);
  }
  return steps;
}

// x * f(x):  swish, hardswish
std::optional<Step> matchSelfProduct(Value x, MulOp mul, OpFilter inside) {
  Value gate = other(mul, x);
  if (!gate || !gate.hasOneUse() || shapeOf(gate) != shapeOf(x))
    return std::nullopt;
  Step step;
  step.result = mul.getY();
  auto chain = matchChain(x, gate, inside, step.ops);
  if (!chain)
    return std::nullopt;
  step.ops.push_back(mul);
  ArrayRef<PostOp> f = *chain;
  if (!f.empty() && f.back().alg == "logistic") {
    // x * logistic(alpha * x)
    if (f.size() == 1)
      step.postOps = {eltwise("swish", 1)};
    else if (f.size() == 2 && f[0].alg == "linear" && f[0].beta == 0)
      step.postOps = {eltwise("swish", f[0].alpha)};
  } else if (f.size() == 2 && f[0].alg == "linear" && f[1].alg == "clip" && f[1].alpha == 0 &&
             f[1].beta > 0 && f[1].beta < FLT_MAX) {
    // x * clip(a x + b, 0, h) = h * (x * clip(a/h x + b/h, 0, 1))
    double h = f[1].beta;
    step.postOps = {eltwise("hardswish", f[0].alpha / h, f[0].beta / h)};
    if (h != 1)
      step.postOps.push_back(eltwise("linear", h, 0));
  } else if (f.size() == 3 && f[0].alg == "linear" && f[1].alg == "clip" && f[1].alpha == 0 &&
             f[1].beta > 0 && f[1].beta < FLT_MAX && f[2].alg == "linear" && f[2].beta == 0) {
    // x * (clip(a x + b, 0, h) * s)
    double h = f[1].beta;
    step.postOps = {eltwise("hardswish", f[0].alpha / h, f[0].beta / h)};
    if (h * f[2].alpha != 1)
      step.postOps.push_back(eltwise("linear", h * f[2].alpha, 0));
  }
  return step.postOps.empty() ? std::nullopt : std::optional(step);
}

/// x * c for a constant c: c and the operation.
std::optional<double> matchScaled(Value x, Value scaled, Operation *&mul) {
  mul = scaled.getDefiningOp<MulOp>();
  if (!mul || !scaled.hasOneUse() || !keepsShape(mul, x))
    return std::nullopt;
  Value factor = other(mul, x);
  return factor ? splatValue(factor) : std::nullopt;
}

// max(x, c x), 0 <= c <= 1:  leaky relu
std::optional<Step> matchLeakyMax(Value x, MaxOp max) {
  Value scaled = other(max, x);
  Operation *mul = nullptr;
  std::optional<double> slope = scaled ? matchScaled(x, scaled, mul) : std::nullopt;
  if (!slope || *slope < 0 || *slope > 1)
    return std::nullopt;
  return Step{max.getY(), {eltwise("relu", *slope)}, {mul, max}};
}

// select(x > 0, x, c x) = select(x < 0, c x, x):  leaky relu
std::optional<Step> matchLeakySelect(Value x, SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<CompareOp>();
  if (!compare || !compare.getY().hasOneUse() || compare.getA() != x ||
      !isSplatOf(compare.getB(), 0))
    return std::nullopt;
  Predicate predicate = compare.getPredicate();
  bool positive = predicate == Predicate::gt || predicate == Predicate::ge;
  if (!positive && predicate != Predicate::lt && predicate != Predicate::le)
    return std::nullopt;
  Value kept = positive ? select.getA() : select.getB();
  Value scaled = positive ? select.getB() : select.getA();
  Operation *mul = nullptr;
  std::optional<double> slope = matchScaled(x, scaled, mul);
  if (kept != x || !slope)
    return std::nullopt;
  return Step{select.getY(), {eltwise("relu", *slope)}, {compare, mul, select}};
}

} // namespace

bool isClosed(Value from, const Step &step) {
  auto contains = [&](Operation *op) { return llvm::is_contained(step.ops, op); };
  if (!llvm::all_of(from.getUsers(), contains))
    return false;
  return llvm::all_of(step.ops, [&](Operation *op) {
    return op->getResult(0) == step.result || llvm::all_of(op->getUsers(), contains);
  });
}

std::optional<Step> matchEltwise(Value value, OpFilter inside) {
  for (Operation *user : value.getUsers()) {
    if (!inside(user))
      continue;
    std::optional<Step> step;
    if (auto mul = dyn_cast<MulOp>(user))
      step = matchSelfProduct(value, mul, inside);
    else if (auto max = dyn_cast<MaxOp>(user))
      step = matchLeakyMax(value, max);
    else if (auto select = dyn_cast<SelectOp>(user))
      step = matchLeakySelect(value, select);
    if (step && llvm::all_of(step->ops, inside) && isClosed(value, *step))
      return step;
    // A description has no infinities.
    if (auto simple = matchSimple(user, value);
        simple && std::isfinite(simple->alpha) && std::isfinite(simple->beta)) {
      Step one{user->getResult(0), {*simple}, {user}};
      if (isClosed(value, one))
        return one;
    }
  }
  return std::nullopt;
}

void appendPostOp(SmallVectorImpl<PostOp> &postOps, PostOp postOp) {
  bool isEltwise = postOp.kind == PostOp::Kind::Eltwise;
  if (isEltwise && postOp.alg == "linear" && postOp.alpha == 1 && postOp.beta == 0)
    return;
  // What bounds a ReLU from above is one step with it.
  if (isEltwise && postOp.alg == "clip" && !postOps.empty() &&
      postOps.back().kind == PostOp::Kind::Eltwise && postOps.back().alg == "relu" &&
      postOps.back().alpha == 0) {
    postOps.back().alg = "clip";
    postOps.back().beta = FLT_MAX;
  }
  if (!postOps.empty() && postOps.back().kind == PostOp::Kind::Eltwise &&
      postOp.kind == PostOp::Kind::Eltwise && postOps.back().alg == postOp.alg) {
    PostOp &last = postOps.back();
    if (postOp.alg == "linear" && std::isfinite(last.alpha * postOp.alpha) &&
        std::isfinite(last.beta * postOp.alpha + postOp.beta)) {
      last.alpha *= postOp.alpha;
      last.beta = last.beta * postOp.alpha + postOp.beta;
      if (std::fabs(last.alpha - 1) < 1e-7 && last.beta == 0)
        postOps.pop_back();
      return;
    }
    // clip(clip(x, a, b), c, d) = clip(x, clip(a, c, d), clip(b, c, d))
    if (postOp.alg == "clip") {
      last.alpha = std::fmin(std::fmax(last.alpha, postOp.alpha), postOp.beta);
      last.beta = std::fmin(std::fmax(last.beta, postOp.alpha), postOp.beta);
      return;
    }
  }
  postOps.push_back(std::move(postOp));
}

} // namespace dlc
