//===- EmitShape.cpp - concat, pad, iota, constants and gathers at an index ===//
#include "codegen/cpu/Emitter.h"

using namespace mlir;

namespace dlc::cpu {

Value Emitter::constantElement(ConstantOp op, const Indices &at, int64_t lanes) {
  Type element = getElementTypeOrSelf(op.getY().getType());
  Type compute = computeType(element);
  auto tensor = ref::Tensor::fromAttr(op.getValue());
  assert(succeeded(tensor) && "constants in fusions are small and dense");
  auto attrAt = [&](int64_t i) -> TypedAttr {
    if (isa<FloatType>(compute))
      return b.getFloatAttr(compute, tensor->getDouble(i));
    return b.getIntegerAttr(compute, tensor->getInt(i));
  };
  auto constantOf = [&](int64_t i) -> Value {
    return arith::ConstantOp::create(b, loc, attrAt(i));
  };
  if (tensor->size() == 1 || op.getValue().isSplat())
    return constantOf(0);
  // Small tables become a vector constant from which the element is taken.
  SmallVector<Attribute> all;
  for (int64_t i = 0; i < tensor->size(); ++i)
    all.push_back(attrAt(i));
  Value table = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({tensor->size()}, compute), all));
  Index offset = linear(cast<RankedTensorType>(op.getType()).getShape(), at, lanes);
  if (offset.isUniform())
    return vector::ExtractOp::create(
        b, loc, table,
        OpFoldResult(
            arith::IndexCastOp::create(b, loc, b.getIndexType(), offset.base).getResult()));
  Value which = asVector(offset, lanes);
  Value result =
      arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(withLanes(compute, lanes))));
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value i = vector::ExtractOp::create(b, loc, which, lane);
    Value x = vector::ExtractOp::create(
        b, loc, table,
        OpFoldResult(arith::IndexCastOp::create(b, loc, b.getIndexType(), i).getResult()));
    result = vector::InsertOp::create(b, loc, x, result, lane);
  }
  return result;
}

Value Emitter::iota(IotaOp op, const Indices &at, int64_t lanes) {
  Type element = getElementTypeOrSelf(op.getY().getType());
  const Index &x = at[op.getAxis()];
  Value i = x.isUniform() ? x.base : asVector(x, lanes);
  return castElement(b, loc, i, b.getI64Type(), element);
}

/// A place along the lanes compared with one value for all of them: with the distance to the first
/// lane, in half as many registers.
Value Emitter::comparePlaces(CompareOp op, const Indices &at, int64_t lanes) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (lanes == 0 || !type.getElementType().isSignlessInteger(64))
    return {};
  for (int side : {0, 1}) {
    Value places = op->getOperand(side), other = op->getOperand(1 - side);
    Indices place = broadcastIndex(cast<RankedTensorType>(places.getType()), at);
    while (Operation *moving = buffers.count(places) ? nullptr : places.getDefiningOp()) {
      auto moved = movedIndex(moving, place, lanes);
      if (!moved)
        break;
      place = std::move(*moved), places = moving->getOperand(0);
    }
    auto iota = buffers.count(places) ? IotaOp() : places.getDefiningOp<IotaOp>();
    if (!iota)
      continue;
    const Index &x = place[iota.getAxis()];
    int64_t size = cast<RankedTensorType>(iota.getType()).getDimSize(iota.getAxis());
    if (x.vec || x.step == 0 || size > std::numeric_limits<int32_t>::max() / 2)
      continue;
    Value against = eval(other, broadcastIndex(cast<RankedTensorType>(other.getType()), at), lanes);
    if (isa<VectorType>(against.getType()))
      return {};
    // What lies outside of all places compares as the nearest one outside does.
    against = binary("max", binary("min", against, i64(size)), i64(-1));
    Value distance =
        arith::TruncIOp::create(b, loc, b.getI32Type(), binary("sub", against, x.base));
    SmallVector<int32_t> steps;
    for (int64_t lane = 0; lane < lanes; ++lane)
      steps.push_back(int32_t(lane * x.step));
    Value operands[2];
    operands[side] = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(VectorType::get({lanes}, b.getI32Type()), ArrayRef<int32_t>(steps)));
    operands[1 - side] = splat(distance, lanes);
    return emitElement(*this, op, operands);
  }
  return {};
}

Value Emitter::concat(ConcatOp op, const Indices &at, int64_t lanes) {
  int64_t axis = op.getAxis();
  const Index &x = at[axis];
  Type element = computeType(getElementTypeOrSelf(op.getY().getType()));
  if (x.isUniform()) {
    // A chain of branches: only the operand that holds the element is read.
    std::function<Value(size_t, int64_t)> pick = [&](size_t i, int64_t start) -> Value {
      auto operand = op.getXs()[i];
      int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(axis);
      Indices inner = at;
      inner[axis] = affine(x, 1, -start);
      if (i + 1 == op.getXs().size())
        return splat(eval(operand, inner, lanes), lanes);
      Value here = binary("sub", i64(start + size), x.base);
      here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, here, i64(0));
      auto branch = scf::IfOp::create(b, loc, TypeRange{withLanes(element, lanes)}, here, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      pushScope();
      inner[axis] = affine(x, 1, -start);
      scf::YieldOp::create(b, loc, splat(eval(operand, inner, lanes), lanes));
      popScope();
      b.setInsertionPointToStart(branch.elseBlock());
      pushScope();
      scf::YieldOp::create(b, loc, pick(i + 1, start + size));
      popScope();
      return branch.getResult(0);
    };
    return pick(0, 0);
  }
  Value which = asVector(x, lanes);
  Value result;
  int64_t start = 0;
  for (Value operand : op.getXs()) {
    int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(axis);
    if (size == 0)
      continue;
    Indices inner = at;
    inner[axis] = clampWithin(affine(x, 1, -start), size, lanes, nullptr);
    Value v = splat(eval(operand, inner, lanes), lanes);
    if (result) {
      Value here =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, which, splat(i64(start), lanes));
      v = arith::SelectOp::create(b, loc, here, v, result);
    }
    result = v;
    start += size;
  }
  return result;
}

Value Emitter::pad(PadOp op, const Indices &at, int64_t lanes) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  Indices from;
  Value inside;
  for (auto [d, x] : llvm::enumerate(at)) {
    int64_t size = type.getDimSize(d), low = op.getLow()[d], high = op.getHigh()[d];
    Index shifted = affine(x, 1, -low);
    if (low <= 0 && high <= 0) {
      from.push_back(shifted);
      continue;
    }
    auto onBoth = [&](auto f) -> Index {
      if (shifted.isUniform())
        return {f(shifted.base), 0, nullptr, false};
      return {nullptr, 0, f(asVector(shifted, lanes)), false};
    };
    switch (op.getMode()) {
    case PadMode::constant: {
      Value here;
      from.push_back(clampWithin(shifted, size, lanes, &here));
      if (!inside) {
        inside = here;
      } else {
        int64_t n =
            isa<VectorType>(inside.getType()) || isa<VectorType>(here.getType()) ? lanes : 0;
        inside = arith::AndIOp::create(b, loc, splat(inside, n), splat(here, n));
      }
      break;
    }
    case PadMode::edge:
      from.push_back(clampWithin(shifted, size, lanes, nullptr));
      break;
    case PadMode::wrap:
      // Enough whole periods are added for the remainder of a non-negative number.
      from.push_back(onBoth([&](Value v) {
        int64_t periods = (std::max<int64_t>(low, 0) + size - 1) / size;
        return binary("rem", binary("add", v, i64(periods * size)), i64(size));
      }));
      break;
    case PadMode::reflect:
      // Positions repeat with period 2 (size - 1): fold into one period, then mirror its second
      // half.
      if (size == 1) {
        from.push_back(constant(0));
        break;
      }
      from.push_back(onBoth([&](Value v) {
        int64_t period = 2 * (size - 1);
        int64_t periods = (std::max<int64_t>(low, 0) + period - 1) / period;
        Value m = binary("rem", binary("add", v, i64(periods * period)), i64(period));
        Value mirrored = binary("sub", i64(period), m);
        return binary("min", m, mirrored);
      }));
      break;
    }
  }
  bool empty = llvm::is_contained(type.getShape(), 0);
  Value padding = eval(op.getValue(), {}, 0);
  if (empty)
    return padding;
  Value x = eval(op.getX(), from, lanes);
  if (!inside)
    return x;
  int64_t n = isa<VectorType>(x.getType()) || isa<VectorType>(inside.getType()) ? lanes : 0;
  return arith::SelectOp::create(b, loc, splat(inside, isa<VectorType>(inside.getType()) ? n : 0),
                                 splat(x, n), splat(padding, n));
}

/// An index element as a coordinate: negative ones count from the end, and the range is enforced.
static Index coordinate(Emitter &e, Value element, int64_t size) {
  Value wide = element;
  Type i64 = e.b.getI64Type();
  if (!getElementTypeOrSelf(wide.getType()).isInteger(64)) {
    auto vector = dyn_cast<VectorType>(wide.getType());
    Type type = vector ? Type(VectorType::get(vector.getShape(), i64)) : i64;
    wide = arith::ExtSIOp::create(e.b, e.loc, type, wide);
  }
  int64_t lanes =
      isa<VectorType>(wide.getType()) ? cast<VectorType>(wide.getType()).getNumElements() : 0;
  Value zero = e.splat(e.i64(0), lanes);
  Value negative = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, wide, zero);
  Value wrapped =
      arith::SelectOp::create(e.b, e.loc, negative, e.binary("add", wide, e.i64(size)), wide);
  Value bounded = e.binary("max", e.binary("min", wrapped, e.i64(size - 1)), e.i64(0));
  if (lanes)
    return {nullptr, 0, bounded, false};
  return {bounded, 0, nullptr, false};
}

Value Emitter::gather(Operation *op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  Value indices = op->getOperand(1);
  int64_t indexRank = cast<RankedTensorType>(indices.getType()).getRank();
  Indices from;
  if (auto o = dyn_cast<GatherOp>(op)) {
    int64_t axis = o.getAxis();
    Indices inner(at.begin() + axis, at.begin() + axis + indexRank);
    Index where = coordinate(*this, eval(indices, inner, lanes), x.getDimSize(axis));
    from.append(at.begin(), at.begin() + axis);
    from.push_back(where);
    from.append(at.begin() + axis + indexRank, at.end());
  } else if (auto o = dyn_cast<GatherElementsOp>(op)) {
    from = at;
    from[o.getAxis()] = coordinate(*this, eval(indices, at, lanes), x.getDimSize(o.getAxis()));
  } else {
    auto nd = cast<GatherNdOp>(op);
    int64_t batch = nd.getBatchDims();
    int64_t tuple = cast<RankedTensorType>(indices.getType()).getDimSize(indexRank - 1);
    Indices inner(at.begin(), at.begin() + indexRank - 1);
    inner.push_back(constant(0));
    from.append(at.begin(), at.begin() + batch);
    for (int64_t i = 0; i < tuple; ++i) {
      inner.back() = constant(i);
      from.push_back(coordinate(*this, eval(indices, inner, lanes), x.getDimSize(batch + i)));
    }
    from.append(at.begin() + indexRank - 1, at.end());
  }
  return eval(op->getOperand(0), from, lanes);
}

} // namespace dlc::cpu
