//===- EmitSplit.cpp - emits the work units of split reductions -----------===//
#include "codegen/cpu/emit/Accumulation.h"
#include "codegen/cpu/kernel/KernelFrame.h"
#include "codegen/cpu/kernel/Nest.h"
#include "codegen/cpu/kernel/Split.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

class SplitEmitter {
public:
  SplitEmitter(OpBuilder &b, Emitter &e, KernelFrame &frame, const SplitPlan &plan)
      : b(b), e(e), frame(frame), loc(e.loc), plan(plan), rank(int64_t(plan.shape.size())),
        columns(plan.shape.back()) {}

  struct Output {
    Value value, pointer;
  };
  SmallVector<Output> sides;   ///< fusion outputs that have the shape of the reduced operand
  SmallVector<Output> results; ///< fusion outputs that have the shape of the reductions' results
  /// Buffer of each reduction's partial results; empty if plan.isWhole().
  SmallVector<Value> partials;

  void run() {
    e.prefetchRows({.elements = multiplyDims(plan.shape), .walk = 1, .ahead = plan.ahead()});
    e.range(frame.begin(), frame.end(), 1, {}, [&](Value unit, ValueRange) {
      takeApart(unit);
      if (plan.joined) {
        forParts();
      } else {
        strip = where.back();
        firstColumn = e.i64(0);
        unitOf();
      }
      return SmallVector<Value>();
    });
  }

private:
  int64_t count(int64_t d) const {
    if (d == plan.outer)
      return plan.outerChunks;
    if (d == plan.fine)
      return plan.fineChunks;
    return plan.columns && d == rank - 1 ? plan.strips : plan.shape[d];
  }

  /// Computes the coordinates of a work unit from its index. Units are numbered in memory order.
  void takeApart(Value unit) {
    where.assign(rank, Value());
    int64_t before = plan.units;
    for (int64_t d = rank - 1; d >= 0; --d) {
      before /= count(d);
      if (count(d) == 1) {
        where[d] = e.i64(0);
      } else if (before == 1) {
        where[d] = unit;
        unit = e.i64(0);
      } else {
        where[d] = e.binary("rem", unit, e.i64(count(d)));
        unit = e.binary("div", unit, e.i64(count(d)));
      }
    }
  }

  void unitOf() {
    if (plan.columns)
      columnUnit();
    else
      laneUnit();
  }

  /// Emits a work unit of a concatenation, with a branch for each run of its operands that share
  /// code.
  void forParts() {
    int64_t axis = int64_t(plan.joined.getAxis()), before = 0;
    bool strips = plan.columns && axis == rank - 1;
    for (const ConcatOperandRun &parts : groupSimilarOperands(plan.joined)) {
      int64_t each = strips ? (parts.size + plan.width - 1) / plan.width : parts.size;
      int64_t after = before + each * parts.count;
      auto isAt = [&](arith::CmpIPredicate how, int64_t place) -> Value {
        return arith::CmpIOp::create(b, loc, how, where[axis], e.i64(place));
      };
      Value here = arith::AndIOp::create(b, loc, isAt(arith::CmpIPredicate::sge, before),
                                         isAt(arith::CmpIPredicate::slt, after));
      auto branch = scf::IfOp::create(b, loc, here, false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      Value inRun = e.binary("sub", where[axis], e.i64(before));
      Value part = parts.count > 1 ? e.binary("div", inRun, e.i64(each)) : e.i64(0);
      emitPart(e, frame, plan.joined, parts, part, [&](Value offset) {
        strip = strips ? e.binary("sub", inRun, e.binary("mul", part, e.i64(each))) : where.back();
        columns = strips ? parts.size : columns;
        firstColumn = strips ? offset : e.i64(0);
        unitOf();
      });
      before = after;
    }
  }

  static LaneIndex uniform(Value v) { return {v, 0, nullptr, false}; }

  /// Returns the index in the reduced operand at the coordinates `outer`, `fine` and `column`. The
  /// other coordinates are those of the work unit.
  Indices fullIndex(Value outer, LaneIndex fine, LaneIndex column) {
    Indices at;
    for (int64_t d = 0; d < rank; ++d)
      at.push_back(d == plan.outer                 ? uniform(outer)
                   : d == plan.fine                ? fine
                   : plan.columns && d == rank - 1 ? column
                                                   : uniform(where[d]));
    return at;
  }
  Indices keptIndex(LaneIndex column) { return fullIndex(e.i64(0), e.constant(0), column); }

  std::pair<Value, Value> chunkOf(int64_t d, int64_t chunk) {
    Value from = e.binary("mul", where[d], e.i64(chunk));
    return {from, e.binary("min", e.binary("add", from, e.i64(chunk)), e.i64(plan.shape[d]))};
  }

  /// Emits a loop over the coordinates of the work unit along the dimension `outer`.
  /// `body(coordinate, state)` returns the next state. If there is no such dimension, emits the
  /// body once.
  SmallVector<Value> forOuter(ValueRange init,
                              function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    if (plan.outer < 0)
      return body(Value(), init);
    auto [from, to] = chunkOf(plan.outer, plan.outerChunk);
    return e.range(from, to, 1, init, body);
  }

  void storeSides(const Indices &at, int64_t lanes) {
    SmallVector<Value> elements;
    for (Output &side : sides)
      elements.push_back(e.eval(side.value, at, lanes));
    for (auto [side, element] : llvm::zip(sides, elements))
      e.store(tensorType(side.value), side.pointer, at, element, lanes);
  }

  /// Stores the work unit's totals of the reductions at `column`: as partial results, or, if
  /// plan.isWhole(), as the fusion's results that are computed from them.
  void finish(ArrayRef<Value> totals, LaneIndex column, int64_t lanes) {
    if (!plan.isWhole()) {
      Indices at;
      for (int64_t d = 0; d < rank; ++d)
        at.push_back(plan.columns && d == rank - 1 ? column : uniform(where[d]));
      for (auto [op, pointer, total] : llvm::zip(plan.reduces, partials, totals))
        e.store(RankedTensorType::get(plan.partialShape(), getPartialType(op)), pointer, at, total,
                lanes);
      return;
    }
    e.pushScope();
    for (auto [op, total] : llvm::zip(plan.reduces, totals))
      e.bindElement(op.getY(), e.finishReduce(op, total));
    Indices at = keptIndex(column);
    SmallVector<Value> elements;
    for (Output &result : results)
      elements.push_back(e.eval(result.value, at, lanes));
    for (auto [result, element] : llvm::zip(results, elements))
      e.store(tensorType(result.value), result.pointer, at, element, lanes);
    e.popScope();
  }

  //===- Lanes along columns: partial results in scratch memory -----------===//

  /// Emits loops over the columns of the work unit's strip, in vectors. Calls `body(column, lanes,
  /// column within the strip)` for each.
  void forColumns(function_ref<void(LaneIndex, int64_t, Value)> body) {
    int64_t tail = columns % plan.lanes, strips = (columns + plan.width - 1) / plan.width;
    Value first = e.binary("add", e.binary("mul", strip, e.i64(plan.width)), firstColumn);
    Value whole = e.binary("add", firstColumn, e.i64(columns - tail));
    if (columns == plan.lanes) {
      body({firstColumn, plan.lanes > 1 ? 1 : 0, nullptr, false}, plan.lanes > 1 ? plan.lanes : 0,
           e.i64(0));
      return;
    }
    Value stop = e.binary("min", e.binary("add", first, e.i64(plan.width)), whole);
    e.range(first, stop, plan.lanes, {}, [&](Value column, ValueRange) {
      body({column, 1, nullptr, false}, plan.lanes, e.binary("sub", column, first));
      return SmallVector<Value>();
    });
    if (tail == 0)
      return;
    auto last = [&] {
      e.pushScope();
      body({whole, tail > 1 ? 1 : 0, nullptr, false}, tail > 1 ? tail : 0,
           e.binary("sub", whole, first));
      e.popScope();
    };
    if (strips == 1)
      return last();
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, strip, e.i64(strips - 1));
    auto branch = scf::IfOp::create(b, loc, here, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    last();
  }

  Value slot(size_t reduction, Value column) {
    int64_t offset = 0;
    for (ReduceOp op : ArrayRef<ReduceOp>(plan.reduces).take_front(reduction))
      offset += (plan.width * alignment(op) + 63) / 64 * 64;
    Type pointer = frame.scratch().getType();
    Value start = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), frame.scratch(),
                                      ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    return LLVM::GEPOp::create(b, loc, pointer, plan.slotType(plan.reduces[reduction]), start,
                               ValueRange{column});
  }

  unsigned alignment(ReduceOp op) { return plan.slotType(op).getIntOrFloatBitWidth() / 8; }

  Value extend(Value v, Type type) {
    if (auto vector = dyn_cast<VectorType>(v.getType()))
      type = VectorType::get(vector.getShape(), type);
    return type == v.getType() ? v : Value(arith::ExtFOp::create(b, loc, type, v));
  }
  /// Converts an accumulator to the element type of partial results.
  Value wide(ReduceOp op, Value v) { return extend(v, getPartialType(op)); }

  /// Combines the terms of one reduction in their own type, as a balanced tree, so that dependency
  /// chains are short and rounding errors are small. The number of terms is a power of two.
  Value join(ReduceOp op, SmallVector<Value> terms) {
    Type element = tensorType(op.getX()).getElementType();
    for (; terms.size() > 1; terms.resize(terms.size() / 2))
      for (size_t k = 0; k < terms.size() / 2; ++k)
        terms[k] = e.combine(op.getKind(), element, terms[2 * k], terms[2 * k + 1]);
    return terms[0];
  }

  /// Adds rows to the accumulators: `together` consecutive rows, starting with `row`, in each of
  /// `runs` memory streams. The streams start `distance` rows apart.
  void addRows(Value outer, Value row, int64_t together, int64_t runs, Value distance) {
    forColumns([&](LaneIndex column, int64_t lanes, Value inStrip) {
      SmallVector<SmallVector<Value>> terms(plan.reduces.size());
      for (int64_t u = 0; u < together * runs; ++u) {
        Value inRun = e.binary("mul", distance, e.i64(u / together));
        Value one = e.binary("add", e.binary("add", row, e.i64(u % together)), inRun);
        Indices at = fullIndex(outer, uniform(one), column);
        for (auto [list, op] : llvm::zip(terms, plan.reduces))
          list.push_back(e.splat(e.eval(op.getX(), at, lanes), lanes));
        storeSides(at, lanes);
      }
      for (auto [i, op] : llvm::enumerate(plan.reduces)) {
        Value p = slot(i, inStrip);
        Type type = plan.slotType(op);
        Value so =
            LLVM::LoadOp::create(b, loc, getScalarOrVectorType(type, lanes), p, alignment(op));
        Value more = extend(join(op, std::move(terms[i])), type);
        LLVM::StoreOp::create(b, loc, e.combine(op.getKind(), type, so, more), p, alignment(op));
      }
    });
  }

  void columnUnit() {
    forColumns([&](LaneIndex, int64_t lanes, Value inStrip) {
      for (auto [i, op] : llvm::enumerate(plan.reduces))
        LLVM::StoreOp::create(b, loc, e.neutral(op.getKind(), plan.slotType(op), lanes),
                              slot(i, inStrip), alignment(op));
    });
    forOuter({}, [&](Value outer, ValueRange) {
      auto [from, to] = chunkOf(plan.fine, plan.fineChunk);
      // The rows that one iteration adds are in several distant memory streams, so that the
      // hardware prefetcher follows each of them. The number of streams is limited, because each
      // operand has as many.
      int64_t together = plan.unroll / plan.runs;
      Value part = e.binary("mul", e.binary("div", e.binary("sub", to, from), e.i64(plan.unroll)),
                            e.i64(together));
      e.range(from, e.binary("add", from, part), together, {}, [&](Value row, ValueRange) {
        addRows(outer, row, together, plan.runs, part);
        return SmallVector<Value>();
      });
      if (plan.fineChunks > 1 || plan.shape[plan.fine] % plan.unroll != 0) {
        Value whole = e.binary("add", from, e.binary("mul", part, e.i64(plan.runs)));
        e.range(whole, to, 1, {}, [&](Value row, ValueRange) {
          addRows(outer, row, 1, 1, part);
          return SmallVector<Value>();
        });
      }
      return SmallVector<Value>();
    });
    forColumns([&](LaneIndex column, int64_t lanes, Value inStrip) {
      SmallVector<Value> totals;
      for (auto [i, op] : llvm::enumerate(plan.reduces))
        totals.push_back(
            wide(op, LLVM::LoadOp::create(b, loc, getScalarOrVectorType(plan.slotType(op), lanes),
                                          slot(i, inStrip), alignment(op))));
      finish(totals, column, lanes);
    });
  }

  //===- Lanes along the reduced dimension: partial results in registers ---===//

  /// Accumulators of a work unit: one set for each memory stream, and one for the tail of a row. If
  /// all reductions are sums, the sets of the streams restart at each coordinate along `outer` and
  /// are added to a common f64 accumulator.
  struct LaneAccumulators {
    LaneAccumulators(Emitter &e, const SplitPlan &plan, ArrayRef<LoopReduction> folds,
                     ArrayRef<LoopReduction> wideFolds)
        : tail(plan.shape[plan.fine] % plan.lanes), tailLanes(tail > 1 ? tail : 0),
          main(e, folds, plan.lanes, false), rest(e, folds, tailLanes, false),
          all(e, wideFolds, plan.lanes, false), size(main.size()), runs(size_t(plan.unroll)),
          meet(llvm::all_of(plan.reduces, [](ReduceOp op) { return isSum(op); })) {
      for (size_t r = 0; r < runs; ++r)
        llvm::append_range(begin, main.start());
      init = meet ? all.start() : begin;
      mainSize = init.size();
      if (tail > 0)
        llvm::append_range(init, rest.start());
      whole = e.i64(plan.shape[plan.fine] - tail);
    }

    int64_t tail, tailLanes;
    ReductionState main, rest, all;
    size_t size, runs; ///< number of accumulator values of one stream (`main`); number of streams
    bool meet;         ///< whether the sums of all streams are added to the f64 accumulator `all`
    SmallVector<Value> begin, init;
    size_t mainSize = 0; ///< number of values of `init` that do not belong to the tail of the row
    Value whole;         ///< number of row elements before the tail, a multiple of the lanes
  };

  /// Emits the operands of the reductions at index `at` along the last reduced dimension
  /// (plan.fine).
  SmallVector<Value> termsAt(Value outer, Value at, int64_t lanes) {
    Indices index = fullIndex(outer, {at, lanes > 0 ? 1 : 0, nullptr, false}, {});
    SmallVector<Value> terms;
    for (ReduceOp op : plan.reduces)
      terms.push_back(e.eval(op.getX(), index, lanes));
    storeSides(index, lanes);
    return terms;
  }

  /// Emits the reduction of the chunk [from, to) without the tail of the row, and returns the next
  /// values of the streams.
  SmallVector<Value> reduceStreams(const LaneAccumulators &a, Value outer, Value from, Value to,
                                   ValueRange before) {
    SmallVector<Value> next(before);
    Value start = from;
    if (a.runs > 1) {
      // The chunk is read in several sequential streams at a time, which is faster than a single
      // stream.
      int64_t step = plan.lanes * plan.unroll;
      Value part = e.binary("mul", e.binary("div", e.binary("sub", to, from), e.i64(step)),
                            e.i64(plan.lanes));
      next = e.range(from, e.binary("add", from, part), plan.lanes, next,
                     [&](Value at, ValueRange inner) {
                       SmallVector<Value> states;
                       for (size_t r = 0; r < a.runs; ++r) {
                         Value there = e.binary("add", at, e.binary("mul", part, e.i64(r)));
                         llvm::append_range(states, a.main.step(inner.slice(r * a.size, a.size),
                                                                termsAt(outer, there, plan.lanes)));
                       }
                       return states;
                     });
      start = e.binary("add", from, e.binary("mul", part, e.i64(plan.unroll)));
    }
    auto first = e.range(start, to, plan.lanes, ArrayRef<Value>(next).take_front(a.size),
                         [&](Value at, ValueRange inner) {
                           return a.main.step(inner, termsAt(outer, at, plan.lanes));
                         });
    llvm::copy(first, next.begin());
    return next;
  }

  /// Adds the values of all streams, converted to f64, for each reduction.
  SmallVector<Value> addStreams(const LaneAccumulators &a, ArrayRef<Value> streams) {
    SmallVector<Value> sums;
    for (auto [i, op] : llvm::enumerate(plan.reduces)) {
      SmallVector<Value> ofRuns;
      for (size_t r = 0; r < a.runs; ++r)
        ofRuns.push_back(streams[r * a.size + i]);
      sums.push_back(wide(op, join(op, std::move(ofRuns))));
    }
    return sums;
  }

  /// Emits the reduction of the tail of a row, which belongs to the last chunk of the row.
  SmallVector<Value> reduceTail(const LaneAccumulators &a, Value outer, ValueRange before) {
    if (plan.fineChunks == 1)
      return a.rest.step(before, termsAt(outer, a.whole, a.tailLanes));
    Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, where[plan.fine],
                                       e.i64(plan.fineChunks - 1));
    auto branch = scf::IfOp::create(b, loc, before.getTypes(), last, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    e.pushScope();
    scf::YieldOp::create(b, loc, a.rest.step(before, termsAt(outer, a.whole, a.tailLanes)));
    e.popScope();
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, before);
    return SmallVector<Value>(branch.getResults());
  }

  /// Combines the lanes of all accumulators into one value per reduction.
  SmallVector<Value> combineLanes(const LaneAccumulators &a, ArrayRef<LoopReduction> wideFolds,
                                  ArrayRef<Value> state) {
    SmallVector<Value> totals;
    auto take = [&](const ReductionState &gathering, ArrayRef<Value> values) {
      auto more = gathering.finish(values);
      for (auto [op, other] : llvm::zip(plan.reduces, more))
        other = wide(op, other);
      if (totals.empty())
        return void(totals = more);
      for (auto [fold, total, other] : llvm::zip(wideFolds, totals, more))
        total = e.combine(fold.kind, fold.element, total, other);
    };
    if (a.meet)
      take(a.all, state.take_front(a.mainSize));
    else
      for (size_t r = 0; r < a.runs; ++r)
        take(a.main, state.slice(r * a.size, a.size));
    if (a.tail > 0)
      take(a.rest, state.drop_front(a.mainSize));
    return totals;
  }

  void laneUnit() {
    SmallVector<LoopReduction> folds, wideFolds;
    for (ReduceOp op : plan.reduces) {
      folds.push_back({op.getKind(), tensorType(op.getX()).getElementType()});
      wideFolds.push_back({op.getKind(), getPartialType(op)});
    }
    LaneAccumulators a(e, plan, folds, wideFolds);
    auto state = forOuter(a.init, [&](Value outer, ValueRange before) {
      auto [from, end] = chunkOf(plan.fine, plan.fineChunk);
      Value to = e.binary("min", end, a.whole);
      ValueRange mainBefore = before.take_front(a.mainSize);
      SmallVector<Value> next =
          reduceStreams(a, outer, from, to, a.meet ? ValueRange(a.begin) : mainBefore);
      if (a.meet)
        next = a.all.step(mainBefore, addStreams(a, next));
      if (a.tail > 0)
        llvm::append_range(next, reduceTail(a, outer, before.drop_front(a.mainSize)));
      return next;
    });
    finish(combineLanes(a, wideFolds, state), {}, 0);
  }

  OpBuilder &b;
  Emitter &e;
  KernelFrame &frame;
  Location loc;
  SplitPlan plan;
  int64_t rank;
  SmallVector<Value> where; ///< coordinates of the work unit, counted in chunks and strips
  Value strip;              ///< index of the strip of columns; the columns start at `firstColumn`
  Value firstColumn;
  int64_t columns;
};

} // namespace

LogicalResult emitSplitKernel(OpBuilder &b, FusionOp fusion, StringRef name, const SplitPlan &plan,
                              const Target &target) {
  KernelFrame frame(b, fusion.getLoc(), name);
  Emitter e(b, fusion.getLoc(), frame.context(), target);
  Block &body = fusion.getBody().front();
  SmallVector<Value> inputs;
  for (BlockArgument argument : body.getArguments()) {
    inputs.push_back(frame.nextBuffer());
    e.bindBuffer(argument, inputs.back());
  }
  SplitEmitter emitter(b, e, frame, plan);
  SmallVector<TypedBuffer> outputs;
  int64_t starts = 0;
  if (ConcatOp joined = plan.joined; joined && joined.getAxis() + 1 == plan.shape.size())
    for (const ConcatOperandRun &parts : groupSimilarOperands(joined))
      starts = std::gcd(starts, parts.starts());
  for (unsigned i : getFirstKernelOutputs(fusion, plan)) {
    Value value = body.getTerminator()->getOperand(i), pointer = frame.nextBuffer();
    bool side = tensorType(value).getShape() == ArrayRef<int64_t>(plan.shape);
    (side ? emitter.sides : emitter.results).push_back({value, pointer});
    outputs.push_back({tensorType(value), pointer, side ? starts : 0});
  }
  if (!plan.isWhole())
    for (size_t i = 0; i < plan.reduces.size(); ++i)
      emitter.partials.push_back(frame.nextBuffer());
  emitNonTemporalStores(e, inputs, outputs, [&] { emitter.run(); });
  frame.finish();
  return success();
}

} // namespace dlc::cpu
