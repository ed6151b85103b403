//===- Kernel.cpp - work units, rows and stores of a fused kernel ---------===//
#include "codegen/cpu/kernel/Kernel.h"
#include "codegen/cpu/kernel/KernelFrame.h"
#include "codegen/cpu/kernel/Nest.h"
#include "codegen/cpu/kernel/Split.h"
#include "codegen/cpu/kernel/TransposedOperands.h"
#include "codegen/cpu/math/Registers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc::cpu {

bool canEmitKernel(FusionOp fusion, std::string *why) {
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    bool known = op.hasTrait<Elementwise>() || op.hasTrait<ElementMove>() ||
                 isa<ConstantOp, IotaOp>(op) ||
                 (op.hasTrait<SingleAccumulator>() && !op.hasTrait<StandaloneOp>());
    if (!known) {
      if (why)
        *why = ("generated code does not support '" + op.getName().getStringRef() + "'").str();
      return false;
    }
  }
  return true;
}

static double bytesOf(RankedTensorType type) { return double(ref::storageBytes(type)); }

double estimateBytesRead(Value x) {
  double whole = bytesOf(tensorType(x)), read = 0;
  for (OpOperand &use : x.getUses()) {
    Operation *user = use.getOwner();
    bool isSeen =
        use.getOperandNumber() == 0 && (user->hasTrait<ViewLike>() || isa<GatherOp>(user));
    read += isSeen ? estimateBytesRead(user->getResult(0)) : whole;
  }
  return std::min(whole, read);
}

double estimateCacheLineBytes(double rows, double run, int64_t apart, double elementBytes) {
  constexpr double kLine = 64;
  double bytes = run * elementBytes;
  return rows * (double(apart) * elementBytes >= kLine ? std::max(bytes, kLine) : bytes);
}

KernelPlan planKernel(FusionOp fusion, const Target &target) {
  KernelPlan plan;
  double work = estimateTotalWork(fusion);
  plan.flops = work;
  if (auto split = planSplit(fusion, target)) {
    plan.extent = split->units;
    plan.scratch = getSplitScratchBytes(*split);
  } else {
    plan.extent = 0;
    work = 0;
    for (LoopNest &nest : planNests(fusion, target)) {
      int64_t units = nest.units * nest.parts.count;
      plan.extent = nest.sameUnits ? nest.units : plan.extent + units;
      if (nest.depth == 0 && nest.across < 0)
        plan.rows += double(units * nest.rowsWithin());
      work += nest.work * double(units);
    }
    for (Value value : findRowsToCache(fusion))
      plan.scratch += getRowScratchBytes(value);
  }
  for (Value argument : fusion.getBody().getArguments())
    plan.bytes += estimateBytesRead(argument);
  for (Value value : fusion.getBody().front().getTerminator()->getOperands())
    plan.bytes += bytesOf(tensorType(value));
  // Below some ten thousand operations, waking a further thread costs more time than it saves.
  double perUnit =
      std::max(1.0, std::max(work, plan.bytes / 4) / double(std::max<int64_t>(1, plan.extent)));
  plan.grain = std::max<int64_t>(1, int64_t(24576 / perUnit));
  return plan;
}

namespace {

class KernelEmitter {
public:
  KernelEmitter(OpBuilder &b, Emitter &e, KernelFrame &frame, FusionOp fusion,
                ArrayRef<Value> outputs)
      : b(b), e(e), frame(frame), loc(e.loc), fusion(fusion), outputs(outputs) {}

  void run(MutableArrayRef<LoopNest> nests) {
    if (!nests.empty() && nests.front().sameUnits) {
      e.range(frame.begin(), frame.end(), 1, {}, [&](Value unit, ValueRange) {
        for (LoopNest &nest : nests)
          forParts(nest, [&](Value) { shortRows(nest, unit); });
        return SmallVector<Value>();
      });
      return;
    }
    int64_t first = 0;
    for (LoopNest &nest : nests) {
      forParts(nest, [&](Value part) {
        walk(nest, e.binary("add", e.binary("mul", part, e.i64(nest.units)), e.i64(first)));
      });
      first += nest.units * nest.parts.count;
    }
  }

private:
  /// Emits code that runs `body` for each operand of a concatenation that the nest computes. The
  /// index of the operand within its run is passed to `body`.
  void forParts(const LoopNest &nest, function_ref<void(Value)> body) {
    auto one = [&](Value part, ValueRange) {
      emitPart(e, frame, nest.joined, nest.parts, part, [&](Value offset) {
        partOffset = offset;
        body(part);
      });
      return SmallVector<Value>();
    };
    if (nest.parts.count > 1)
      e.range(e.i64(0), e.i64(nest.parts.count), 1, {}, one);
    else
      one(e.i64(0), {});
  }

  /// Emits the loop over the work units of a nest that are in the kernel's range [begin, end).
  /// `first` is the index of the nest's first unit.
  void walk(LoopNest &nest, Value first) {
    auto after = [&](int64_t units) { return e.binary("add", first, e.i64(units)); };
    Value from = e.binary("max", frame.begin(), first),
          to = e.binary("min", frame.end(), after(nest.units));
    auto units = [&](int64_t count) {
      return [this, &nest, first, count](Value at, ValueRange) {
        Value one = e.binary("sub", at, first);
        nest.across >= 0 ? tiles(nest, one)
        : nest.depth > 0 ? shortRows(nest, one)
        : count > 1      ? severalUnits(nest, one, count)
                         : unit(nest, one);
        return SmallVector<Value>();
      };
    };
    if (int64_t several = nest.depth > 0 || nest.across >= 0 ? 1 : unitsAtATime(nest);
        several > 1) {
      // The last block of a row may be shorter than the others. Its work unit is therefore computed
      // alone, and not in a group of several work units.
      Value even = nest.blocks > 1 ? e.binary("min", to, after(nest.units - 1)) : to;
      Value groups =
          e.binary("div", e.binary("max", e.binary("sub", even, from), e.i64(0)), e.i64(several));
      Value middle = e.binary("add", from, e.binary("mul", groups, e.i64(several)));
      e.range(from, middle, several, {}, units(several));
      from = middle;
    }
    e.range(from, to, 1, {}, units(1));
  }

  /// Returns the number of work units that one iteration of the kernel's loop computes together:
  /// several, or 1. Several units hide latency in two cases. For large tensors, each unit is a
  /// separate memory stream. For few but expensive elementwise ops, such as exponentials, the
  /// dependency chains of the units overlap.
  int64_t unitsAtATime(const LoopNest &nest) {
    constexpr int64_t runs = 4, shortest = 256, large = 1 << 20, most = 24;
    constexpr int64_t fewest = 1 << 17, few = 6, heavy = 4;
    int64_t rows = multiplyDims(nest.shape) / std::max<int64_t>(1, nest.shape.back());
    bool even = nest.blocks == 1 || rows == 1;
    int64_t operations = 0;
    bool isHeavy = false;
    for (Operation &op : fusion.getBody().front().without_terminator()) {
      if (!op.hasTrait<Elementwise>() && !isa<ConstantOp, BroadcastOp>(op))
        return 1;
      operations += op.hasTrait<Elementwise>();
      isHeavy |= cast<FactsInterface>(op).getWeight() > heavy;
    }
    int64_t elements = multiplyDims(nest.shape);
    bool pays = elements >= large || (isHeavy && operations <= few && elements >= fewest);
    return even && pays && nest.block >= shortest && operations <= most && nest.rowStores.empty() &&
                   !nest.scalarRow
               ? runs
               : 1;
  }

  void severalUnits(LoopNest &nest, Value unit, int64_t count) {
    SmallVector<Indices, 0> ats;
    SmallVector<Value> starts;
    for (int64_t u = 0; u < count; ++u) {
      auto [at, block] = coordinates(nest, e.binary("add", unit, e.i64(u)));
      ats.push_back(at);
      starts.push_back(e.binary("mul", block, e.i64(nest.block)));
    }
    int64_t row = nest.shape.back(), tail = nest.blocks == 1 ? row % nest.lanes : 0;
    int64_t length = nest.blocks == 1 ? row - tail : nest.block;
    // All loads precede the stores. A load after a store whose address has the same low bits would
    // wait for this store (4K aliasing).
    auto store = [&](Value offset, int64_t lanes) {
      SmallVector<SmallVector<Value>> elements;
      SmallVector<Indices, 0> places;
      for (auto [at, start] : llvm::zip(ats, starts)) {
        at.back() = {e.binary("add", start, offset), lanes > 1 ? 1 : 0, nullptr, false};
        places.push_back(at);
        elements.push_back(evalAll(nest.stores, at, lanes > 1 ? lanes : 0));
      }
      for (auto [place, some] : llvm::zip(places, elements))
        storeEach(nest.stores, place, some, lanes > 1 ? lanes : 0);
    };
    e.prefetchRows({.elements = multiplyDims(nest.shape), .walk = 1, .ahead = 256});
    e.range(e.i64(0), e.i64(length), nest.lanes, {}, [&](Value offset, ValueRange) {
      store(offset, nest.lanes);
      return SmallVector<Value>();
    });
    if (tail > 0)
      store(e.i64(length), tail);
  }

  /// Emits a work unit of short rows (a chunk along the second-to-last dimension). If the rows are
  /// not cached, they are read in two memory streams for the hardware prefetcher.
  void shortRows(LoopNest &nest, Value unit) {
    constexpr int64_t nearest = 512;
    ArrayRef<int64_t> shape = nest.shape;
    int64_t runs = nest.runs, together = nest.together;
    size_t along = shape.size() - 2;
    int64_t row = shape.back();
    auto [at, chunk] = coordinates(shape.drop_back(2), nest.chunks, unit);
    at.push_back(e.constant(0));
    at.push_back(e.constant(0));
    // The coordinates are emitted before the loop over rows, so that values cached for these
    // coordinates are found again in the loop.
    for (size_t d = 0; d < along; ++d)
      at[d].base = placed(nest, d, at[d].base);
    SmallVector<Value> starts;
    for (int64_t first = 0; first < row; first += nest.lanes)
      starts.push_back(placed(nest, along + 1, e.i64(first)));
    auto forLanes = [&](function_ref<void(int64_t)> body) {
      for (auto [i, start] : llvm::enumerate(starts)) {
        int64_t lanes = std::min(nest.lanes, row - int64_t(i) * nest.lanes);
        at.back() = {start, lanes > 1 ? 1 : 0, nullptr, false};
        body(lanes > 1 ? lanes : 0);
      }
    };
    // Values that do not depend on the row (such as per-channel factors) are computed before the
    // loop over rows.
    auto isShared = [&](Value value) {
      ArrayRef<int64_t> own = tensorType(value).getShape();
      return own.size() < 2 || own.end()[-2] == 1;
    };
    llvm::SetVector<Operation *> needed;
    for (const LoopNest::Store &store : nest.stores)
      collect(nest, store.value, needed);
    forLanes([&](int64_t lanes) {
      for (Operation *op : needed)
        for (Value operand : op->getOperands())
          if (isShared(operand) && !isShared(op->getResult(0)))
            e.eval(operand, e.broadcastIndex(operand, at), lanes);
    });
    auto store = [&](Value which) {
      at[along] = {placed(nest, along, which), 0, nullptr, false};
      forLanes([&](int64_t lanes) { storeAll(nest.stores, at, lanes); });
    };
    if (runs > 1)
      e.prefetchRows(
          {.elements = multiplyDims(shape), .walk = 1, .ahead = (nearest + row - 1) / row * row});
    Value from = e.binary("mul", chunk, e.i64(nest.depth));
    Value to = e.binary("add", from, e.i64(nest.depth));
    bool even = shape[along] % nest.depth == 0;
    if (!even)
      to = e.binary("min", to, e.i64(shape[along]));
    Value part = e.binary("mul", e.binary("div", e.binary("sub", to, from), e.i64(runs * together)),
                          e.i64(together));
    e.range(from, e.binary("add", from, part), together, {}, [&](Value first, ValueRange) {
      for (int64_t i = 0; i < runs * together; ++i)
        store(e.binary("add", e.binary("add", first, e.i64(i % together)),
                       e.binary("mul", part, e.i64(i / together))));
      return SmallVector<Value>();
    });
    if (even ? nest.depth % (runs * together) != 0 : runs * together > 1)
      e.range(e.binary("add", from, e.binary("mul", part, e.i64(runs))), to, 1, {},
              [&](Value one, ValueRange) {
                store(one);
                return SmallVector<Value>();
              });
    e.prefetchRows({});
  }

  /// Collects the operations that are evaluated, element by element, for a stored value of the
  /// nest.
  static void collect(const LoopNest &nest, Value value, llvm::SetVector<Operation *> &needed) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<GatherOp>(op) || !needed.insert(op))
      return;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (op != nest.joined || i == nest.parts.first)
        collect(nest, operand, needed);
  }

  /// Emits a work unit of tiles: a row of tiles, or a part of one.
  void tiles(LoopNest &nest, Value unit) {
    int64_t lanes = nest.lanes, row = nest.shape.back(), rows = nest.shape[nest.across];
    int64_t tail = row % lanes, rest = rows % lanes;
    auto outer = llvm::to_vector(ArrayRef<int64_t>(nest.shape).drop_back());
    outer[nest.across] = (rows + lanes - 1) / lanes;
    auto [at, block] = coordinates(outer, nest.blocks, unit);
    at.emplace_back();
    Value group = at[nest.across].base;
    at[nest.across].base = e.binary("mul", group, e.i64(lanes));
    Value start = e.binary("mul", block, e.i64(nest.block));
    Value stop = e.binary("min", e.binary("add", start, e.i64(nest.block)), e.i64(row - tail));
    auto walk = [&, at = at, block = block](int64_t height) {
      if (row >= lanes)
        e.range(start, stop, lanes, {}, [&](Value first, ValueRange) {
          tile(nest, at, first, lanes, height);
          return SmallVector<Value>();
        });
      if (tail > 0)
        when(equals(block, nest.blocks - 1), nest.blocks == 1,
             [&] { tile(nest, at, e.i64(row - tail), tail, height); });
    };
    if (rest > 0)
      when(equals(group, rows / lanes), rows < lanes, [&] { walk(rest); });
    if (rows >= lanes) {
      Value whole =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, group, e.i64(rows / lanes));
      when(whole, rest == 0, [&] { walk(lanes); });
    }
  }

  /// Emits one tile: transposes the operands in registers, and computes `width` elements of each of
  /// `height` rows.
  void tile(LoopNest &nest, Indices at, Value first, int64_t width, int64_t height) {
    e.pushScope();
    std::optional<TiledTransposes> transposed = findTiledTransposes(fusion, nest.shape, e.target);
    Value firstRow = at[nest.across].base;
    SmallVector<Indices, 0> places;
    at.back() = {first, width > 1 ? 1 : 0, nullptr, false};
    for (int64_t i = 0; i < height; ++i) {
      at[nest.across] = {e.binary("add", firstRow, e.i64(i)), 0, nullptr, false};
      places.push_back(at);
    }
    at[nest.across] = {firstRow, height > 1 ? 1 : 0, nullptr, false};
    for (TransposeOp transpose : transposed->transposes) {
      SmallVector<Value> registers;
      for (int64_t i = 0; i < nest.lanes; ++i) {
        // A register whose lanes are all unused may have any contents.
        if (i < width) {
          at.back() = {e.binary("add", first, e.i64(i)), 0, nullptr, false};
          // If there is one row, eval() is called with 0 lanes and returns a scalar.
          int64_t lanes = height > 1 ? height : 0;
          // eval() returns a scalar if the index is the same for all lanes; splat() makes it a
          // vector.
          Value column = e.splat(e.eval(transpose, at, lanes), lanes);
          registers.push_back(resizeVector(b, loc, column, nest.lanes));
        } else {
          registers.push_back(registers.front());
        }
      }
      registers = transposeRegisters(b, loc, registers);
      for (auto [place, element] : llvm::zip(places, registers))
        e.bindAt(transpose, place, width > 1 ? width : 0, resizeVector(b, loc, element, width));
    }
    for (const Indices &place : places)
      storeAll(nest.stores, place, width > 1 ? width : 0);
    e.popScope();
  }

  Value equals(Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, e.i64(y));
  }

  /// Emits an scf.if with `body`, or only `body` if `always` is set.
  void when(Value condition, bool always, function_ref<void()> body) {
    if (always)
      return body();
    auto branch = scf::IfOp::create(b, loc, condition, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    e.pushScope();
    body();
    e.popScope();
  }

  /// Returns the coordinates of the row that a work unit computes, and the index of the unit's
  /// block in the row.
  std::pair<Indices, Value> coordinates(const LoopNest &nest, Value unit) {
    auto found = coordinates(ArrayRef<int64_t>(nest.shape).drop_back(), nest.blocks, unit);
    found.first.emplace_back();
    return found;
  }
  std::pair<Indices, Value> coordinates(ArrayRef<int64_t> shape, int64_t blocks, Value unit) {
    Indices at(shape.size());
    Value rest = unit, block = e.i64(0);
    auto take = [&](int64_t size, bool last) {
      if (size == 1)
        return e.i64(0);
      if (last)
        return rest;
      Value r = e.binary("rem", rest, e.i64(size));
      rest = e.binary("div", rest, e.i64(size));
      return r;
    };
    block = take(blocks, multiplyDims(shape) == 1);
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d)
      at[d] = {take(shape[d], multiplyDims(shape.take_front(d)) == 1), 0, nullptr, false};
    return {at, block};
  }

  void unit(LoopNest &nest, Value unit) {
    if (nest.within > 0)
      return rowsOfUnit(nest, unit);
    int64_t outer = int64_t(nest.shape.size()) - 1;
    Indices at;
    Value block;
    std::tie(at, block) = coordinates(nest, unit);
    // The coordinates are emitted before the loop over the row, so that values cached for these
    // coordinates are found again in the loop.
    for (int64_t d = 0; d < outer; ++d)
      at[d].base = placed(nest, size_t(d), at[d].base);

    // Values that do not depend on the position in the row, such as reductions, are computed before
    // the loop over the row.
    e.forgetRows();
    Value scratch = frame.scratch();
    int64_t offset = 0;
    for (Value value : findRowsToCache(fusion)) {
      // Only values with the shape of this nest are saved in scratch memory.
      if (tensorType(value).getShape() == ArrayRef<int64_t>(nest.shape) && !nest.scalarRow)
        e.keepRow(value, LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                                             ArrayRef<LLVM::GEPArg>{int32_t(offset)}));
      offset += getRowScratchBytes(value);
    }
    e.prefetchRows(rowsAhead(nest));
    hoistRow(nest, at);
    at[outer] = e.constant(0);
    storeAll(nest.rowStores, at, 0);
    walkRow(nest, at, block);
  }

  /// Emits the values that do not depend on the position in the row, before the loop over the row.
  void hoistRow(LoopNest &nest, Indices at) {
    at.back() = unknown();
    for (auto &store : nest.stores)
      e.hoist(store.value, padTo(at, store.value));
  }
  static LaneIndex unknown() { return {nullptr, 0, nullptr, true}; }

  /// Emits a work unit of several rows that share a reduction. The reduction is computed before the
  /// rows.
  void rowsOfUnit(LoopNest &nest, Value unit) {
    size_t outer = nest.shape.size() - 1 - size_t(nest.within);
    ArrayRef<int64_t> shape = nest.shape;
    Indices at = coordinates(shape.take_front(outer), 1, unit).first;
    at.resize(shape.size(), unknown());
    e.forgetRows();
    e.prefetchRows({});
    hoistRow(nest, at);
    e.range(e.i64(0), e.i64(nest.rowsWithin()), 1, {}, [&](Value which, ValueRange) {
      llvm::copy(coordinates(shape.slice(outer, size_t(nest.within)), 1, which).first,
                 at.begin() + outer);
      hoistRow(nest, at);
      walkRow(nest, at, e.i64(0));
      return SmallVector<Value>();
    });
  }

  /// Emits the loop over the elements of a row, or of one block of the row.
  void walkRow(LoopNest &nest, Indices at, Value block) {
    int64_t row = nest.shape.back(), outer = int64_t(nest.shape.size()) - 1;
    e.beginWalk();
    Value start = e.binary("mul", block, e.i64(nest.block));
    if (nest.scalarRow) {
      Value stop = e.binary("min", e.binary("add", start, e.i64(nest.block)), e.i64(row));
      rowLoop(nest, at, start, stop, 1, 0);
      return;
    }
    int64_t tail = row % nest.lanes;
    Value whole = e.i64(row - tail);
    Value stop = e.binary("min", e.binary("add", start, e.i64(nest.block)), whole);
    if (row >= nest.lanes)
      rowLoop(nest, at, start, stop, nest.lanes, nest.lanes);
    if (tail == 0)
      return;
    auto emitTail = [&] {
      e.pushScope();
      at[outer] = {e.i64(row - tail), tail > 1 ? 1 : 0, nullptr, false};
      storeAll(nest.stores, inRow(nest, at), tail > 1 ? tail : 0);
      e.popScope();
    };
    if (nest.blocks == 1)
      return emitTail();
    when(equals(block, nest.blocks - 1), false, emitTail);
  }

  /// Returns how to prefetch rows that are read more than once. The first pass over a row is memory
  /// bound, and the following passes are compute bound. Therefore the second pass prefetches the
  /// next rows.
  PrefetchParameters rowsAhead(const LoopNest &nest) {
    constexpr int64_t nearest = 512, farthest = 1 << 16, largest = 1 << 18;
    constexpr int64_t rowsTogether = 4, perLine = 64;
    int64_t row = nest.shape.back(), rows = multiplyDims(nest.shape) / std::max<int64_t>(1, row);
    if (nest.scalarRow || nest.blocks > 1 || row > farthest || rows < 2 ||
        multiplyDims(nest.shape) < largest)
      return {};
    PrefetchParameters how{.elements = multiplyDims(nest.shape), .walk = 2};
    if (row % perLine == 0 && row >= nearest / 2 && rowsTogether * row <= farthest)
      how.rows = rowsTogether, how.row = row;
    else
      how.ahead = (nearest + row - 1) / row * row;
    return how;
  }

  void rowLoop(LoopNest &nest, Indices at, Value start, Value stop, int64_t step, int64_t lanes) {
    if (step == nest.shape.back() && nest.blocks == 1) {
      // One vector covers the whole row, so that no loop is needed.
      at.back() = {e.i64(0), lanes > 1 ? 1 : 0, nullptr, false};
      storeAll(nest.stores, inRow(nest, at), lanes > 1 ? lanes : 0);
      return;
    }
    auto loop = scf::ForOp::create(b, loc, start, stop, e.i64(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    e.pushScope();
    at.back() = {loop.getInductionVar(), lanes > 1 ? 1 : 0, nullptr, false};
    storeAll(nest.stores, inRow(nest, at), lanes > 1 ? lanes : 0);
    e.popScope();
  }

  /// Returns the index at which `value` is evaluated. A 0-d value has an empty index, although its
  /// nest has a row of one element.
  Indices padTo(const Indices &at, Value value) {
    return tensorType(value).getRank() == 0 ? Indices{} : at;
  }

  /// Converts a coordinate of the nest to a coordinate of the results, which is larger by the
  /// operand's offset if the nest computes an operand of a concatenation along `dimension`.
  Value placed(const LoopNest &nest, size_t dimension, Value base) {
    ConcatOp joined = nest.joined;
    return joined && joined.getAxis() == dimension ? e.binary("add", base, partOffset) : base;
  }
  /// Converts an index of the nest to an index of the results. All coordinates but the position in
  /// the row must already be converted.
  Indices inRow(const LoopNest &nest, Indices at) {
    at.back().base = placed(nest, at.size() - 1, at.back().base);
    return at;
  }

  /// Evaluates all stored values at an index, and then stores them. No store may precede an
  /// evaluation, because an output may share the buffer of an input (Inplace.h).
  void storeAll(ArrayRef<LoopNest::Store> stores, const Indices &at, int64_t lanes) {
    storeEach(stores, at, evalAll(stores, at, lanes), lanes);
  }
  SmallVector<Value> evalAll(ArrayRef<LoopNest::Store> stores, const Indices &at, int64_t lanes) {
    return llvm::map_to_vector(stores, [&](const LoopNest::Store &store) {
      return e.eval(store.value, padTo(at, store.value), lanes);
    });
  }
  void storeEach(ArrayRef<LoopNest::Store> stores, const Indices &at, ArrayRef<Value> elements,
                 int64_t lanes) {
    for (auto [store, element] : llvm::zip(stores, elements))
      storeAt(store, at, element, lanes);
  }

  void storeAt(const LoopNest::Store &store, const Indices &at, Value element, int64_t lanes) {
    Indices where = padTo(at, store.value);
    auto yield = fusion.getBody().front().getTerminator();
    auto type = tensorType(yield->getOperand(store.output));
    if (store.axis >= 0) {
      LaneIndex &x = where[store.axis];
      x.base = e.binary("add", x.base, partOffset);
    }
    e.store(type, outputs[store.output], where, element, lanes);
  }

  OpBuilder &b;
  Emitter &e;
  KernelFrame &frame;
  Location loc;
  FusionOp fusion;
  ArrayRef<Value> outputs;
  Value partOffset; ///< offset of the current operand along the concatenation's axis
};

} // namespace

LogicalResult emitKernel(OpBuilder &b, FusionOp fusion, StringRef name, const Target &target) {
  std::string why;
  if (!canEmitKernel(fusion, &why))
    return fusion.emitError(why);
  if (auto split = planSplit(fusion, target); split && split->isWhole())
    return emitSplitKernel(b, fusion, name, *split, target);
  KernelFrame frame(b, fusion.getLoc(), name);
  Emitter e(b, fusion.getLoc(), frame.context(), target);
  SmallVector<Value> inputs, outputs;
  SmallVector<TypedBuffer> typed;
  for (Value argument : fusion.getBody().getArguments()) {
    inputs.push_back(frame.nextBuffer());
    e.bindBuffer(argument, inputs.back());
  }
  std::vector<LoopNest> nests = planNests(fusion, target);
  int64_t starts = 0;
  for (const LoopNest &nest : nests)
    starts = nest.joinsRows() ? std::gcd(starts, nest.parts.starts()) : starts;
  for (Value value : fusion.getBody().front().getTerminator()->getOperands()) {
    outputs.push_back(frame.nextBuffer());
    typed.push_back({tensorType(value), outputs.back(), starts});
  }
  KernelEmitter emitter(b, e, frame, fusion, outputs);
  emitNonTemporalStores(e, inputs, typed, [&] { emitter.run(nests); });
  frame.finish();
  return success();
}

} // namespace dlc::cpu
