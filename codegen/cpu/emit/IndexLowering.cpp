//===- IndexLowering.cpp - lowers index maps to instructions --------------===//
#include "codegen/cpu/emit/IndexLowering.h"

using namespace mlir;

namespace dlc::cpu {

static ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

IndexExpr IndexLowering::variable(const LaneIndex &value, int64_t size) {
  IndexExpr result =
      x.variable("i" + std::to_string(known.size()), 0, std::max<int64_t>(size - 1, 0));
  if (!result.isConstant())
    known[result.terms[0].first] = value;
  return result;
}

Coordinates IndexLowering::variables(ArrayRef<int64_t> shape, ArrayRef<LaneIndex> values) {
  Coordinates result;
  for (auto [size, value] : llvm::zip(shape, values))
    result.push_back(variable(value, size));
  return result;
}

SmallVector<OperandRead, 2> IndexLowering::readsOf(Operation *op, const Indices &at,
                                                   ArrayRef<LaneIndex> over) {
  auto load = [&](Value indices, const Coordinates &where, int64_t size) {
    return this->load(indices, where, size);
  };
  Coordinates result = variables(shapeOf(op->getResult(0)), at);
  return dlc::readsOf(op, x, result, variables(foldedExtents(op), over), load);
}

std::optional<Indices> IndexLowering::getSourceIndex(Operation *op, const Indices &at) {
  auto moved = dlc::getSourceIndex(op, x, variables(shapeOf(op->getResult(0)), at));
  if (!moved)
    return std::nullopt;
  return lower({0, *moved, {}}, shapeOf(op->getOperand(0)));
}

/// Returns an element of an index tensor as a coordinate of a dimension of `size` elements.
/// Negative indices count from the end. The result is clamped to the dimension.
IndexExpr IndexLowering::load(Value indices, const Coordinates &at, int64_t size) {
  Value wide = e.eval(indices, lower({0, at, {}}, shapeOf(indices)), lanes);
  Type i64 = e.b.getI64Type();
  auto vector = dyn_cast<VectorType>(wide.getType());
  if (!getElementTypeOrSelf(wide.getType()).isInteger(64)) {
    Type type = vector ? Type(VectorType::get(vector.getShape(), i64)) : i64;
    wide = arith::ExtSIOp::create(e.b, e.loc, type, wide);
  }
  Value zero = e.splat(e.i64(0), vector ? vector.getNumElements() : 0);
  Value negative = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, wide, zero);
  Value wrapped =
      arith::SelectOp::create(e.b, e.loc, negative, e.binary("add", wide, e.i64(size)), wide);
  Value bounded = e.binary("max", e.binary("min", wrapped, e.i64(size - 1)), e.i64(0));
  return variable(
      vector ? LaneIndex{nullptr, 0, bounded, false} : LaneIndex{bounded, 0, nullptr, false}, size);
}

/// Returns whether the value, which must not be negative, is provably a multiple of `by`.
static bool isMultipleOf(Value value, int64_t by) {
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return known.getSExtValue() % by == 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && isMultipleOf(loop.getLowerBound(), by) &&
           isMultipleOf(loop.getStep(), by);
  }
  Operation *op = value.getDefiningOp();
  auto isMultiple = [&](Value operand) { return isMultipleOf(operand, by); };
  return (isa<arith::MulIOp>(op) && llvm::any_of(op->getOperands(), isMultiple)) ||
         (isa<arith::AddIOp, arith::SubIOp>(op) && llvm::all_of(op->getOperands(), isMultiple));
}

LaneIndex IndexLowering::binary(StringRef kind, const LaneIndex &a, const LaneIndex &b) {
  const bool uniform = a.isUniform() && b.isUniform();
  // If `lanes` is 0, only scalars can be emitted, so that a value that differs between lanes is
  // unknown.
  if (a.unknown || b.unknown || (!uniform && lanes == 0))
    return {nullptr, 0, nullptr, true};
  if (uniform)
    return {e.binary(kind, a.base, b.base), 0, nullptr, false};
  LaneIndex result{nullptr, 0, e.binary(kind, e.asVector(a, lanes), e.asVector(b, lanes)), false};
  APInt by;
  bool isRemainder = kind == "rem";
  if ((isRemainder || kind == "div") && !a.vec && a.step == 1 && b.isUniform() &&
      matchPattern(b.base, m_ConstantInt(&by))) {
    int64_t size = by.getSExtValue();
    // The quotient is the same in all lanes, or in each run of `size` lanes, if these lanes do not
    // cross a multiple of `size`.
    if (size % lanes == 0 && isMultipleOf(a.base, lanes))
      return {e.binary(kind, a.base, b.base), isRemainder, nullptr, false};
    if (size > 1 && lanes % size == 0 && isMultipleOf(a.base, size))
      result.runs = {a.base, size, isRemainder};
  }
  return result;
}

LaneIndex IndexLowering::lower(const IndexAtom *atom) {
  if (auto found = known.find(atom); found != known.end())
    return found->second;
  StringRef kind = atom->kind == IndexAtom::Quotient    ? "div"
                   : atom->kind == IndexAtom::Remainder ? "rem"
                   : atom->kind == IndexAtom::Least     ? "min"
                                                        : "max";
  LaneIndex inner = lower(atom->inner);
  return known[atom] = binary(kind, inner, lower(atom->other));
}

LaneIndex IndexLowering::lower(const IndexExpr &expression) {
  std::optional<LaneIndex> sum;
  for (auto [atom, coefficient] : expression.terms) {
    LaneIndex term = e.affine(lower(atom), coefficient, 0);
    sum = sum ? e.add(*sum, term, lanes) : term;
  }
  return sum ? e.affine(*sum, 1, expression.constant) : e.constant(expression.constant);
}

Indices IndexLowering::lower(const OperandRead &read) {
  Indices result;
  for (const IndexExpr &place : read.at)
    result.push_back(lower(place));
  return result;
}

Indices IndexLowering::lower(const OperandRead &read, ArrayRef<int64_t> shape, bool isElse) {
  Indices result;
  for (auto [place, size] : llvm::zip(read.at, shape)) {
    LaneIndex index = lower(place);
    // Whether the index is a quotient whose dividend a guard checks. The dividend may be negative,
    // so that the computed range of the quotient is not reliable and the index must be clamped.
    bool divided = llvm::any_of(read.guards, [&, at = place](const IndexGuard &guard) {
      return guard.by > 1 && at == x.divide(guard.place, guard.by);
    });
    bool sure = (read.guards.empty() && !isElse) || (place.isWithin(size) && !divided);
    result.push_back(
        sure ? index : binary("max", binary("min", index, e.constant(size - 1)), e.constant(0)));
  }
  return result;
}

Value IndexLowering::inside(ArrayRef<IndexGuard> guards) {
  Value all;
  auto add = [&](arith::CmpIPredicate predicate, const LaneIndex &a, const LaneIndex &b) {
    bool uniform = a.isUniform() && b.isUniform();
    auto side = [&](const LaneIndex &i) { return uniform ? i.base : e.asVector(i, lanes); };
    Value holds = e.b.createOrFold<arith::CmpIOp>(e.loc, predicate, side(a), side(b));
    int64_t n =
        isa<VectorType>(holds.getType()) || (all && isa<VectorType>(all.getType())) ? lanes : 0;
    all =
        all ? Value(arith::AndIOp::create(e.b, e.loc, e.splat(all, n), e.splat(holds, n))) : holds;
  };
  // Comparisons of 32-bit integers need half as many registers as those of i64.
  constexpr int64_t most = 1 << 30;
  auto isNarrow = [&](const IndexGuard &guard, const LaneIndex &place) {
    return guard.by == 1 && !place.vec && place.step != 0 && guard.place.low() > -most &&
           guard.place.high() < most && guard.size < most;
  };
  for (const IndexGuard &guard : guards) {
    LaneIndex place = lower(guard.place), whole = place;
    if (isNarrow(guard, place)) {
      auto narrow = [&](Value i) {
        return e.splat(arith::TruncIOp::create(e.b, e.loc, e.b.getI32Type(), i), lanes);
      };
      Value at = e.binary("add", narrow(place.base), e.distances(place.step, lanes));
      add(arith::CmpIPredicate::ult, {nullptr, 0, at, false},
          {nullptr, 0, narrow(e.i64(guard.size)), false});
      continue;
    }
    if (guard.by > 1) {
      whole = binary("div", place, e.constant(guard.by));
      add(arith::CmpIPredicate::eq, e.affine(whole, guard.by, 0), place);
    }
    // One unsigned comparison checks both bounds, because a negative index is a large unsigned
    // number.
    add(arith::CmpIPredicate::ult, whole, e.constant(guard.size));
  }
  return all;
}

} // namespace dlc::cpu
