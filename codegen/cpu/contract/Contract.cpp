//===- Contract.cpp - emits the code of a generated matrix multiplication ---===//
#include "codegen/cpu/contract/ContractBuilder.h"

using namespace mlir;

namespace dlc::cpu {
namespace {

/// Number of sequential streams in which the kernel reads a panel of B that is read once, from
/// memory. Each stream has its own hardware prefetcher, and a single stream does not saturate the
/// memory bandwidth.
constexpr int64_t kStreams = 4;
/// Minimum number of rows in each stream of a panel. Shorter panels are read in a single stream.
constexpr int64_t kStreamRows = 64;
/// Number of rows of an unpacked B that a GEMV (one row of A) processes in one pass over the
/// accumulators.
constexpr int64_t kRowsTogether = 8;
/// Software prefetch distance in bytes, in each stream of a panel.
constexpr int64_t kPrefetchBytes = 1024;

class ContractEmitter : public ContractBuilder {
public:
  ContractEmitter(OpBuilder &b, Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan, const Epilogue &epilogue)
      : ContractBuilder(b, loc, operands, spec, plan), epilogue(epilogue) {}

  void emit();

private:
  //===--------------------------------------------------------------------===//
  // Multiplication of one block of rows by one panel.
  //===--------------------------------------------------------------------===//

  /// Multiplies a block of `height` rows of A by a panel of `width` columns, for the steps along K
  /// in [from, to), and adds the products to `sums`. `sums` has the accumulator vectors of the
  /// block, in row-major order. `from` is a multiple of four.
  void multiplyBlock(MatrixView a, MatrixView panel, int64_t height, int64_t width, Value from,
                     Value to, SmallVectorImpl<Value> &sums) {
    const int64_t steps = plan.steps;
    int64_t vectors = (width + plan.lanes - 1) / plan.lanes;
    // Whether vector loads may read past the last column of B: packed panels are padded.
    bool whole = spec.packedB || plan.packsB;
    int64_t count = height * vectors;
    // With few accumulators, the loop would be bound by the FMA latency. Therefore several sets of
    // accumulators alternate over k.
    int64_t sets = 1;
    while (sets < 4 && sets * count < 8)
      sets *= 2;
    int64_t unroll = std::max<int64_t>(sets, count <= 8 ? 4 : count <= 16 ? 2 : 1);
    bool readOnce = spec.packedB && plan.blocks == 1;
    int64_t streams = readOnce && steps >= kStreams * kStreamRows ? kStreams : 1;
    int64_t distance = steps / streams; // number of steps along K in each stream

    auto step = [&](Value k, int64_t ahead, MutableArrayRef<Value> sums) {
      Value rowB =
          at(at(panel.base, panel.element, mul(k, panel.row)), panel.element, ahead * panel.row);
      Value columnA = at(at(a.base, a.element, mul(k, a.column)), a.element, ahead * a.column);
      if (readOnce)
        for (int64_t j = 0; j < panel.row * bytes(panel.element); j += 64)
          LLVM::Prefetch::create(b, loc, at(rowB, b.getI8Type(), kPrefetchBytes + j), /*rw=*/0,
                                 /*hint=*/3, /*cache=*/1);
      SmallVector<Value> right;
      for (int64_t j = 0; j < vectors; ++j)
        right.push_back(loadRight(at(rowB, panel.element, j * plan.lanes * plan.groupSize),
                                  panel.element, whole ? plan.lanes : width - j * plan.lanes));
      for (int64_t i = 0; i < height; ++i) {
        Value left = loadLeft(at(columnA, a.element, i * a.row), a.element);
        for (int64_t j = 0; j < vectors; ++j)
          sums[i * vectors + j] = multiplyAdd(left, right[j], sums[i * vectors + j]);
      }
    };
    // Emits a loop over k in [first, last) that processes `rows` consecutive steps along K in each
    // of `places` streams.
    auto rows = [&](Value first, Value last, int64_t rows, int64_t places, ValueRange before) {
      return loop(first, last, rows, before, [&](Value k, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < rows * places; ++i)
          step(k, i % rows + i / rows * distance,
               MutableArrayRef<Value>(next).slice(i % sets * count, count));
        return next;
      });
    };

    sums.resize(sets * count, zeroVector());
    // If a panel is read in several streams, one call processes all of K, and `from` and `to` are
    // ignored.
    Value first = streams > 1 ? i64(0) : from, last = streams > 1 ? i64(distance) : to;
    Value bodyEnd = last;
    if (steps % unroll || distance % unroll)
      bodyEnd = sub(last, rem(sub(last, first), unroll));
    SmallVector<Value> done = rows(first, bodyEnd, unroll, streams, sums);
    if (steps % unroll || distance % unroll)
      done = rows(bodyEnd, last, 1, streams, done);
    if (steps % streams)
      done = rows(i64(streams * distance), i64(steps), 1, 1, done);
    for (int64_t set = 1; set < sets; ++set)
      for (int64_t i = 0; i < count; ++i)
        done[i] = addSums(done[i], done[set * count + i]);
    sums.assign(done.begin(), done.begin() + count);
  }

  /// Returns the first `valid` lanes of `x`.
  Value leading(Value x, int64_t valid) {
    if (valid >= plan.lanes)
      return x;
    return vector::ShuffleOp::create(b, loc, x, x, llvm::to_vector(llvm::seq<int64_t>(0, valid)));
  }

  /// Calls `visit(address of the first element, index of the vector)` for each vector of a block of
  /// accumulators in scratch memory.
  void eachKept(Value row, int64_t height, int64_t width,
                llvm::function_ref<void(Value, int64_t)> visit) {
    Value sums = at(operands.scratch, b.getI8Type(), plan.scratchSums);
    Value first = at(sums, sum, mul(row, plan.panelColumns));
    int64_t vectors = (width + plan.lanes - 1) / plan.lanes;
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        visit(at(first, sum, i * plan.panelColumns + j * plan.lanes), i * vectors + j);
  }

  /// Subtracts the terms of the zero points from sums of byte products (see Contract.h).
  Value corrected(Value x, Value rowInChunk, MatrixView panel, int64_t column) {
    auto scaled = [&](Value y, Value by) {
      return arith::MulIOp::create(b, loc, y, by).getResult();
    };
    if (zeroA) {
      Value columnSums = at(panel.base, panel.element, plan.steps * panel.row);
      Value sums = loadElements(at(columnSums, sum, column), sum, plan.lanes);
      x = sub(x, scaled(sums, splat(zeroA)));
    }
    if (zeroB) {
      Value rowSum = loadElements(rowSumAt(rowInChunk), sum, 1);
      if (zeroA)
        rowSum = sub(rowSum, scaled(zeroA, arith::ConstantOp::create(
                                               b, loc, b.getI32IntegerAttr(int32_t(spec.k)))));
      x = sub(x, splat(scaled(zeroB, rowSum)));
    }
    return x;
  }

  /// Applies the epilogue to a vector of complete accumulators and stores the result to C at [row,
  /// column]. `valid`: number of lanes to store.
  void storeRow(Value x, Value offsetC, Value batch, Value row, Value column, int64_t valid) {
    x = leading(x, valid);
    if (epilogue)
      x = epilogue(b, loc, x, batch, row, column);
    Type element = getElementTypeOrSelf(x.getType());
    store(x, at(operands.c, element, add(offsetC, add(mul(row, spec.strideCm), column))));
  }

  //===--------------------------------------------------------------------===//
  // Loops over work units, chunks and panels.
  //===--------------------------------------------------------------------===//

  /// Returns the offset, in elements, of a batch element in an operand. `stride` selects the
  /// operand.
  Value batchOffset(Value batch, int64_t BatchDim::*stride) {
    Value offset = i64(0), rest = batch;
    for (const BatchDim &dim : llvm::reverse(spec.batch)) {
      offset = add(offset, mul(rem(rest, dim.size), dim.*stride));
      rest = div(rest, dim.size);
    }
    return offset;
  }

  Value firstRowOf(Value block) {
    int64_t base = spec.m / plan.blocks;
    return add(mul(block, base), least(block, i64(plan.tallBlocks())));
  }

  /// Rows of A (a chunk of row blocks) that one work unit multiplies by a panel of B.
  struct Chunk {
    /// View of A that starts at the chunk's first row if A is packed into scratch memory, and at
    /// row 0 otherwise.
    MatrixView a;
    Value batch, offsetC, firstBlock, lastBlock, firstRow, endRow;
  };

  /// Multiplies one row of A by a wide panel of an unpacked B (GEMV). The rows of the panel are
  /// contiguous, and the accumulators are in scratch memory.
  void rowByPanel(const Chunk &chunk, MatrixView panel, Value firstColumn, int64_t width) {
    Value sums = at(operands.scratch, b.getI8Type(), plan.scratchSums);
    int64_t whole = width / plan.lanes * plan.lanes;
    auto eachVector = [&](llvm::function_ref<void(Value, int64_t)> visit) {
      if (whole)
        loop(i64(0), i64(whole), plan.lanes, [&](Value column) { visit(column, plan.lanes); });
      if (whole < width)
        visit(i64(whole), width - whole);
    };
    auto addRows = [&](Value k, int64_t rows, bool isFirst) {
      Value columnA = at(chunk.a.base, chunk.a.element, mul(k, chunk.a.column));
      Value firstB = at(panel.base, panel.element, mul(k, panel.row));
      SmallVector<Value> left, right;
      for (int64_t i = 0; i < rows; ++i) {
        left.push_back(
            splat(loadScalar(at(columnA, chunk.a.element, i * chunk.a.column), chunk.a.element)));
        right.push_back(at(firstB, panel.element, i * panel.row));
      }
      eachVector([&](Value column, int64_t valid) {
        Value place = at(sums, sum, column);
        Value x = isFirst ? zeroVector() : loadVector(place, sum, plan.lanes);
        for (auto [a, row] : llvm::zip(left, right))
          x = multiplyAdd(a, loadVector(at(row, panel.element, column), panel.element, valid), x);
        store(x, place);
      });
    };
    int64_t first = std::min(kRowsTogether, spec.k), rest = (spec.k - first) % kRowsTogether;
    addRows(i64(0), first, true);
    if (first < spec.k - rest)
      loop(i64(first), i64(spec.k - rest), kRowsTogether,
           [&](Value k) { addRows(k, kRowsTogether, false); });
    if (rest)
      addRows(i64(spec.k - rest), rest, false);
    eachVector([&](Value column, int64_t valid) {
      storeRow(loadVector(at(sums, sum, column), sum, plan.lanes), chunk.offsetC, chunk.batch,
               chunk.firstRow, add(firstColumn, column), valid);
    });
  }

  void chunkByPanel(const Chunk &chunk, MatrixView panel, Value firstColumn, int64_t width) {
    int64_t base = spec.m / plan.blocks, tall = plan.tallBlocks();
    int64_t vectors = (width + plan.lanes - 1) / plan.lanes;
    bool split = plan.kBlocks() > 1;

    auto blocks = [&](Value first, Value last, int64_t height, Value fromK, Value toK) {
      loop(first, last, 1, [&](Value block) {
        Value row = firstRowOf(block);
        Value inChunk = sub(row, chunk.firstRow);
        MatrixView rows = chunk.a;
        rows.base = at(rows.base, rows.element, mul(plan.packsA ? inChunk : row, rows.row));
        // In a packed A, the rows of a block are interleaved: the pairs of all rows at one step
        // along K are adjacent.
        if (spec.packedA)
          rows.row = plan.groupSize, rows.column = height * plan.groupSize;
        SmallVector<Value> sums(height * vectors, zeroVector());
        if (split)
          eachKept(inChunk, height, width, [&](Value address, int64_t i) {
            sums[i] = loadVector(address, sum, plan.lanes);
          });
        multiplyBlock(rows, panel, height, width, fromK, toK, sums);
        if (plan.keepsSums)
          return eachKept(inChunk, height, width,
                          [&](Value address, int64_t i) { store(sums[i], address); });
        for (int64_t i = 0; i < height * vectors; ++i) {
          int64_t j = i % vectors * plan.lanes;
          Value x = sums[i];
          if (plan.multipliesBytes)
            x = corrected(x, add(inChunk, i64(i / vectors)), panel, j);
          storeRow(x, chunk.offsetC, chunk.batch, add(row, i64(i / vectors)),
                   add(firstColumn, i64(j)), width - j);
        }
      });
    };
    auto allBlocks = [&](Value fromK, Value toK) {
      if (tall)
        blocks(chunk.firstBlock, least(chunk.lastBlock, i64(tall)), base + 1, fromK, toK);
      if (tall < plan.blocks)
        blocks(most(chunk.firstBlock, i64(tall)), chunk.lastBlock, base, fromK, toK);
    };

    if (split) {
      loop(chunk.firstRow, chunk.endRow, 1, [&](Value row) {
        eachKept(sub(row, chunk.firstRow), 1, width,
                 [&](Value address, int64_t) { store(zeroVector(), address); });
      });
      loop(i64(0), i64(plan.steps), plan.kBlock,
           [&](Value k) { allBlocks(k, least(add(k, i64(plan.kBlock)), i64(plan.steps))); });
    } else {
      allBlocks(i64(0), i64(plan.steps));
    }
    // The epilogue may be long. A separate loop over rows emits its code once per vector of a row,
    // and not once for each row of a block.
    if (plan.keepsSums)
      loop(chunk.firstRow, chunk.endRow, 1, [&](Value row) {
        Value inChunk = sub(row, chunk.firstRow);
        eachKept(inChunk, 1, width, [&](Value address, int64_t j) {
          Value x = loadVector(address, sum, plan.lanes);
          if (plan.multipliesBytes)
            x = corrected(x, inChunk, panel, j * plan.lanes);
          storeRow(x, chunk.offsetC, chunk.batch, row, add(firstColumn, i64(j * plan.lanes)),
                   width - j * plan.lanes);
        });
      });
  }

  const Epilogue &epilogue;
};

void ContractEmitter::emit() {
  int64_t lastWidth = spec.n - (plan.panels - 1) * plan.panelColumns;
  int64_t wholePanels = lastWidth == plan.panelColumns ? plan.panels : plan.panels - 1;
  bool sharedB = spec.isShared(&BatchDim::strideB);

  // Work units are ordered by batch, chunk and panel, so that consecutive units use the same
  // chunk of A.
  Value firstRun = div(operands.begin, plan.panels);
  Value lastRun = div(add(operands.end, i64(plan.panels - 1)), plan.panels);
  loop(firstRun, lastRun, 1, [&](Value run) {
    Value runStart = mul(run, plan.panels);
    Value from = most(sub(operands.begin, runStart), i64(0));
    Value to = least(sub(operands.end, runStart), i64(plan.panels));
    Chunk chunk;
    chunk.batch = div(run, plan.chunks);
    chunk.offsetC = batchOffset(chunk.batch, &BatchDim::strideC);
    chunk.firstBlock = mul(rem(run, plan.chunks), plan.blocksPerChunk);
    chunk.lastBlock = least(add(chunk.firstBlock, i64(plan.blocksPerChunk)), i64(plan.blocks));
    chunk.firstRow = firstRowOf(chunk.firstBlock);
    chunk.endRow = firstRowOf(chunk.lastBlock);
    Type elementA = spec.sumsIntegers() ? getStorageType(spec.elementA) : spec.elementA,
         elementB = spec.sumsIntegers() ? getStorageType(spec.elementB) : spec.elementB;
    chunk.a = {at(operands.a, elementA, batchOffset(chunk.batch, &BatchDim::strideA)), elementA,
               spec.strideAm, spec.strideAk};
    if (spec.packedA)
      chunk.a = {operands.a, held, plan.steps * plan.groupSize, plan.groupSize};
    if (plan.packsA) {
      MatrixView rows = chunk.a;
      rows.base = at(rows.base, rows.element, mul(chunk.firstRow, rows.row));
      Value count = sub(chunk.endRow, chunk.firstRow);
      chunk.a = plan.multipliesBytes  ? packBytesA(rows, count)
                : spec.sumsIntegers() ? packIntegersA(rows, count)
                                      : packA(rows, count);
    }

    auto panelAt = [&](Value index, int64_t width) {
      Value column = mul(index, plan.panelColumns);
      MatrixView panel{operands.b, elementB, spec.strideBk, spec.strideBn};
      if (spec.packedB) {
        Value number = sharedB ? index : add(mul(chunk.batch, plan.panels), index);
        Type packed = elementB.isInteger(32) ? held : elementB;
        int64_t row = plan.panelColumns * plan.groupSize;
        int64_t columnSums = plan.multipliesBytes ? plan.panelColumns * bytes(sum) : 0;
        panel = {at(operands.b, packed, mul(number, plan.steps * row + columnSums)), packed, row,
                 1};
      } else {
        Value offset =
            add(batchOffset(chunk.batch, &BatchDim::strideB), mul(column, spec.strideBn));
        panel.base = at(operands.b, elementB, offset);
        if (plan.packsB) {
          Value scratch = at(operands.scratch, b.getI8Type(), plan.scratchB);
          panel = spec.sumsIntegers() ? packIntegersPanel(panel, width, scratch)
                                      : packPanel(panel, width, scratch);
        }
      }
      plan.walksRows ? rowByPanel(chunk, panel, column, width)
                     : chunkByPanel(chunk, panel, column, width);
    };
    if (wholePanels)
      loop(from, least(to, i64(wholePanels)), 1,
           [&](Value index) { panelAt(index, plan.panelColumns); });
    if (wholePanels < plan.panels)
      loop(most(from, i64(wholePanels)), to, 1, [&](Value index) { panelAt(index, lastWidth); });
  });
}

} // namespace

void emitContract(OpBuilder &b, Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan, const Epilogue &epilogue) {
  ContractEmitter(b, loc, operands, spec, plan, epilogue).emit();
}

} // namespace dlc::cpu
