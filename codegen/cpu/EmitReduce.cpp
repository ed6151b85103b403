//===- EmitReduce.cpp - reductions, products and windows as loops of their own ===//
#include "codegen/cpu/Emitter.h"

using namespace mlir;

namespace dlc::cpu {

static Value divideByCount(Emitter &e, Value total, Type element, Value count) {
  if (isa<FloatType>(element))
    return arith::DivFOp::create(e.b, e.loc, total, count);
  return arith::DivSIOp::create(e.b, e.loc, total, count);
}

static Value elementConstant(Emitter &e, Type like, double value) {
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
    total =
        divideByCount(*this, total, sums, elementConstant(*this, total.getType(), double(count)));
  return castElement(b, loc, total, sums, element);
}

/// A mean of integers is taken of the true sum, which a narrow type would wrap.
static bool sumsWide(ReduceOp op) {
  return op.getKind() == ReduceKind::mean &&
         !isa<FloatType>(cast<RankedTensorType>(op.getX().getType()).getElementType());
}

/// The reductions that `value` is computed from.
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

static llvm::SmallPtrSet<Operation *, 4> reductionsBelow(ReduceOp op) {
  llvm::SmallPtrSet<Operation *, 4> found;
  llvm::DenseSet<Value> seen;
  collectReductions(op.getX(), found, seen);
  return found;
}

SmallVector<ReduceOp> Emitter::reducedTogether(ReduceOp op, const Indices &at, int64_t lanes) {
  SmallVector<ReduceOp> together{op};
  if (sumsWide(op))
    return together;
  auto shape = cast<RankedTensorType>(op.getX().getType()).getShape();
  auto own = reductionsBelow(op);
  for (auto other : op->getBlock()->getOps<ReduceOp>()) {
    if (other == op || sumsWide(other) || other.getAxes() != op.getAxes() ||
        other.getKeepdims() != op.getKeepdims() ||
        cast<RankedTensorType>(other.getX().getType()).getShape() != shape ||
        known(keyOf(other.getY(), at, lanes)))
      continue;
    // What it needs first has been computed for this one too.
    if (llvm::all_of(reductionsBelow(other), [&](Operation *below) { return own.contains(below); }))
      together.push_back(other);
  }
  return together;
}

Value Emitter::reduce(ReduceOp op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  ArrayRef<int64_t> axes = op.getAxes();
  SmallVector<int64_t> extents;
  for (int64_t axis : axes)
    extents.push_back(x.getDimSize(axis));
  auto indexOf = [&](ArrayRef<Index> reducedAt) {
    Indices from;
    size_t kept = 0, reduced = 0;
    for (int64_t d = 0; d < x.getRank(); ++d) {
      if (reduced < axes.size() && axes[reduced] == d) {
        from.push_back(reducedAt[reduced++]);
        kept += op.getKeepdims();
      } else {
        from.push_back(at[kept++]);
      }
    }
    return from;
  };
  // Reductions below come first, not in the loop.
  hoist(op.getX(), indexOf(SmallVector<Index>(axes.size(), Index{nullptr, 0, nullptr, true})));
  SmallVector<ReduceOp> together = reducedTogether(op, at, lanes);
  SmallVector<Fold> folds;
  llvm::SmallSetVector<Value, 4> fills;
  for (ReduceOp each : together) {
    Type element = cast<RankedTensorType>(each.getX().getType()).getElementType();
    folds.push_back({each.getKind(), sumsWide(each) ? b.getI64Type() : element});
    KeptRow row = rows.lookup(each.getX());
    if (row.pointer && !row.filled && lanes == 0 && axes.size() == 1 && axes[0] == x.getRank() - 1)
      fills.insert(each.getX());
  }
  auto totals = fold(folds, extents, lanes, [&](ArrayRef<Index> where, int64_t n) {
    Indices from = indexOf(where);
    SmallVector<Value> terms;
    for (ReduceOp each : together) {
      Value v = eval(each.getX(), from, n);
      if (fills.contains(each.getX()) && llvm::find_if(together, [&](ReduceOp first) {
                                           return first.getX() == each.getX();
                                         })[0] == each) {
        Type type = computeType(cast<RankedTensorType>(each.getX().getType()).getElementType());
        Value pointer = rows[each.getX()].pointer;
        Value p = LLVM::GEPOp::create(b, loc, pointer.getType(), type, pointer,
                                      ValueRange{from.back().base});
        LLVM::StoreOp::create(b, loc, splat(v, n), p, type.getIntOrFloatBitWidth() / 8);
      }
      terms.push_back(sumsWide(each) ? castElement(b, loc, v, x.getElementType(), b.getI64Type())
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

/// Both as vectors if one of them is.
static std::pair<Value, Value> alike(Emitter &e, Value x, Value y, int64_t lanes) {
  int64_t n = isa<VectorType>(x.getType()) || isa<VectorType>(y.getType()) ? lanes : 0;
  return {e.splat(x, n), e.splat(y, n)};
}

static Value product(Emitter &e, Value x, Value y, int64_t lanes) {
  std::tie(x, y) = alike(e, x, y, lanes);
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::MulFOp::create(e.b, e.loc, x, y);
  return arith::MulIOp::create(e.b, e.loc, x, y);
}

Value Emitter::matmul(MatmulOp op, const Indices &at, int64_t lanes) {
  auto ta = cast<RankedTensorType>(op.getA().getType()),
       tb = cast<RankedTensorType>(op.getB().getType());
  int64_t ra = ta.getRank(), rb = tb.getRank();
  int64_t k = ta.getDimSize(op.getTransposeA() ? ra - 2 : ra - 1);
  auto operandIndex = [&](RankedTensorType type, bool transposed, Index row, Index column) {
    Indices batch(at.begin(), at.end() - 2);
    Indices from;
    int64_t skip = int64_t(batch.size()) - (type.getRank() - 2);
    for (int64_t d = 0; d + 2 < type.getRank(); ++d)
      from.push_back(type.getDimSize(d) == 1 ? constant(0) : batch[d + skip]);
    from.push_back(transposed ? column : row);
    from.push_back(transposed ? row : column);
    return from;
  };
  (void)rb;
  return fold(
      ReduceKind::sum, ta.getElementType(), {k}, lanes,
      [&](ArrayRef<Index> where, int64_t n) -> Value {
        Value x =
            eval(op.getA(), operandIndex(ta, op.getTransposeA(), at[at.size() - 2], where[0]), n);
        Value y = eval(op.getB(), operandIndex(tb, op.getTransposeB(), where[0], at.back()), n);
        return product(*this, x, y, n);
      });
}

/// `v` where the condition holds, else zero.
static Value orZero(Emitter &e, Value inside, Value v, int64_t lanes) {
  if (!inside)
    return v;
  int64_t n = isa<VectorType>(v.getType()) || isa<VectorType>(inside.getType()) ? lanes : 0;
  v = e.splat(v, n);
  Value zero = elementConstant(e, v.getType(), 0);
  return arith::SelectOp::create(e.b, e.loc, isa<VectorType>(inside.getType()) ? inside : inside, v,
                                 zero);
}

static Value both(Emitter &e, Value x, Value y, int64_t lanes) {
  if (!x || !y)
    return x ? x : y;
  int64_t n = isa<VectorType>(x.getType()) || isa<VectorType>(y.getType()) ? lanes : 0;
  return arith::AndIOp::create(e.b, e.loc, e.splat(x, n), e.splat(y, n));
}

/// A convolution's result: its sum and the bias of the channel, if there is one.
static Value withBias(Emitter &e, Value total, Value bias, Type element, const Indices &at,
                      int64_t lanes) {
  if (!bias)
    return total;
  auto [x, y] = alike(e, total, e.eval(bias, {at[1]}, lanes), lanes);
  return e.combine(ReduceKind::sum, element, x, y);
}

Value Emitter::conv(ConvOp op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op.getX().getType()),
       w = cast<RankedTensorType>(op.getW().getType());
  int64_t spatial = x.getRank() - 2, perGroup = w.getDimSize(0) / op.getGroups();
  SmallVector<int64_t> extents(w.getShape().drop_front(1));
  Index group = constant(0);
  if (op.getGroups() > 1) {
    if (at[1].isUniform())
      group = {binary("div", at[1].base, i64(perGroup)), 0, nullptr, false};
    else
      group = {nullptr, 0, binary("div", asVector(at[1], lanes), i64(perGroup)), false};
  }
  // Lanes along the window would read beyond the row: reduced coordinates stay scalar.
  extents.push_back(1);
  Value total = fold(
      ReduceKind::sum, x.getElementType(), extents, lanes,
      [&](ArrayRef<Index> where, int64_t n) -> Value {
        Indices xi{at[0], add(affine(group, w.getDimSize(1), 0), where[0], n)}, wi{at[1], where[0]};
        Value inside;
        for (int64_t d = 0; d < spatial; ++d) {
          Index p = add(affine(at[d + 2], op.getStrides()[d], -op.getLow()[d]),
                        affine(where[d + 1], op.getDilations()[d], 0), n);
          if (op.getLow()[d] > 0 || op.getHigh()[d] > 0) {
            Value here;
            p = clampWithin(p, x.getDimSize(d + 2), n, &here);
            inside = both(*this, inside, here, n);
          }
          xi.push_back(p);
          wi.push_back(where[d + 1]);
        }
        return product(*this, orZero(*this, inside, eval(op.getX(), xi, n), n),
                       eval(op.getW(), wi, n), n);
      });
  return withBias(*this, total, op.getBias(), x.getElementType(), at, lanes);
}

Value Emitter::convTranspose(ConvTransposeOp op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op.getX().getType()),
       w = cast<RankedTensorType>(op.getW().getType());
  int64_t spatial = x.getRank() - 2, perGroup = w.getDimSize(1),
          inPerGroup = w.getDimSize(0) / op.getGroups();
  SmallVector<int64_t> extents{inPerGroup};
  extents.append(w.getShape().begin() + 2, w.getShape().end());
  extents.push_back(1);
  auto onBoth = [&](const Index &i, auto f) -> Index {
    if (i.isUniform())
      return {f(i.base), 0, nullptr, false};
    return {nullptr, 0, f(asVector(i, lanes)), false};
  };
  Index group = constant(0), inGroup = at[1];
  if (op.getGroups() > 1) {
    group = onBoth(at[1], [&](Value v) { return binary("div", v, i64(perGroup)); });
    inGroup = onBoth(at[1], [&](Value v) { return binary("rem", v, i64(perGroup)); });
  }
  Value total =
      fold(ReduceKind::sum, x.getElementType(), extents, lanes,
           [&](ArrayRef<Index> where, int64_t n) -> Value {
             Index channel = add(affine(group, inPerGroup, 0), where[0], n);
             Indices xi{at[0], channel}, wi{channel, inGroup};
             Value inside;
             for (int64_t d = 0; d < spatial; ++d) {
               int64_t stride = op.getStrides()[d];
               // y + low = stride * p + dilation * k: only the k that make this whole take part.
               Index q = add(affine(at[d + 2], 1, op.getLow()[d]),
                             affine(where[d + 1], -op.getDilations()[d], 0), n);
               Index p = q;
               if (stride > 1) {
                 auto signedDivide = [&](Value v) -> Value {
                   Value s = splat(i64(stride), isa<VectorType>(v.getType()) ? n : 0);
                   return arith::FloorDivSIOp::create(b, loc, v, s);
                 };
                 p = onBoth(q, signedDivide);
                 Value back = p.isUniform() ? p.base : p.vec;
                 Value original = q.isUniform() ? q.base : asVector(q, n);
                 Value whole = binary("mul", back, i64(stride));
                 inside = both(
                     *this, inside,
                     arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, whole, original), n);
               }
               Value here;
               p = clampWithin(p, x.getDimSize(d + 2), n, &here);
               inside = both(*this, inside, here, n);
               xi.push_back(p);
               wi.push_back(where[d + 1]);
             }
             return product(*this, orZero(*this, inside, eval(op.getX(), xi, n), n),
                            eval(op.getW(), wi, n), n);
           });
  return withBias(*this, total, op.getBias(), x.getElementType(), at, lanes);
}

Value Emitter::pool(Operation *op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto max = dyn_cast<MaxPoolOp>(op);
  auto avg = dyn_cast<AvgPoolOp>(op);
  int64_t spatial = x.getRank() - 2;
  auto window = max ? max.getWindow() : avg.getWindow();
  auto strides = max ? max.getStrides() : avg.getStrides();
  auto dilations = max ? max.getDilations() : avg.getDilations();
  auto low = max ? max.getLow() : avg.getLow();
  auto high = max ? max.getHigh() : avg.getHigh();
  ReduceKind kind = max ? ReduceKind::max : ReduceKind::sum;
  SmallVector<int64_t> extents(window);
  extents.push_back(1);
  auto sweep = [&](bool counting) {
    return fold(
        kind, x.getElementType(), extents, lanes, [&](ArrayRef<Index> where, int64_t n) -> Value {
          Indices xi{at[0], at[1]};
          Value inside;
          for (int64_t d = 0; d < spatial; ++d) {
            Index p =
                add(affine(at[d + 2], strides[d], -low[d]), affine(where[d], dilations[d], 0), n);
            int64_t size = x.getDimSize(d + 2);
            Value here;
            if (counting && avg.getIncludePad()) {
              clampWithin(affine(p, 1, low[d]), low[d] + size + avg.getCountedHigh()[d], n, &here);
              inside = both(*this, inside, here, n);
            } else if (low[d] > 0 || high[d] > 0) {
              p = clampWithin(p, size, n, &here);
              inside = both(*this, inside, here, n);
            }
            xi.push_back(p);
          }
          if (counting) {
            Type type = withLanes(computeType(x.getElementType()),
                                  inside && isa<VectorType>(inside.getType()) ? n : 0);
            return orZero(*this, inside, elementConstant(*this, type, 1), n);
          }
          Value v = eval(op->getOperand(0), xi, n);
          if (!inside)
            return v;
          if (avg)
            return orZero(*this, inside, v, n);
          int64_t l = isa<VectorType>(v.getType()) || isa<VectorType>(inside.getType()) ? n : 0;
          return arith::SelectOp::create(b, loc, inside, splat(v, l),
                                         neutral(ReduceKind::max, x.getElementType(), l));
        });
  };
  Value total = sweep(false);
  if (max)
    return total;
  Value count = sweep(true);
  int64_t n = isa<VectorType>(total.getType()) || isa<VectorType>(count.getType()) ? lanes : 0;
  return arith::DivFOp::create(b, loc, splat(total, n), splat(count, n));
}

} // namespace dlc::cpu
