//===- MatchActivation.cpp - matches activations in an epilogue -----------===//
#include "passes/fuse/epilogue/MatchActivation.h"

#include "passes/ConstantRewrites.h"
#include "passes/fuse/epilogue/MatchFormula.h"

#include <cfloat>
#include <cmath>

using namespace mlir;

namespace dlc {

EpilogueOp makeActivation(Activation activation, double alpha, double beta) {
  EpilogueOp made;
  made.activation = activation;
  made.alpha = alpha;
  made.beta = beta;
  return made;
}

namespace {

/// Returns the operand of a binary operation that is not `value`, or null if both or neither are
/// `value`.
Value otherOperand(Operation *op, Value value) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if ((a == value) == (b == value))
    return {};
  return a == value ? b : a;
}

/// Returns whether the result of `op` has the shape of `value`, so that `value` is not broadcast.
bool keepsShape(Operation *op, Value value) { return shapeOf(op->getResult(0)) == shapeOf(value); }

using Kind = ConstantRewrite::Kind;

/// Returns whether a rewrite with these constants may replace `op`. The rewrite is checked for f32,
/// the type in which libraries compute epilogues.
bool allowsRewrite(Operation *op, Kind kind, std::initializer_list<double> constants) {
  return isRewriteAllowed({kind, Float32Type::get(op->getContext()), constants}, op);
}

/// Returns whether `c` is a finite bound of a clip op. -FLT_MAX and FLT_MAX represent missing
/// bounds.
bool isBound(double c) { return std::fabs(c) < FLT_MAX; }

/// Matches one operation on `value` whose other operands are constants, as an activation.
/// `exact` excludes two cases that change bits: linear ops add 0, which converts -0.0 to 0, and
/// libraries flush subnormal exponentials to 0.
std::optional<EpilogueOp> matchUnaryOp(Operation *op, Value value, bool exact) {
  if (isa<ReluOp>(op))
    return makeActivation(Activation::Relu);
  if (isa<NegOp>(op) && !exact)
    return makeActivation(Activation::Linear, -1);
  if (auto formula = matchFormula(op, value, exact); formula && formula->ops.size() == 1)
    return makeActivation(formula->activation);
  if (!op->hasTrait<Elementwise>() || op->getNumOperands() != 2 || !keepsShape(op, value))
    return std::nullopt;
  Value operand = otherOperand(op, value);
  std::optional<double> c = operand ? splatValue(operand) : std::nullopt;
  if (!c)
    return std::nullopt;
  bool first = op->getOperand(0) == value;
  if (isa<AddOp>(op))
    return makeActivation(Activation::Linear, 1, *c);
  if (isa<SubOp>(op))
    return first ? makeActivation(Activation::Linear, 1, -*c)
                 : makeActivation(Activation::Linear, -1, *c);
  if (isa<MulOp, DivOp>(op) && exact)
    return std::nullopt;
  if (isa<MulOp>(op))
    return makeActivation(Activation::Linear, *c, 0);
  if (isa<DivOp>(op))
    return first && allowsRewrite(op, Kind::ReplaceDivision, {*c})
               ? std::optional(makeActivation(Activation::Linear, 1 / *c, 0))
               : std::nullopt;
  if (isa<MaxOp>(op) && isBound(*c))
    return makeActivation(Activation::Clip, *c, FLT_MAX);
  if (isa<MinOp>(op) && isBound(*c))
    return makeActivation(Activation::Clip, -FLT_MAX, *c);
  return std::nullopt;
}

/// Matches a chain of operations from `from` to `to` as activations, and appends the matched
/// operations to `ops`.
std::optional<SmallVector<EpilogueOp>> matchChain(Value from, Value to, OpFilter inside,
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
  SmallVector<EpilogueOp> steps;
  value = from;
  for (Operation *op : llvm::reverse(chain)) {
    std::optional<EpilogueOp> step = matchUnaryOp(op, value, /*exact=*/false);
    // An intermediate result with other users must remain in the program, so that the operation
    // cannot be replaced by an epilogue op.
    if (!step || (op->getResult(0) != to && !op->getResult(0).hasOneUse()))
      return std::nullopt;
    appendEpilogueOp(steps, *step, op);
    value = op->getResult(0);
    ops.push_back(op);
  }
  return steps;
}

/// Matches x * gate, where `gate` is clip(f x + b, 0, h) * s, as hard swish: sets the epilogue ops
/// to (h * s) * hardswish(x). A following multiplication or division by a constant is included.
bool appendHardSwish(EpilogueMatch &step, ArrayRef<EpilogueOp> gate, OpFilter inside) {
  bool isScaled = gate.size() == 3 && gate[2].is(Activation::Linear) && gate[2].beta == 0;
  if ((gate.size() != 2 && !isScaled) || !gate[0].is(Activation::Linear) ||
      !gate[1].is(Activation::Clip) || gate[1].alpha != 0 || !(gate[1].beta > 0) ||
      gate[1].beta >= FLT_MAX)
    return false;
  double h = gate[1].beta, scale = isScaled ? gate[2].alpha : 1;
  Operation *mul = step.ops.back();
  if (!allowsRewrite(mul, Kind::MoveFactors, {h, scale}))
    return false;
  step.epilogueOps = {makeActivation(Activation::HardSwish, gate[0].alpha / h, gate[0].beta / h)};
  Operation *next = step.result.hasOneUse() ? *step.result.getUsers().begin() : nullptr;
  auto after = isa_and_nonnull<MulOp, DivOp>(next) && inside(next)
                   ? matchUnaryOp(next, step.result, /*exact=*/false)
                   : std::nullopt;
  if (after && after->is(Activation::Linear) &&
      allowsRewrite(mul, Kind::MoveFactors, {h, scale, after->alpha})) {
    scale *= after->alpha;
    step.ops.push_back(next);
    step.result = next->getResult(0);
  }
  // The scale h * s is omitted if it is 1 up to rounding, as for s = 1 / h rounded to f32.
  if (std::fabs(h * scale - 1) > 1e-7)
    step.epilogueOps.push_back(makeActivation(Activation::Linear, h * scale, 0));
  return true;
}

// Matches x * f(x) as swish or hardswish.
std::optional<EpilogueMatch> matchSwish(Value x, MulOp mul, OpFilter inside) {
  Value gate = otherOperand(mul, x);
  if (!gate || !gate.hasOneUse() || shapeOf(gate) != shapeOf(x))
    return std::nullopt;
  EpilogueMatch step;
  step.result = mul.getY();
  auto chain = matchChain(x, gate, inside, step.ops);
  if (!chain)
    return std::nullopt;
  step.ops.push_back(mul);
  ArrayRef<EpilogueOp> f = *chain;
  bool isGated = !f.empty() && f.back().is(Activation::Logistic);
  // swish: x * logistic(alpha * x)
  if (isGated && f.size() == 1)
    step.epilogueOps = {makeActivation(Activation::Swish, 1)};
  else if (isGated && f.size() == 2 && f[0].is(Activation::Linear) && f[0].beta == 0)
    step.epilogueOps = {makeActivation(Activation::Swish, f[0].alpha)};
  else if (!appendHardSwish(step, f, inside))
    return std::nullopt;
  return step;
}

/// Matches `scaled` as x * c with a constant c. Returns c and sets `mul` to the multiplication, or
/// returns nullopt.
std::optional<double> matchConstantMultiple(Value x, Value scaled, Operation *&mul) {
  mul = scaled.getDefiningOp<MulOp>();
  if (!mul || !scaled.hasOneUse() || !keepsShape(mul, x))
    return std::nullopt;
  Value factor = otherOperand(mul, x);
  return factor ? splatValue(factor) : std::nullopt;
}

// Matches max(x, c x) with 0 < c <= 1 as leaky ReLU. c = 0 is excluded: 0 * infinity is NaN,
// whereas the ReLU of a library returns infinity.
std::optional<EpilogueMatch> matchLeakyReluMax(Value x, MaxOp max) {
  Value scaled = otherOperand(max, x);
  Operation *mul = nullptr;
  std::optional<double> slope = scaled ? matchConstantMultiple(x, scaled, mul) : std::nullopt;
  if (!slope || !(*slope > 0) || *slope > 1)
    return std::nullopt;
  return EpilogueMatch{max.getY(), {makeActivation(Activation::Relu, *slope)}, {mul, max}};
}

// Matches select(x > 0, x, c x) and select(x < 0, c x, x) as leaky ReLU.
std::optional<EpilogueMatch> matchLeakyReluSelect(Value x, SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<CompareOp>();
  if (!compare || !compare.getY().hasOneUse() || compare.getA() != x ||
      !isSplatWithValue(compare.getB(), 0))
    return std::nullopt;
  Predicate predicate = compare.getPredicate();
  bool positive = predicate == Predicate::gt || predicate == Predicate::ge;
  if (!positive && predicate != Predicate::lt && predicate != Predicate::le)
    return std::nullopt;
  Value kept = positive ? select.getA() : select.getB();
  Value scaled = positive ? select.getB() : select.getA();
  Operation *mul = nullptr;
  std::optional<double> slope = matchConstantMultiple(x, scaled, mul);
  if (kept != x || !slope || *slope == 0)
    return std::nullopt;
  return EpilogueMatch{
      select.getY(), {makeActivation(Activation::Relu, *slope)}, {compare, mul, select}};
}

} // namespace

bool hasNoOtherUsers(Value from, const EpilogueMatch &step) {
  auto contains = [&](Operation *op) { return llvm::is_contained(step.ops, op); };
  if (!llvm::all_of(from.getUsers(), contains))
    return false;
  return llvm::all_of(step.ops, [&](Operation *op) {
    return op->getResult(0) == step.result || llvm::all_of(op->getUsers(), contains);
  });
}

std::optional<EpilogueMatch> matchActivation(Value value, OpFilter inside, bool exact) {
  for (Operation *user : value.getUsers()) {
    if (!inside(user))
      continue;
    std::optional<EpilogueMatch> step;
    if (auto mul = dyn_cast<MulOp>(user); mul && !exact)
      step = matchSwish(value, mul, inside);
    else if (auto max = dyn_cast<MaxOp>(user))
      step = matchLeakyReluMax(value, max);
    else if (auto select = dyn_cast<SelectOp>(user))
      step = matchLeakyReluSelect(value, select);
    if (auto formula = step ? std::nullopt : matchFormula(user, value, exact))
      step = EpilogueMatch{
          user->getResult(0), {makeActivation(formula->activation)}, std::move(formula->ops)};
    if (step && llvm::all_of(step->ops, inside) && hasNoOtherUsers(value, *step))
      return step;
    // Epilogue ops require finite constants, so that operations with infinite or NaN constants are
    // not matched.
    if (auto simple = matchUnaryOp(user, value, exact);
        simple && std::isfinite(simple->alpha) && std::isfinite(simple->beta)) {
      EpilogueMatch one{user->getResult(0), {*simple}, {user}};
      if (hasNoOtherUsers(value, one))
        return one;
    }
  }
  return std::nullopt;
}

/// Merges a linear op into the preceding one if merging their constants is allowed.
static bool mergeLinearOps(EpilogueOp &last, const EpilogueOp &next, Operation *op) {
  // Adds an offset to a scale: a x + 0, followed by + d, is a x + d
  if (next.alpha == 1 && last.beta == 0 && allowsRewrite(op, Kind::ChangeRounding, {})) {
    last.beta = next.beta;
    return true;
  }
  bool onlyScales = next.beta == 0 && (last.beta == 0 || std::fabs(next.alpha) == 1);
  if (!onlyScales || !allowsRewrite(op, Kind::MergeFactors, {last.alpha, next.alpha}))
    return false;
  last.alpha *= next.alpha;
  last.beta *= next.alpha;
  return true;
}

void appendEpilogueOp(SmallVectorImpl<EpilogueOp> &epilogueOps, EpilogueOp next, Operation *op) {
  auto isIdentity = [](const EpilogueOp &step) {
    return step.is(Activation::Linear) && step.alpha == 1 && step.beta == 0;
  };
  if (isIdentity(next))
    return;
  EpilogueOp *last = epilogueOps.empty() ? nullptr : &epilogueOps.back();
  // A clip after a ReLU is merged with it: the ReLU becomes clip(x, 0, FLT_MAX).
  if (last && next.is(Activation::Clip) && last->is(Activation::Relu) && last->alpha == 0) {
    last->activation = Activation::Clip;
    last->beta = FLT_MAX;
  }
  if (last && next.is(Activation::Linear) && last->is(Activation::Linear) &&
      mergeLinearOps(*last, next, op)) {
    if (isIdentity(*last))
      epilogueOps.pop_back();
    return;
  }
  // Two clips are one clip: clip(clip(x, a, b), c, d) = clip(x, clip(a, c, d), clip(b, c, d))
  if (last && next.is(Activation::Clip) && last->is(Activation::Clip)) {
    last->alpha = std::fmin(std::fmax(last->alpha, next.alpha), next.beta);
    last->beta = std::fmin(std::fmax(last->beta, next.alpha), next.beta);
    return;
  }
  epilogueOps.push_back(std::move(next));
}

} // namespace dlc
