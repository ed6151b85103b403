//===- EmitWindows.cpp - sliding windows of pools and convolutions --------===//
#include "codegen/cpu/emit/Accumulation.h"
#include "codegen/cpu/emit/IndexLowering.h"
#include "codegen/cpu/emit/Windows.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

template <typename Op>
WindowGeometry makeWindowGeometry(Op op, ArrayRef<int64_t> window, int64_t d) {
  return {window[d],      op.getStrides()[d],        op.getDilations()[d],
          op.getLow()[d], shapeOf(op.getX())[d + 2], shapeOf(op.getY())[d + 2]};
}

Type elementOf(Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); }

int64_t directSteps(int64_t taps) { return 2 * taps - 1; }

} // namespace

/// Maximum number of registers with elements of a row that are live in the code for one vector of
/// results.
static constexpr int64_t kMaxOfRow = 8;

bool WindowGeometry::loadsTapsSeparately(int64_t lanes, int64_t vectorBits) const {
  // Unaligned loads of 512 bits always cross a cache line. Therefore the number of loads is
  // minimized for such vectors.
  constexpr int64_t fewest = 3;
  return lanes > 1 && stride == 1 &&
         (vectorBits < 512 || taps < fewest ||
          registers(lanes) >= std::min(2 * taps, kMaxOfRow + 1));
}

bool WindowGeometry::vectorizesAlongRows(int64_t lanes, bool isTapByTap) const {
  constexpr int64_t maxTaps = 32;
  return lanes > 1 && stride <= kNearStep && taps <= maxTaps &&
         (isTapByTap || registers(lanes) <= kMaxOfRow);
}

bool WindowGeometry::doubleUp(int64_t lanes) const {
  int64_t runs = 2 * registers(lanes) * llvm::Log2_64(uint64_t(taps));
  return runs + directSteps(llvm::popcount(uint64_t(taps))) < directSteps(taps);
}

WindowGeometry getWindowGeometry(Operation *op, int64_t d) {
  if (auto conv = dyn_cast<ConvOp>(op))
    return makeWindowGeometry(conv, shapeOf(conv.getW()).drop_front(2), d);
  if (auto max = dyn_cast<MaxPoolOp>(op))
    return makeWindowGeometry(max, max.getWindow(), d);
  auto average = cast<AvgPoolOp>(op);
  WindowGeometry windows = makeWindowGeometry(average, average.getWindow(), d);
  if (average.getIncludePad()) {
    windows.countedLow = windows.low;
    windows.countedHigh = average.getCountedHigh()[d];
  }
  return windows;
}

std::optional<double> countRowVectorOps(Operation *op, const Target &target) {
  constexpr int64_t fewChannels = 4;
  auto y = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t spatial = y.getRank() - 2, lanes = std::min(target.lanes32(), y.getShape().back());
  WindowGeometry row = getWindowGeometry(op, spatial - 1);
  int64_t bits = y.getElementTypeBitWidth();
  // Masked loads of chunks of a row require elements of at least 32 bits.
  bool isTapByTap = isa<ConvOp>(op) && row.loadsTapsSeparately(lanes, target.vectorBits);
  if (!y.hasStaticShape() || y.getNumElements() == 0 ||
      !row.vectorizesAlongRows(lanes, isTapByTap) || (row.reachBeyond() && bits < 32))
    return std::nullopt;
  int64_t rows = 1, registers = row.registers(lanes), steps = 0;
  auto extents = foldedExtents(op);
  for (int64_t extent : ArrayRef(extents).drop_back())
    rows *= extent;
  if (auto conv = dyn_cast<ConvOp>(op)) {
    // With more input channels, a blocked matrix multiplication is faster, because it loads each
    // element less often.
    if (shapeOf(conv.getW())[1] > fewChannels || !isa<FloatType>(y.getElementType()))
      return std::nullopt;
    steps = rows * (row.stride == 1 ? row.taps : registers + 2 * row.taps);
  } else if (row.doubleUp(lanes)) {
    steps = rows * registers + 2 * registers * llvm::Log2_64(uint64_t(row.taps)) +
            directSteps(llvm::popcount(uint64_t(row.taps)));
  } else {
    steps = rows * registers + directSteps(row.taps);
  }
  int64_t ofRow = (row.results + lanes - 1) / lanes * std::max<int64_t>(1, bits / 32);
  int64_t results = y.getNumElements() / row.results * ofRow;
  return double(results) * double(steps);
}

Value Emitter::alongRow(Value from, const WindowGeometry &row, const Indices &at, int64_t lanes,
                        bool isTapByTap, function_ref<Value(const RowChunks &)> make) {
  std::optional<RowChunks> parts = partsOfRow(from, row, at, lanes, isTapByTap);
  if (!parts)
    return {};
  // Minimum number of vectors in a row for which a separate branch without masks is emitted.
  // Vectors of windows that are entirely inside the row take this branch.
  constexpr int64_t registers = 3;
  if (parts->insides.empty() || row.results < registers * lanes)
    return make(*parts);
  Value last = i64(row.size - row.span(lanes));
  Value between = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, parts->start, last);
  auto branch = scf::IfOp::create(
      b, loc, neutral(ReduceKind::sum, elementOf(from), lanes).getType(), between, true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPointToStart(block);
    pushScope();
    RowChunks own = *parts;
    if (block == branch.thenBlock())
      own.insides.clear();
    scf::YieldOp::create(b, loc, make(own));
    popScope();
  }
  return branch.getResult(0);
}

std::optional<RowChunks> Emitter::partsOfRow(Value from, const WindowGeometry &row,
                                             const Indices &at, int64_t lanes, bool isTapByTap) {
  auto isSame = [](const LaneIndex &i) { return i.isUniform(); };
  if (!row.vectorizesAlongRows(lanes, isTapByTap) || at.back().vec || at.back().step != 1 ||
      !llvm::all_of(ArrayRef(at).drop_back(), isSame))
    return std::nullopt;
  // Memory outside the row must not be accessed. If windows reach beyond the row, masked loads from
  // a buffer are required.
  Type element = elementOf(from);
  if (row.reachBeyond() && (!buffers.count(from) || elements.count(from) ||
                            getStorageType(element).getIntOrFloatBitWidth() < 32))
    return std::nullopt;
  RowChunks parts{from, affine(at.back(), row.stride, -row.low).base, {}, {}};
  if (isTapByTap)
    for (int64_t tap = 0; tap < row.taps; ++tap)
      parts.firsts.push_back(tap * row.dilation);
  else
    for (int64_t span = row.span(lanes), first = 0; first < span; first += lanes)
      parts.firsts.push_back(std::min(first, span - lanes));
  for (int64_t first : parts.firsts) {
    if (!row.reachBeyond())
      break;
    Value place =
        arith::TruncIOp::create(b, loc, b.getI32Type(), binary("add", parts.start, i64(first)));
    Value places = binary("add", place, distances(1, lanes));
    Value size = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(row.size)));
    parts.insides.push_back(
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, places, splat(size, lanes)));
  }
  return parts;
}

SmallVector<Value> Emitter::loadParts(const RowChunks &parts, const OperandRead &read, Value other,
                                      IndexLowering &lowering, int64_t lanes) {
  auto shape = cast<RankedTensorType>(parts.from.getType()).getShape();
  OperandRead rows;
  for (size_t d = 2; d + 1 < shape.size(); ++d)
    rows.guard(read.at[d], shape[d]);
  Value inside = lowering.inside(rows.guards);
  Indices place = lowering.lower(read, shape);
  SmallVector<Value> loaded;
  for (auto [i, first] : llvm::enumerate(parts.firsts)) {
    place.back() = {binary("add", parts.start, i64(first)), 1, nullptr, false};
    Value part = parts.insides.empty()
                     ? splat(eval(parts.from, place, lanes), lanes)
                     : loadInside(parts.from, place, parts.insides[i], other, lanes);
    loaded.push_back(inside ? Value(arith::SelectOp::create(b, loc, inside, part, other)) : part);
  }
  return loaded;
}

/// Returns the window coordinates of the first element of a row of the window: the coordinates
/// `where`, and 0 in the last dimension. A row is read as a whole.
static SmallVector<LaneIndex> getRowStartCoordinates(Emitter &e, ArrayRef<Value> where) {
  SmallVector<LaneIndex> over;
  for (Value tap : where)
    over.push_back({tap, 0, nullptr, false});
  over.push_back(e.constant(0));
  return over;
}

Value Emitter::convAlongRow(ConvOp op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op.getX().getType()),
       w = cast<RankedTensorType>(op.getW().getType());
  Type element = x.getElementType();
  if (!isa<FloatType>(element) || x.getRank() < 3)
    return {};
  WindowGeometry row = getWindowGeometry(op, x.getRank() - 3);
  bool isTapByTap = row.loadsTapsSeparately(lanes, target.vectorBits);
  SmallVector<int64_t> extents = foldedExtents(op);
  extents.pop_back();
  beginWalk();
  Value zero = neutral(ReduceKind::sum, element, lanes);
  // If there are many terms, several accumulators shorten the dependency chains.
  constexpr int64_t most = 4, inARow = 8;
  int64_t terms = row.taps;
  for (int64_t extent : extents)
    terms *= extent;
  int64_t several = std::clamp<int64_t>(terms / inARow, 1, std::min(most, row.taps));
  SmallVector<Value> none(size_t(several), zero);
  auto make = [&](const RowChunks &parts) {
    auto sums = loops(extents, none, [&](ArrayRef<Value> where, ValueRange before) {
      IndexLowering lowering(*this, lanes);
      auto reads = lowering.readsOf(op, at, getRowStartCoordinates(*this, where));
      SmallVector<Value> loaded = loadParts(parts, reads[0], zero, lowering, lanes);
      Indices weight = lowering.lower(reads[1], w.getShape());
      SmallVector<Value> next(before);
      for (int64_t tap = 0; tap < row.taps; ++tap) {
        weight.back() = constant(tap);
        auto place = [&](int64_t lane) { return tap * row.dilation + lane * row.stride; };
        Value taken = isTapByTap ? loaded[tap] : pickPlaces(loaded, parts.firsts, lanes, place);
        Value factor = splat(eval(op.getW(), weight, lanes), lanes);
        Value &sum = next[size_t(tap) % next.size()];
        sum = multiplyAdd(factor, taken, sum);
      }
      return next;
    });
    for (; sums.size() > 1; sums.pop_back())
      sums.front() = combine(ReduceKind::sum, element, sums.front(), sums.back());
    return sums.front();
  };
  return alongRow(op.getX(), row, at, lanes, isTapByTap, make);
}

/// Returns the number of elements that count in each window: the product, over the dimensions, of
/// the number of window elements that are inside the operand or the counted padding.
Value Emitter::countInWindows(AvgPoolOp op, const Indices &at, int64_t lanes) {
  Type element = getComputeType(cast<RankedTensorType>(op.getX().getType()).getElementType());
  double whole = 1;
  Value count;
  auto times = [&](Value other) {
    int64_t n =
        isa<VectorType>(other.getType()) || (count && isa<VectorType>(count.getType())) ? lanes : 0;
    count = count ? Value(arith::MulFOp::create(b, loc, splat(count, n), splat(other, n))) : other;
  };
  for (int64_t d = 0, terms = int64_t(op.getWindow().size()); d < terms; ++d) {
    WindowGeometry windows = getWindowGeometry(op, d);
    if (!windows.reachBeyond(/*counted=*/true)) {
      whole *= double(windows.taps);
      continue;
    }
    int64_t size = windows.countedLow + windows.size + windows.countedHigh;
    // First index of the window, relative to the first counted element, as a 32-bit integer because
    // comparisons then need half as many registers.
    LaneIndex first = affine(at[d + 2], windows.stride, windows.countedLow - windows.low);
    Type narrow = b.getI32Type();
    Value place;
    if (first.isUniform())
      place = arith::TruncIOp::create(b, loc, narrow, first.base);
    else if (first.vec)
      place = arith::TruncIOp::create(b, loc, getScalarOrVectorType(narrow, lanes), first.vec);
    else
      place = binary("add", arith::TruncIOp::create(b, loc, narrow, first.base),
                     distances(first.step, lanes));
    auto number = [&](int64_t value) -> Value {
      Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
      auto vector = dyn_cast<VectorType>(place.getType());
      return splat(one, vector ? vector.getNumElements() : 0);
    };
    Value sum;
    if (windows.dilation == 1) {
      Value from = binary("max", place, number(0));
      Value to = binary("min", binary("add", place, number(windows.taps)), number(size));
      sum = binary("max", binary("sub", to, from), number(0));
    } else {
      for (int64_t tap = 0; tap < windows.taps; ++tap) {
        Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             binary("add", place, number(tap * windows.dilation)),
                                             number(size));
        Value one = arith::SelectOp::create(b, loc, inside, number(1), number(0));
        sum = sum ? binary("add", sum, one) : one;
      }
    }
    auto vector = dyn_cast<VectorType>(sum.getType());
    times(arith::SIToFPOp::create(
        b, loc, getScalarOrVectorType(element, vector ? vector.getNumElements() : 0), sum));
  }
  Value rest = detail::emitFloatConstant(*this, element, whole);
  if (!count)
    return rest;
  times(rest);
  return count;
}

/// Combines the `taps` elements of each window. Register i holds the elements of a row from
/// position firsts[i] on. `pick` shuffles the elements at given positions into one register.
static Value
combineTaps(const WindowGeometry &row, int64_t lanes, SmallVector<Value> registers,
            ArrayRef<int64_t> firsts, function_ref<Value(Value, Value)> combine,
            function_ref<Value(ArrayRef<Value>, function_ref<int64_t(int64_t)>)> pick) {
  Value total;
  auto take = [&](int64_t tap) {
    Value picked =
        pick(registers, [&](int64_t lane) { return tap * row.dilation + lane * row.stride; });
    total = total ? combine(total, picked) : picked;
  };
  if (!row.doubleUp(lanes)) {
    for (int64_t tap = 0; tap < row.taps; ++tap)
      take(tap);
    return total;
  }
  // A window is composed of runs of 1, 2, 4, .. elements: one for each bit that is set in its
  // number of elements.
  for (int64_t run = 1, tap = 0; run <= row.taps; run *= 2) {
    if (row.taps & run) {
      take(tap);
      tap += run;
    }
    if (2 * run > row.taps)
      break;
    SmallVector<Value> twice;
    for (auto [own, first] : llvm::zip(registers, firsts)) {
      Value next = pick(registers, [&, first = first](int64_t lane) {
        return first + lane + run * row.dilation;
      });
      twice.push_back(next ? combine(own, next) : own);
    }
    registers = std::move(twice);
  }
  return total;
}

/// Emits a pool whose lanes run along a row, so that windows overlap and are a few elements apart.
/// The rows of the windows are combined first, register by register, and each window's elements are
/// then shuffled out of the result. Returns null if the lanes do not run along a row.
Value Emitter::poolAlongRow(Operation *op, ReduceKind kind, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  Type element = x.getElementType();
  WindowGeometry row = getWindowGeometry(op, x.getRank() - 3);
  // If a vector has an even number of registers, a NaN mask has one bit for two lanes (see
  // ReductionState), so that the lane with the NaN is unknown. In this case, no mask is used, and
  // the maximum or minimum propagates NaN in each lane.
  bool perLane = lanes % (2 * target.lanes32()) == 0;
  SmallVector<int64_t> extents = foldedExtents(op);
  extents.pop_back();
  beginWalk();
  auto make = [&](const RowChunks &parts) {
    ReductionState gathering(
        *this, SmallVector<LoopReduction>(parts.firsts.size(), {kind, element}), lanes, perLane);
    Value other = neutral(kind, element, lanes);
    auto state = loops(extents, gathering.start(), [&](ArrayRef<Value> where, ValueRange before) {
      IndexLowering lowering(*this, lanes);
      OperandRead read = lowering.readsOf(op, at, getRowStartCoordinates(*this, where)).front();
      return gathering.step(before, loadParts(parts, read, other, lowering, lanes));
    });
    return combineTaps(
        row, lanes, gathering.finishLanes(state), parts.firsts,
        [&](Value a, Value b) { return combine(kind, element, a, b); },
        [&](ArrayRef<Value> from, function_ref<int64_t(int64_t)> place) {
          return pickPlaces(from, parts.firsts, lanes, place);
        });
  };
  return alongRow(op->getOperand(0), row, at, lanes, false, make);
}

Value Emitter::pool(Operation *op, const Indices &at, int64_t lanes) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto avg = dyn_cast<AvgPoolOp>(op);
  ReduceKind kind = avg ? ReduceKind::sum : ReduceKind::max;
  SmallVector<int64_t> extents = foldedExtents(op);
  size_t terms = extents.size();
  Value total = poolAlongRow(op, kind, at, lanes);
  // The innermost dimension of size 1 keeps the window coordinates scalar. A vector of several
  // window elements would read beyond the row.
  if (!total)
    total = fold(kind, x.getElementType(),
                 llvm::to_vector(llvm::concat<const int64_t>(extents, ArrayRef<int64_t>{1})), lanes,
                 [&](ArrayRef<LaneIndex> where, int64_t n) -> Value {
                   IndexLowering lowering(*this, n);
                   OperandRead read = lowering.readsOf(op, at, where.take_front(terms)).front();
                   return windowed(op->getOperand(0), lowering, read,
                                   neutral(kind, x.getElementType(), 0), n);
                 });
  if (!avg)
    return total;
  Value count = countInWindows(avg, at, lanes);
  int64_t n = isa<VectorType>(total.getType()) || isa<VectorType>(count.getType()) ? lanes : 0;
  return arith::DivFOp::create(b, loc, splat(total, n), splat(count, n));
}

} // namespace dlc::cpu
