//===- MatchFormula.cpp - matches operations as the formula of an activation --===//
#include "passes/fuse/epilogue/MatchFormula.h"

#include "passes/TensorBuilder.h"

#include <functional>
#include <vector>

using namespace mlir;

namespace dlc {
namespace {

/// State of a match: the operand of the activation, and the operations matched so far.
struct MatchState {
  Value x;
  SmallVector<Operation *, 6> ops;
};

/// Pattern for a subexpression of an activation's formula. It matches a value that is computed by
/// the operations of the subexpression.
struct Term {
  std::function<bool(Value, MatchState &)> matches;

  /// Creates a pattern that matches a splat constant with the value `constant`.
  Term(double constant)
      : matches([=](Value value, MatchState &) { return isSplatWithValue(value, constant); }) {}
  explicit Term(std::function<bool(Value, MatchState &)> matches) : matches(std::move(matches)) {}
};

/// Adds a matched operation to the state. Returns false if the operation broadcasts the operand of
/// the activation.
bool addOp(Operation *op, MatchState &state) {
  if (!llvm::is_contained(state.ops, op))
    state.ops.push_back(op);
  return shapeOf(op->getResult(0)) == shapeOf(state.x);
}

template <typename Op> Term unary(Term operand, std::function<bool(Op)> accepts = nullptr) {
  return Term([=](Value value, MatchState &state) {
    auto op = value.getDefiningOp<Op>();
    return op && (!accepts || accepts(op)) && operand.matches(op->getOperand(0), state) &&
           addOp(op, state);
  });
}

template <typename Op> Term binary(Term a, Term b) {
  return Term([=](Value value, MatchState &state) {
    auto op = value.getDefiningOp<Op>();
    if (!op)
      return false;
    auto matchesInOrder = [&](unsigned first) {
      size_t before = state.ops.size();
      if (a.matches(op->getOperand(first), state) && b.matches(op->getOperand(1 - first), state))
        return true;
      state.ops.truncate(before);
      return false;
    };
    return (matchesInOrder(0) ||
            (op->template hasTrait<OpTrait::IsCommutative>() && matchesInOrder(1))) &&
           addOp(op, state);
  });
}

Term operator+(Term a, Term b) { return binary<AddOp>(a, b); }
Term operator*(Term a, Term b) { return binary<MulOp>(a, b); }
Term operator/(Term a, Term b) { return binary<DivOp>(a, b); }

/// Math functions that the formulas of activations call. Instead of computing a number, they return
/// a pattern that matches the corresponding operation.
struct FormulaMath {
  static Term abs(Term x) { return unary<AbsOp>(x); }
  static Term sqrt(Term x) { return unary<SqrtOp>(x); }
  static Term exp(Term x) { return unary<ExpOp>(x); }
  static Term logistic(Term x) { return unary<SigmoidOp>(x); }
  static Term tanh(Term x) { return unary<TanhOp>(x); }
  static Term geluErf(Term x) {
    return unary<GeluOp>(x, [](GeluOp op) { return !op.getApproximate(); });
  }
  static Term geluTanh(Term x) {
    return unary<GeluOp>(x, [](GeluOp op) { return op.getApproximate(); });
  }
};

struct Row {
  Activation activation;
  bool exact;
  Term formula;
};

const std::vector<Row> &rows() {
  static const auto *all = [] {
    using M = FormulaMath;
    const Term x([](Value value, MatchState &state) { return value == state.x; });
    return new std::vector<Row>{
#define ACTIVATION(enumerator, name, exact, preservesZero, formula, ...)                           \
  {Activation::enumerator, exact, formula},
#include "runtime/epilogue/EpilogueOps.def"
    };
  }();
  return *all;
}

} // namespace

std::optional<FormulaMatch> matchFormula(Operation *last, Value x, bool exact) {
  if (last->getNumResults() != 1)
    return std::nullopt;
  for (const Row &row : rows()) {
    MatchState state{x, {}};
    if ((row.exact || !exact) && row.formula.matches(last->getResult(0), state))
      return FormulaMatch{row.activation, std::move(state.ops)};
  }
  return std::nullopt;
}

} // namespace dlc
