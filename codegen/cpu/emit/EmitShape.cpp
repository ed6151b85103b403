//===- EmitShape.cpp - emits constants, iota and operations that move elements ---===//
#include "codegen/cpu/emit/IndexLowering.h"
#include "codegen/cpu/math/Registers.h"
#include "passes/fuse/analysis/Classify.h"
#include "passes/fuse/analysis/MonotonicGather.h"

using namespace mlir;

namespace dlc::cpu {

/// Emits an operation that moves elements, from the operand elements that its index map names.
struct MoveEmitter {
  /// One operand read of the index map. `inside` is the mask of the lanes whose guards hold; null
  /// if the guards always hold.
  struct Source {
    Value operand;
    OperandRead read;
    Indices at;
    Value inside;
  };

  MoveEmitter(Emitter &e, Operation *op, const Indices &at, int64_t lanes)
      : e(e), b(e.b), loc(e.loc), lanes(lanes), lowering(e, lanes),
        element(getComputeType(getElementTypeOrSelf(op->getResult(0).getType()))) {
    // Whether all operands are read because the guards differ between lanes. Each lane then selects
    // one of the operands.
    bool readsAll = false;
    for (const OperandRead &read : lowering.readsOf(op, at)) {
      Value operand = op->getOperand(read.operand);
      auto shape = cast<RankedTensorType>(operand.getType()).getShape();
      Value inside = lowering.inside(read.guards);
      sources.push_back({operand, read, lowering.lower(read, shape, readsAll), inside});
      readsAll |= inside && isVector(inside);
    }
    if (auto pad = dyn_cast<PadOp>(op))
      addRowSource(pad, at);
  }

  Value run() { return select(sources, {}); }

private:
  static bool isVector(Value v) { return isa<VectorType>(v.getType()); }

  /// Adds the fast path of a pad (reflect, edge or wrap): if all lanes are inside the operand's
  /// row, the elements are contiguous and one load is sufficient.
  void addRowSource(PadOp pad, const Indices &at) {
    if (pad.getMode() == PadMode::constant || sources.front().operand != pad.getX() || lanes == 0 ||
        at.back().vec || at.back().step != 1)
      return;
    Source between = sources.front();
    int64_t last = cast<RankedTensorType>(pad.getX().getType()).getShape().back() - lanes;
    between.at.back() = e.affine(at.back(), 1, -pad.getLow().back());
    between.inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           between.at.back().base, e.i64(last + 1));
    if (last >= 0)
      sources.insert(sources.begin(), between);
  }

  Value flag(bool value) {
    return e.splat(arith::ConstantOp::create(b, loc, b.getBoolAttr(value)), lanes);
  }

  /// Emits the selection among the operands in `from`, which are tried in order. `taken`: mask of
  /// the lanes that preceding operands provide.
  Value select(ArrayRef<Source> from, Value taken) {
    const auto &[operand, read, where, inside] = from.front();
    if (!inside) {
      if (taken) {
        Value own = arith::SelectOp::create(b, loc, taken, flag(false), flag(true));
        Value nothing = LLVM::ZeroOp::create(b, loc, element);
        if (Value loaded = e.loadInside(operand, lowering.lower(read), own, nothing, lanes))
          return loaded;
      }
      return e.eval(operand, where, lanes);
    }
    if (isVector(inside)) {
      Value all = inside, own = inside;
      if (taken) {
        all = arith::OrIOp::create(b, loc, taken, inside);
        own = arith::SelectOp::create(b, loc, taken, flag(false), inside);
      }
      Value other = select(from.drop_front(), all);
      // A masked load is required, because the addresses of lanes that are not selected may be
      // outside the operand.
      if (Value loaded = e.loadInside(operand, lowering.lower(read), own, other, lanes))
        return loaded;
      return arith::SelectOp::create(b, loc, inside, e.splat(e.eval(operand, where, lanes), lanes),
                                     e.splat(other, lanes));
    }
    if (!from[1].at.empty())
      return branch(from, taken);
    Value other = select(from.drop_front(), taken), here = e.eval(operand, where, lanes);
    int64_t n = isVector(here) || isVector(other) ? lanes : 0;
    return arith::SelectOp::create(b, loc, inside, e.splat(here, n), e.splat(other, n));
  }

  /// Emits the selection if the guards are the same for all lanes: a chain of branches reads only
  /// the operand that holds the elements.
  Value branch(ArrayRef<Source> from, Value taken) {
    const Source &first = from.front();
    auto branch = scf::IfOp::create(b, loc, TypeRange{getScalarOrVectorType(element, lanes)},
                                    first.inside, true);
    OpBuilder::InsertionGuard guard(b);
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      b.setInsertionPointToStart(block);
      e.pushScope();
      Value value = block == branch.thenBlock() ? e.eval(first.operand, first.at, lanes)
                                                : select(from.drop_front(), taken);
      scf::YieldOp::create(b, loc, e.splat(value, lanes));
      e.popScope();
    }
    return branch.getResult(0);
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  int64_t lanes;
  IndexLowering lowering;
  Type element;
  SmallVector<Source, 2> sources;
};

Value Emitter::constantElement(ConstantOp op, const Indices &at, int64_t lanes) {
  Type element = getElementTypeOrSelf(op.getY().getType());
  Type compute = getComputeType(element);
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
  // A small constant tensor becomes a vector constant from which elements are extracted.
  SmallVector<Attribute> all;
  for (int64_t i = 0; i < tensor->size(); ++i)
    all.push_back(attrAt(i));
  Value table = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({tensor->size()}, compute), all));
  LaneIndex offset = linear(cast<RankedTensorType>(op.getType()).getShape(), at, lanes);
  if (offset.isUniform())
    return vector::ExtractOp::create(
        b, loc, table,
        OpFoldResult(
            arith::IndexCastOp::create(b, loc, b.getIndexType(), offset.base).getResult()));
  Value which = asVector(offset, lanes);
  Value result = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(getScalarOrVectorType(compute, lanes))));
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
  const LaneIndex &x = at[op.getAxis()];
  Value i = x.isUniform() ? x.base : asVector(x, lanes);
  return castElement(b, loc, i, b.getI64Type(), element);
}

Value Emitter::distances(int64_t step, int64_t lanes) {
  SmallVector<int32_t> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(int32_t(lane * step));
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.getI32Type()), ArrayRef<int32_t>(steps)));
}

/// Emits the comparison of an iota that varies along the lanes with a uniform value. The lanes'
/// distances from the first lane are compared as 32-bit integers, which need half as many registers
/// as i64. Returns null if the operation is no such comparison.
Value Emitter::comparePlaces(CompareOp op, const Indices &at, int64_t lanes) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (lanes == 0 || !type.getElementType().isSignlessInteger(64))
    return {};
  for (int side : {0, 1}) {
    Value places = op->getOperand(side), other = op->getOperand(1 - side);
    Indices place = broadcastIndex(places, at);
    followMoves(places, place, lanes);
    auto iota = buffers.count(places) ? IotaOp() : places.getDefiningOp<IotaOp>();
    if (!iota)
      continue;
    const LaneIndex &x = place[iota.getAxis()];
    int64_t size = cast<RankedTensorType>(iota.getType()).getDimSize(iota.getAxis());
    if (x.vec || x.step == 0 || size > std::numeric_limits<int32_t>::max() / 2)
      continue;
    Value against = eval(other, broadcastIndex(other, at), lanes);
    if (isa<VectorType>(against.getType()))
      return {};
    // A value outside the iota's range is clamped to -1 or the iota's size, which does not change
    // the result of the comparison.
    against = binary("max", binary("min", against, i64(size)), i64(-1));
    Value distance =
        arith::TruncIOp::create(b, loc, b.getI32Type(), binary("sub", against, x.base));
    Value operands[2];
    operands[side] = distances(x.step, lanes);
    operands[1 - side] = splat(distance, lanes);
    return emitElement(*this, op, operands);
  }
  return {};
}

/// Returns the name of the intrinsic that permutes the lanes of a register by 32-bit indices.
/// Returns an empty string if the processor has no such instruction for this element type.
static std::string getPermuteIntrinsic(const Target &target, Type element) {
  if (element.getIntOrFloatBitWidth() != 32)
    return "";
  bool isFloat = isa<FloatType>(element);
  if (target.vectorBits == 512 && target.has(runtime::Feature::Avx512f))
    return isFloat ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx512.permvar.si.512";
  if (target.vectorBits == 256 && target.has(runtime::Feature::Avx2))
    return isFloat ? "llvm.x86.avx2.permps" : "llvm.x86.avx2.permd";
  return "";
}

Value Emitter::gatherMonotonic(GatherOp op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  Type element = getComputeType(x.getElementType());
  std::string picker = getPermuteIntrinsic(target, element);
  auto isUniform = [](const LaneIndex &i) { return i.isUniform(); };
  const int64_t size = x.getShape().back(), width = target.lanes32(),
                window = std::min(width, size);
  if (!isMonotonic(op) || int64_t(op.getAxis()) + 1 != x.getRank() || lanes < 2 || picker.empty() ||
      window < 2 || at.back().vec || at.back().step != 1 ||
      !llvm::all_of(ArrayRef(at).drop_back(), isUniform))
    return {};
  Value places = eval(op.getIndices(), {at.back()}, lanes);
  if (!isa<VectorType>(places.getType()))
    return {};
  Type wide = b.getI64Type(), placeType = getElementTypeOrSelf(places.getType());
  VectorType whole = VectorType::get({width}, element);
  return applyPerRegister(b, loc, whole, {places}, [&](ArrayRef<Value> registers) -> Value {
    // The indices of a monotonic gather do not decrease, so that the first lane has the smallest
    // index.
    Value least = vector::ExtractOp::create(b, loc, registers[0], int64_t(0));
    Value first = binary("min", castElement(b, loc, least, placeType, wide), i64(size - window));
    Indices from(at);
    from.back() = {first, 1, nullptr, false};
    Value elements = resizeVector(b, loc, eval(op.getX(), from, window), width);
    Value picks = binary("sub", registers[0], castElement(b, loc, first, wide, placeType));
    picks = castElement(b, loc, picks, placeType, b.getI32Type());
    return LLVM::CallIntrinsicOp::create(b, loc, whole, b.getStringAttr(picker),
                                         ValueRange{elements, picks})
        .getResult(0);
  });
}

Value Emitter::interleaveParts(ConcatOp op, const Indices &at, int64_t lanes) {
  const LaneRuns turns = at[op.getAxis()].runs;
  if (!isInterleavingConcat(op) || !turns.isRemainder || turns.by != int64_t(op.getXs().size()) ||
      lanes == turns.by)
    return {};
  Indices inside(at);
  inside[op.getAxis()] = constant(0);
  for (LaneIndex &x : inside) {
    if (x.isUniform())
      continue;
    if (!x.runs.areOf(turns) || x.runs.isRemainder)
      return {};
    x = {binary("div", turns.first, i64(turns.by)), 1, nullptr, false};
  }
  int64_t fewer = lanes / turns.by;
  auto parts = llvm::map_to_vector(
      op.getXs(), [&](Value part) { return splat(eval(part, inside, fewer), fewer); });
  // Vectors i and i + half are interleaved, with half = n/2, n/4, .., 1. The elements of all n
  // operands are then adjacent, in order.
  for (int64_t half = turns.by / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      parts[i] = vector::InterleaveOp::create(b, loc, parts[i], parts[i + half]);
  return parts[0];
}

Value Emitter::move(Operation *op, const Indices &at, int64_t lanes) {
  if (auto gather = dyn_cast<GatherOp>(op))
    if (Value picked = gatherMonotonic(gather, at, lanes))
      return picked;
  if (auto found = parts.find(op); found != parts.end()) {
    Indices inside(at);
    auto [part, offset] = found->second;
    LaneIndex &x = inside[cast<ConcatOp>(op).getAxis()];
    if (!x.unknown) {
      Value &place = x.vec ? x.vec : x.base;
      place = binary("sub", place, offset);
    }
    return eval(op->getOperand(part), inside, lanes);
  }
  if (auto concat = dyn_cast<ConcatOp>(op))
    if (Value all = interleaveParts(concat, at, lanes))
      return all;
  return MoveEmitter(*this, op, at, lanes).run();
}

} // namespace dlc::cpu
