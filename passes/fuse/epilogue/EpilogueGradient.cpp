//===- EpilogueGradient.cpp - matches gradients of activations in an epilogue ----===//
#include "passes/fuse/epilogue/MatchActivation.h"

using namespace mlir;

namespace dlc {
namespace {

struct GradientMatcher {
  Value value;
  OpFilter inside;
  EpilogueMatch step;

  bool isInside(Value v) const {
    Operation *op = v.getDefiningOp();
    return op && inside(op);
  }

  /// Returns whether `y` can be the saved result of the activation: an f32 value that is computed
  /// outside of the fusion, with the shape and layout of `value`.
  bool isResult(Value y) const {
    return !isInside(y) && shapeOf(y) == shapeOf(value) && typeOf(y).getElementType().isF32() &&
           layoutOf(y.getType()) == layoutOf(value.getType());
  }

  bool is(EpilogueBinary gradient, Value y, std::initializer_list<Operation *> ops) {
    if (!isResult(y))
      return false;
    EpilogueOp epilogueOp;
    epilogueOp.kind = EpilogueOp::Kind::Binary;
    epilogueOp.binary = gradient;
    epilogueOp.operand = y;
    step.epilogueOps = {epilogueOp};
    step.ops.assign(ops);
    step.result = (*std::prev(ops.end()))->getResult(0);
    return true;
  }

  /// Matches the gradients of logistic, value * (y * (1 - y)), and of tanh, value * (1 - y * y),
  /// with y the result of the activation.
  bool matchFactor(MulOp mul) {
    Value factor = mul.getA() == value ? mul.getB() : mul.getA();
    if (auto product = factor.getDefiningOp<MulOp>())
      for (int i : {0, 1}) {
        Value y = product->getOperand(1 - i);
        auto rest = product->getOperand(i).getDefiningOp<SubOp>();
        if (rest && isSplatWithValue(rest.getA(), 1) && rest.getB() == y)
          return is(EpilogueBinary::LogisticGradient, y, {rest, product, mul});
      }
    if (auto rest = factor.getDefiningOp<SubOp>(); rest && isSplatWithValue(rest.getA(), 1))
      if (auto square = rest.getB().getDefiningOp<MulOp>();
          square && square.getA() == square.getB())
        return is(EpilogueBinary::TanhGradient, square.getA(), {square, rest, mul});
    return false;
  }

  /// Matches the gradient of ReLU, select(y > 0, value, 0), with y the result of the ReLU.
  bool matchChoice(SelectOp select) {
    auto compare = select.getCondition().getDefiningOp<CompareOp>();
    return compare && select.getA() == value && isSplatWithValue(select.getB(), 0) &&
           compare.getPredicate() == Predicate::gt && isSplatWithValue(compare.getB(), 0) &&
           is(EpilogueBinary::ReluGradient, compare.getA(), {compare, select});
  }
};

} // namespace

std::optional<EpilogueMatch> matchGradient(Value value, OpFilter inside) {
  if (!typeOf(value).getElementType().isF32())
    return std::nullopt;
  for (Operation *user : value.getUsers()) {
    GradientMatcher matcher{value, inside, {}};
    auto mul = dyn_cast<MulOp>(user);
    auto select = dyn_cast<SelectOp>(user);
    if (((mul && matcher.matchFactor(mul)) || (select && matcher.matchChoice(select))) &&
        shapeOf(matcher.step.result) == shapeOf(value) && llvm::all_of(matcher.step.ops, inside) &&
        hasNoOtherUsers(value, matcher.step))
      return matcher.step;
  }
  return std::nullopt;
}

} // namespace dlc
