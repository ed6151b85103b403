//===- Emitter.cpp - indices, loads, stores and the order of evaluation ---===//
#include "codegen/cpu/emit/Emitter.h"
#include "codegen/cpu/emit/IndexLowering.h"
#include "passes/Rounding.h"

using namespace mlir;

namespace dlc::cpu {

Type getComputeType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type getStorageType(Type element) {
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), std::max(8u, integer.getWidth()));
  return element;
}

Type getScalarOrVectorType(Type type, int64_t lanes) {
  return lanes > 0 ? Type(VectorType::get({lanes}, type)) : type;
}

bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isSignlessInteger(1);
}

Value Emitter::i64(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

Value Emitter::splat(Value scalar, int64_t lanes) {
  if (lanes == 0 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, loc, getScalarOrVectorType(scalar.getType(), lanes),
                                     scalar);
}

static int64_t getLaneCount(Value v) {
  auto type = dyn_cast<VectorType>(v.getType());
  return type ? type.getNumElements() : 0;
}

Value Emitter::binary(StringRef kind, Value x, Value y) {
  int64_t lanes = std::max(getLaneCount(x), getLaneCount(y));
  x = splat(x, lanes), y = splat(y, lanes);
  if (kind == "add")
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  if (kind == "sub")
    return b.createOrFold<arith::SubIOp>(loc, x, y);
  if (kind == "mul")
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  if (kind == "div")
    return b.createOrFold<arith::DivUIOp>(loc, x, y);
  if (kind == "rem")
    return b.createOrFold<arith::RemUIOp>(loc, x, y);
  if (kind == "min")
    return b.createOrFold<arith::MinSIOp>(loc, x, y);
  assert(kind == "max");
  return b.createOrFold<arith::MaxSIOp>(loc, x, y);
}

Value Emitter::asVector(const LaneIndex &x, int64_t lanes) {
  if (x.vec)
    return x.vec;
  Value base = splat(x.base, lanes);
  if (x.step == 0)
    return base;
  SmallVector<int64_t> offsets;
  for (int64_t i = 0; i < lanes; ++i)
    offsets.push_back(i * x.step);
  Value steps = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.getI64Type()), ArrayRef<int64_t>(offsets)));
  return binary("add", base, steps);
}

LaneIndex Emitter::affine(const LaneIndex &x, int64_t scale, int64_t offset) {
  if (x.unknown || (scale == 1 && offset == 0))
    return x;
  LaneIndex y = x;
  Value &v = x.vec ? y.vec : y.base;
  if (scale != 1)
    v = binary("mul", v, i64(scale));
  if (offset != 0)
    v = binary("add", v, i64(offset));
  y.step = x.step * scale, y.runs = {};
  return y;
}

LaneIndex Emitter::add(const LaneIndex &x, const LaneIndex &y, int64_t lanes) {
  if (x.unknown || y.unknown)
    return {nullptr, 0, nullptr, true};
  if (x.vec || y.vec)
    return {nullptr, 0, binary("add", asVector(x, lanes), asVector(y, lanes)), false};
  return {binary("add", x.base, y.base), x.step + y.step, nullptr, false};
}

LaneIndex Emitter::linear(ArrayRef<int64_t> shape, const Indices &at, int64_t lanes) {
  LaneIndex sum = constant(0);
  auto strides = ref::rowMajorStrides(shape);
  Indices places(at);
  // Combines an adjacent quotient and remainder of the same index into this index, so that a
  // reshape becomes a linear index.
  for (size_t d = 1; d < places.size(); ++d) {
    const LaneRuns &quotient = places[d - 1].runs, &rest = places[d].runs;
    if (quotient.by != 0 && quotient.by == shape[d] && rest.areOf(quotient) && rest.isRemainder &&
        !quotient.isRemainder) {
      places[d] = {rest.first, 1, nullptr, false};
      places[d - 1] = constant(0);
    }
  }
  for (auto [d, index] : llvm::enumerate(places))
    if (shape[d] != 1)
      sum = add(sum, affine(index, strides[d], 0), lanes);
  return sum;
}

Indices Emitter::broadcastIndex(Value operand, const Indices &at) {
  auto shape = cast<RankedTensorType>(operand.getType()).getShape();
  return dlc::broadcastIndex(shape, ArrayRef<LaneIndex>(at), constant(0));
}

Emitter::Key Emitter::keyOf(Value value, const Indices &at, int64_t lanes) {
  Key key{value.getAsOpaquePointer(), reinterpret_cast<const void *>(lanes)};
  for (const LaneIndex &x : at) {
    // The key of a constant index contains the constant's value instead of its SSA value, because
    // many operations create the same constant. The lowest bit distinguishes the number from a
    // pointer.
    APInt known;
    if (!x.vec && matchPattern(x.base, m_ConstantInt(&known))) {
      key.push_back(reinterpret_cast<const void *>(known.getSExtValue() * 2 + 1));
    } else {
      key.push_back((x.vec ? x.vec : x.base).getAsOpaquePointer());
    }
    key.push_back(reinterpret_cast<const void *>(x.step));
  }
  return key;
}

Value Emitter::known(const Key &key) const {
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  return {};
}

static bool isUniform(const Indices &at) {
  return llvm::all_of(at, [](const LaneIndex &x) { return x.isUniform(); });
}

Value Emitter::eval(Value value, const Indices &at, int64_t lanes) {
  // If no coordinate depends on the lane, one scalar is evaluated for all lanes.
  if (isUniform(at))
    lanes = 0;
  Key key = keyOf(value, at, lanes);
  if (Value found = known(key))
    return found;
  Value result = evalUncached(value, at, lanes);
  scopes.back()[key] = result;
  return result;
}

Value Emitter::repeated(Value value, const Indices &at, int64_t lanes) {
  LaneRuns runs;
  for (const LaneIndex &x : at) {
    if (x.isUniform())
      continue;
    if (x.runs.by == 0 ||
        (runs.by != 0 && (!runs.areOf(x.runs) || runs.isRemainder != x.runs.isRemainder)))
      return {};
    runs = x.runs;
  }
  if (runs.by == 0)
    return {};
  int64_t fewer = runs.isRemainder ? runs.by : lanes / runs.by;
  LaneIndex one =
      runs.isRemainder ? constant(0) : LaneIndex{binary("div", runs.first, i64(runs.by))};
  one.step = 1;
  Indices where = llvm::map_to_vector<6>(at, [&](const LaneIndex &x) { return x.vec ? one : x; });
  Value few = eval(value, where, fewer);
  if (!isa<VectorType>(few.getType()))
    return few;
  auto places = llvm::map_to_vector(llvm::seq<int64_t>(0, lanes), [&](int64_t lane) {
    return runs.isRemainder ? lane % runs.by : lane / runs.by;
  });
  return vector::ShuffleOp::create(b, loc, few, few, places);
}

Value Emitter::evalUncached(Value value, const Indices &at, int64_t lanes) {
  if (Value element = elements.lookup(value))
    return element;
  if (Value few = repeated(value, at, lanes))
    return few;
  if (Value pointer = buffers.lookup(value))
    return load(value, pointer, at, lanes);
  if (auto row = rows.find(value); row != rows.end() && row->second.filled)
    return loadRow(value, row->second.pointer, at.back(), lanes);
  Value x = compute(value, at, lanes);
  // The result of a reduction was already rounded by finishReduce().
  return value.getDefiningOp<ReduceOp>() ? x : rounded(value, x);
}

Value Emitter::rounded(Value value, Value x) {
  return needsRounding(value) ? roundElement(b, loc, x, getElementTypeOrSelf(value.getType())) : x;
}

Value Emitter::compute(Value value, const Indices &at, int64_t lanes) {
  Operation *op = value.getDefiningOp();
  assert(op && "a block argument of a fusion without a buffer");
  if (op->hasTrait<ElementMove>())
    return move(op, at, lanes);
  if (op->hasTrait<Elementwise>())
    return elementwise(op, at, lanes);
  if (auto constant = dyn_cast<ConstantOp>(op))
    return constantElement(constant, at, lanes);
  if (auto o = dyn_cast<IotaOp>(op))
    return iota(o, at, lanes);
  if (auto o = dyn_cast<ReduceOp>(op))
    return reduce(o, at, lanes);
  if (op->hasTrait<Contraction>())
    return contraction(op, at, lanes);
  if (isa<MaxPoolOp, AvgPoolOp>(op))
    return pool(op, at, lanes);
  llvm_unreachable("an operation that canEmitKernel refuses");
}

Value Emitter::elementwise(Operation *op, const Indices &at, int64_t lanes) {
  if (auto compare = dyn_cast<CompareOp>(op))
    if (Value places = comparePlaces(compare, at, lanes))
      return places;
  SmallVector<Value> operands;
  bool vectors = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(eval(operand, broadcastIndex(operand, at), lanes));
    vectors |= isa<VectorType>(operands.back().getType());
  }
  if (vectors)
    for (Value &v : operands)
      v = splat(v, lanes);
  return emitElement(*this, op, operands);
}

void Emitter::hoist(Value value, const Indices &at) {
  llvm::DenseSet<Value> seen;
  hoist(value, at, seen);
}

void Emitter::hoist(Value value, const Indices &at, llvm::DenseSet<Value> &seen) {
  if (buffers.count(value) || !seen.insert(value).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (op->hasTrait<ElementLoop>()) {
    if (isUniform(at))
      eval(value, at, 0);
    return;
  }
  if (auto moved = IndexLowering(*this, 0).getSourceIndex(op, at))
    return hoist(op->getOperand(0), *moved, seen);
  if (op->hasTrait<Elementwise>())
    for (Value operand : op->getOperands())
      hoist(operand, broadcastIndex(operand, at), seen);
}

/// Returns the address of the element at `offset`. Offsets are multiplied by the size of the
/// element's type in memory.
static Value emitElementPointer(Emitter &e, Type element, Value pointer, Value offset) {
  Type storage = getStorageType(element);
  Type result = pointer.getType();
  if (auto lanes = dyn_cast<VectorType>(offset.getType()))
    result = VectorType::get(lanes.getShape(), result);
  return LLVM::GEPOp::create(e.b, e.loc, result, storage, pointer, ValueRange{offset});
}

Value Emitter::load(Value value, Value pointer, const Indices &at, int64_t lanes) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  int64_t align = ref::elementBytes(element);
  LaneIndex offset = linear(type.getShape(), at, lanes);
  Type storage = getStorageType(element);
  if (offset.isUniform()) {
    Value p = emitElementPointer(*this, element, pointer, offset.base);
    return convertToComputeType(b, loc, LLVM::LoadOp::create(b, loc, storage, p, align), element);
  }
  if (!offset.vec && offset.step == 1) {
    Value p = emitElementPointer(*this, element, pointer, offset.base);
    if (type.getNumElements() == prefetching.elements)
      prefetch(value, storage, pointer, offset.base, lanes);
    return convertToComputeType(
        b, loc, LLVM::LoadOp::create(b, loc, getScalarOrVectorType(storage, lanes), p, align),
        element);
  }
  if (!offset.vec && std::abs(offset.step) <= kNearStep)
    return convertToComputeType(b, loc, loadNear(element, pointer, offset, lanes), element);
  Value offsets = asVector(offset, lanes);
  // Gather instructions with 32-bit offsets process twice as many elements as those with 64-bit
  // offsets.
  if (type.getNumElements() <= std::numeric_limits<int32_t>::max())
    offsets = arith::TruncIOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), offsets);
  Value pointers = emitElementPointer(*this, element, pointer, offsets);
  auto maskType = VectorType::get({lanes}, b.getI1Type());
  Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, true));
  Value none = LLVM::PoisonOp::create(b, loc, getScalarOrVectorType(storage, lanes));
  Value loaded =
      LLVM::masked_gather::create(b, loc, getScalarOrVectorType(storage, lanes), pointers, all,
                                  ValueRange{none}, b.getI32IntegerAttr(align));
  return convertToComputeType(b, loc, loaded, element);
}

void Emitter::followMoves(Value &value, Indices &at, int64_t lanes) {
  while (Operation *moving = buffers.count(value) ? nullptr : value.getDefiningOp()) {
    auto moved = IndexLowering(*this, lanes).getSourceIndex(moving, at);
    if (!moved)
      return;
    at = std::move(*moved), value = moving->getOperand(0);
  }
}

Value Emitter::loadInside(Value value, Indices at, Value inside, Value other, int64_t lanes) {
  followMoves(value, at, lanes);
  Value pointer = buffers.lookup(value);
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType(), storage = getStorageType(element);
  if (!pointer || elements.count(value) || storage.getIntOrFloatBitWidth() < 32)
    return {};
  LaneIndex offset = linear(type.getShape(), at, lanes);
  if (offset.vec || offset.step != 1)
    return {};
  Value p = emitElementPointer(*this, element, pointer, offset.base);
  return LLVM::MaskedLoadOp::create(b, loc, getScalarOrVectorType(storage, lanes), p, inside,
                                    splat(other, lanes),
                                    b.getI32IntegerAttr(int32_t(ref::elementBytes(element))));
}

Value Emitter::loadNear(Type element, Value pointer, const LaneIndex &offset, int64_t lanes) {
  int64_t step = std::abs(offset.step), elements = (lanes - 1) * step + 1;
  Value base = offset.base;
  if (offset.step < 0)
    base = binary("add", base, i64(1 - elements));
  // The last register ends at the last element, so that memory after it is not accessed.
  SmallVector<Value> registers;
  SmallVector<int64_t> firsts;
  for (int64_t first = 0; first < elements; first += lanes) {
    firsts.push_back(std::min(first, elements - lanes));
    Value p = emitElementPointer(*this, element, pointer, binary("add", base, i64(firsts.back())));
    registers.push_back(LLVM::LoadOp::create(b, loc,
                                             getScalarOrVectorType(getStorageType(element), lanes),
                                             p, ref::elementBytes(element)));
  }
  return pickPlaces(registers, firsts, lanes, [&](int64_t lane) {
    return step * (offset.step < 0 ? lanes - 1 - lane : lane);
  });
}

Value Emitter::pickPlaces(ArrayRef<Value> registers, ArrayRef<int64_t> firsts, int64_t lanes,
                          function_ref<int64_t(int64_t)> place) {
  auto lanesOf = llvm::seq<int64_t>(0, lanes);
  // If a single register already holds all elements in the order of the lanes, it is returned
  // without a shuffle.
  for (auto [part, first] : llvm::zip(registers, firsts))
    if (llvm::all_of(lanesOf,
                     [&, first = first](int64_t lane) { return place(lane) == first + lane; }))
      return part;
  Value result;
  // End of the range of positions that the previous registers hold.
  int64_t end = 0;
  for (auto [part, first] : llvm::zip(registers, firsts)) {
    SmallVector<int64_t> picks;
    bool any = false;
    for (int64_t lane : lanesOf) {
      bool isHere = place(lane) >= end && place(lane) < first + lanes;
      any |= isHere;
      picks.push_back(isHere ? (result ? lanes : 0) + place(lane) - first : result ? lane : 0);
    }
    end = first + lanes;
    if (any)
      result = vector::ShuffleOp::create(b, loc, result ? result : part, part, picks);
  }
  return result;
}

void Emitter::prefetch(Value value, Type element, Value pointer, Value offset, int64_t lanes) {
  auto &walks = prefetched[value];
  if (!llvm::is_contained(walks, walk))
    walks.push_back(walk);
  if (walks.size() != prefetching.walk)
    return;
  constexpr int64_t line = 64;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, perLine = line / bytes;
  for (int64_t at = 0; at < lanes; at += perLine) {
    Value ahead;
    if (prefetching.rows) {
      // `here` is the offset in the current group of rows. The iteration that reads line i of the
      // group prefetches, in the next group, line i / rows of row i % rows.
      auto divided = [&](Value x, int64_t by) -> Value {
        return arith::DivUIOp::create(b, loc, x, i64(by));
      };
      auto rest = [&](Value x, int64_t by) -> Value {
        return arith::RemUIOp::create(b, loc, x, i64(by));
      };
      int64_t rows = prefetching.rows, row = prefetching.row;
      Value here = binary("add", rest(offset, rows * row), i64(at));
      Value next = binary("add", offset, i64(at + rows * row));
      Value inRow = binary("mul", divided(here, perLine * rows), i64(perLine));
      ahead =
          binary("add", binary("sub", next, here),
                 binary("add", inRow, binary("mul", rest(divided(here, perLine), rows), i64(row))));
    } else {
      ahead = binary("add", offset, i64(prefetching.ahead + at));
    }
    Value p = LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer, ValueRange{ahead});
    // If the prefetch distance exceeds what the first-level cache holds, data is prefetched to the
    // second-level cache instead, so that it is not evicted before its use.
    constexpr int64_t nearest = 1 << 14;
    int64_t distance =
        (prefetching.rows ? prefetching.rows * prefetching.row : prefetching.ahead) * bytes;
    LLVM::Prefetch::create(b, loc, p, /*rw=*/0, /*hint=*/distance > nearest ? 2 : 3, /*cache=*/1);
  }
}

Value Emitter::loadRow(Value value, Value pointer, const LaneIndex &at, int64_t lanes) {
  assert(!at.vec && (at.step == 1 || at.isUniform()) && "rows are read in order");
  Type type = getComputeType(cast<RankedTensorType>(value.getType()).getElementType());
  Value p = LLVM::GEPOp::create(b, loc, pointer.getType(), type, pointer, ValueRange{at.base});
  return LLVM::LoadOp::create(b, loc, getScalarOrVectorType(type, lanes), p,
                              type.getIntOrFloatBitWidth() / 8);
}

void Emitter::store(RankedTensorType type, Value pointer, const Indices &at, Value element,
                    int64_t lanes) {
  LaneIndex offset = linear(type.getShape(), at, lanes);
  assert(!offset.vec && (offset.step == 1 || lanes == 0) && "stores are contiguous");
  Value stored = convertToStorageType(b, loc, splat(element, lanes), type.getElementType());
  Value p = emitElementPointer(*this, type.getElementType(), pointer, offset.base);
  int64_t bytes = lanes * ref::elementBytes(type.getElementType());
  bool past = bytes > 0 && bytes % (target.vectorBits / 8) == 0 && nonTemporal.contains(pointer);
  LLVM::StoreOp::create(b, loc, stored, p,
                        past ? target.vectorBits / 8 : ref::elementBytes(type.getElementType()),
                        /*isVolatile=*/false, /*isNonTemporal=*/past);
}

SmallVector<Value>
Emitter::loops(ArrayRef<int64_t> extents, ValueRange init,
               function_ref<SmallVector<Value>(ArrayRef<Value>, ValueRange)> body) {
  SmallVector<Value> coordinates;
  std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t d, ValueRange carried) {
    if (d == extents.size())
      return body(coordinates, carried);
    if (extents[d] == 1) {
      coordinates.push_back(i64(0));
      auto result = nest(d + 1, carried);
      coordinates.pop_back();
      return result;
    }
    auto loop = scf::ForOp::create(b, loc, i64(0), i64(extents[d]), i64(1), carried);
    OpBuilder::InsertionGuard guard(b);
    if (carried.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToStart(loop.getBody());
    pushScope();
    coordinates.push_back(loop.getInductionVar());
    auto yielded = nest(d + 1, loop.getRegionIterArgs());
    coordinates.pop_back();
    popScope();
    if (!carried.empty())
      scf::YieldOp::create(b, loc, yielded);
    return SmallVector<Value>(loop.getResults());
  };
  return nest(0, init);
}

SmallVector<Value> Emitter::range(Value from, Value to, int64_t step, ValueRange init,
                                  function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, i64(step), init);
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(loop.getBody());
  pushScope();
  auto yielded = body(loop.getInductionVar(), loop.getRegionIterArgs());
  popScope();
  if (!init.empty())
    scf::YieldOp::create(b, loc, yielded);
  return SmallVector<Value>(loop.getResults());
}

Value Emitter::multiplyAdd(Value x, Value y, Value z) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return LLVM::FMAOp::create(b, loc, x, y, z);
  return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, x, y), z);
}

} // namespace dlc::cpu
