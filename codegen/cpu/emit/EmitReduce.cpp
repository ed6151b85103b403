//===- EmitReduce.cpp - emits reductions, contractions and windows as their own loops ---===//
#include "codegen/cpu/emit/IndexLowering.h"
#include "ir/dlc/Contraction.h"
#include "passes/Rounding.h"

using namespace mlir;

namespace dlc::cpu {

static Value divideByCount(Emitter &e, Value total, Type element, Value count) {
  if (isa<FloatType>(element))
    return arith::DivFOp::create(e.b, e.loc, total, count);
  return arith::DivSIOp::create(e.b, e.loc, total, count);
}

static Value emitElementConstant(Emitter &e, Type like, double value) {
  Type element = getElementTypeOrSelf(like);
  TypedAttr attr = isa<FloatType>(element) ? TypedAttr(e.b.getFloatAttr(element, value))
                                           : TypedAttr(e.b.getIntegerAttr(element, int64_t(value)));
  if (auto vector = dyn_cast<VectorType>(like))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(e.b, e.loc, attr);
}

Value Emitter::finishReduce(ReduceOp op, Value total) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  Type element = x.getElementType(), sums = getElementTypeOrSelf(total.getType());
  int64_t count = 1;
  for (int64_t axis : op.getAxes())
    count *= x.getDimSize(axis);
  if (op.getKind() == ReduceKind::mean)
    total = divideByCount(*this, total, sums,
                          emitElementConstant(*this, total.getType(), double(count)));
  if (isSixteenBitFloat(element))
    return rounded(op.getY(), castElement(b, loc, total, sums, getComputeType(element)));
  return castElement(b, loc, total, sums, element);
}

/// Returns whether the reduction is a mean of integers. Its accumulator has 64 bits, because an
/// accumulator of the element type would wrap.
static bool usesWideAccumulator(ReduceOp op) {
  return op.getKind() == ReduceKind::mean &&
         !isa<FloatType>(cast<RankedTensorType>(op.getX().getType()).getElementType());
}

/// Collects the reductions in the fusion that `value` depends on.
static void collectReductions(Value value, llvm::SmallPtrSetImpl<Operation *> &found,
                              llvm::DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value).second)
    return;
  if (isa<ReduceOp>(op))
    found.insert(op);
  for (Value operand : op->getOperands())
    collectReductions(operand, found, seen);
}

static llvm::SmallPtrSet<Operation *, 4> findNestedReductions(ReduceOp op) {
  llvm::SmallPtrSet<Operation *, 4> found;
  llvm::DenseSet<Value> seen;
  collectReductions(op.getX(), found, seen);
  return found;
}

SmallVector<ReduceOp> Emitter::reducedTogether(ReduceOp op, const Indices &at, int64_t lanes) {
  SmallVector<ReduceOp> together{op};
  if (usesWideAccumulator(op))
    return together;
  auto shape = cast<RankedTensorType>(op.getX().getType()).getShape();
  auto own = findNestedReductions(op);
  for (auto other : op->getBlock()->getOps<ReduceOp>()) {
    if (other == op || usesWideAccumulator(other) || other.getAxes() != op.getAxes() ||
        other.getKeepdims() != op.getKeepdims() ||
        cast<RankedTensorType>(other.getX().getType()).getShape() != shape ||
        known(keyOf(other.getY(), at, lanes)))
      continue;
    // `other` may be computed in the same loop only if all reductions that it depends on are also
    // needed for `op`.
    if (llvm::all_of(findNestedReductions(other),
                     [&](Operation *below) { return own.contains(below); }))
      together.push_back(other);
  }
  return together;
}

Value Emitter::reduce(ReduceOp op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  ArrayRef<int64_t> axes = op.getAxes();
  SmallVector<int64_t> extents = op.foldedExtents();
  auto indexOf = [&](ArrayRef<LaneIndex> where, int64_t n) {
    IndexLowering lowering(*this, n);
    return lowering.lower(lowering.readsOf(op, at, where).front(), x.getShape());
  };
  // Reductions that the operand of this reduction depends on are computed before its loop.
  hoist(op.getX(),
        indexOf(SmallVector<LaneIndex>(axes.size(), LaneIndex{nullptr, 0, nullptr, true}), lanes));
  SmallVector<ReduceOp> together = reducedTogether(op, at, lanes);
  SmallVector<LoopReduction> folds;
  llvm::SmallSetVector<Value, 4> fills;
  for (ReduceOp each : together) {
    Type element = cast<RankedTensorType>(each.getX().getType()).getElementType();
    folds.push_back({each.getKind(), usesWideAccumulator(each) ? b.getI64Type() : element});
    KeptRow row = rows.lookup(each.getX());
    if (row.pointer && !row.filled && lanes == 0 && axes.size() == 1 && axes[0] == x.getRank() - 1)
      fills.insert(each.getX());
  }
  auto totals = fold(folds, extents, lanes, [&](ArrayRef<LaneIndex> where, int64_t n) {
    Indices from = indexOf(where, n);
    SmallVector<Value> terms;
    for (ReduceOp each : together) {
      Value v = eval(each.getX(), from, n);
      if (fills.contains(each.getX()) && llvm::find_if(together, [&](ReduceOp first) {
                                           return first.getX() == each.getX();
                                         })[0] == each) {
        Type type = getComputeType(cast<RankedTensorType>(each.getX().getType()).getElementType());
        Value pointer = rows[each.getX()].pointer;
        Value p = LLVM::GEPOp::create(b, loc, pointer.getType(), type, pointer,
                                      ValueRange{from.back().base});
        LLVM::StoreOp::create(b, loc, splat(v, n), p, type.getIntOrFloatBitWidth() / 8);
      }
      terms.push_back(usesWideAccumulator(each)
                          ? castElement(b, loc, v, x.getElementType(), b.getI64Type())
                          : v);
    }
    return terms;
  });
  for (Value filled : fills)
    rows[filled].filled = true;
  for (auto [each, total] : llvm::zip(together, totals))
    scopes.back()[keyOf(each.getY(), at, lanes)] = finishReduce(each, total);
  return scopes.back()[keyOf(op.getY(), at, lanes)];
}

/// Returns x and y as they are, or both as vectors of `lanes` if one of them is a vector.
static std::pair<Value, Value> splatToSameLanes(Emitter &e, Value x, Value y, int64_t lanes) {
  int64_t n = isa<VectorType>(x.getType()) || isa<VectorType>(y.getType()) ? lanes : 0;
  return {e.splat(x, n), e.splat(y, n)};
}

static Value emitMultiply(Emitter &e, Value x, Value y, int64_t lanes) {
  std::tie(x, y) = splatToSameLanes(e, x, y, lanes);
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::MulFOp::create(e.b, e.loc, x, y);
  return arith::MulIOp::create(e.b, e.loc, x, y);
}

Value Emitter::windowed(Value x, IndexLowering &lowering, const OperandRead &read, Value other,
                        int64_t lanes, Operation *integers) {
  Value inside = lowering.inside(read.guards);
  if (!integers && inside && isa<VectorType>(inside.getType()))
    if (Value loaded = loadInside(x, lowering.lower(read), inside, other, lanes))
      return loaded;
  Indices from = lowering.lower(read, cast<RankedTensorType>(x.getType()).getShape());
  Value here = eval(x, from, lanes);
  if (integers)
    here = factor(integers, 0, here, from, lanes);
  if (!inside)
    return here;
  int64_t n = isa<VectorType>(here.getType()) || isa<VectorType>(inside.getType()) ? lanes : 0;
  return arith::SelectOp::create(b, loc, inside, splat(here, n), splat(other, n));
}

Value Emitter::factor(Operation *op, unsigned operand, Value element, const Indices &at,
                      int64_t lanes) {
  if (!isIntegerContraction(op))
    return element;
  auto typeOf = [](Value v) { return cast<RankedTensorType>(v.getType()); };
  Type sum = typeOf(op->getResult(0)).getElementType();
  element = castElement(b, loc, element, typeOf(op->getOperand(operand)).getElementType(), sum);
  Value zero = zeroPointOf(op, operand);
  if (!zero)
    return element;
  // The zero points of a convolution's weights are per output channel: they are indexed by the
  // first dimension of the weights.
  ArrayRef<int64_t> shape = typeOf(zero).getShape();
  const size_t first = isa<ConvOp>(op) ? 0 : at.size() - shape.size();
  Indices index(shape.size(), constant(0));
  for (auto [d, size] : llvm::enumerate(shape))
    if (size != 1)
      index[d] = at[first + d];
  Value subtracted =
      castElement(b, loc, eval(zero, index, lanes), typeOf(zero).getElementType(), sum);
  auto [left, right] = splatToSameLanes(*this, element, subtracted, lanes);
  return arith::SubIOp::create(b, loc, left, right);
}

Value Emitter::contraction(Operation *op, const Indices &at, int64_t lanes) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto tx = cast<RankedTensorType>(x.getType()), ty = cast<RankedTensorType>(y.getType());
  const bool isInteger = isIntegerContraction(op);
  Type sum = isInteger ? Type(b.getI32Type()) : tx.getElementType();
  SmallVector<int64_t> extents = foldedExtents(op);
  size_t terms = extents.size();
  // The innermost dimension of size 1 keeps the window coordinates scalar. A vector of several
  // window elements would read beyond the row.
  if (terms > 1)
    extents.push_back(1);
  auto conv = dyn_cast<ConvOp>(op);
  Value total = conv ? convAlongRow(conv, at, lanes) : Value();
  if (!total)
    total = fold(ReduceKind::sum, sum, extents, lanes,
                 [&](ArrayRef<LaneIndex> where, int64_t n) -> Value {
                   IndexLowering lowering(*this, n);
                   auto reads = lowering.readsOf(op, at, where.take_front(terms));
                   Value zero = emitElementConstant(*this, getComputeType(sum), 0);
                   Value a = windowed(x, lowering, reads[0], zero, n, isInteger ? op : nullptr);
                   Indices from = lowering.lower(reads[1], ty.getShape());
                   return emitMultiply(*this, a, factor(op, 1, eval(y, from, n), from, n), n);
                 });
  if (!biasOf(op))
    return total;
  // Adds the bias of a convolution, which is indexed by the output channel.
  auto [sums, bias] = splatToSameLanes(*this, total, eval(biasOf(op), {at[1]}, lanes), lanes);
  return combine(ReduceKind::sum, sum, sums, bias);
}

} // namespace dlc::cpu
