//===- Tiles.cpp - products in tiles, on tensor cores where types allow ----===//
//
// Matrix products and convolutions alike: a result element stands in a batch, a row and a column;
// one operand depends on the row, the other on the column. Blocks make tiles of the result, and
// walk the contracted dimension with two stages of shared memory: what lies in memory in vectors is
// copied there asynchronously, all else is pulled into registers first. Convolutions thus read
// their windows in place. Few tiles are cut along the contracted dimension into parts, summed in
// order.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/TileShape.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

class TileWriter {
public:
  TileWriter(Planner &plan, Operation *op, ArrayRef<Target> targets)
      : plan(plan), op(op), targets(targets), g(geometryOf(op)), s(chooseTiles(plan, op, g)),
        frame(plan), e(frame.e), t(frame.t) {}

  /// Returns the buffer of partial results where there are several parts.
  std::optional<Buffer> write() {
    std::optional<Buffer> partial;
    if (s.parts > 1)
      partial = plan.scratch(s.accumulator, g.results * s.parts);
    int64_t tiles = s.rowTiles * s.columnTiles;
    Expr block = e.variable("block", "blockIdx.x", 0, tiles * g.batches - 1);
    Expr tile = e.x.remainder(block, tiles);
    rowStart = e.variable("row", (e.x.remainder(tile, s.rowTiles) * s.rows).text(), 0,
                          (s.rowTiles - 1) * s.rows);
    columnStart = e.variable("column", (e.x.divide(tile, s.rowTiles) * s.columns).text(), 0,
                             (s.columnTiles - 1) * s.columns);
    batch = e.variable("batch", e.x.divide(block, tiles).text(), 0, g.batches - 1);
    begin = s.parts > 1 ? e.variable("begin", "blockIdx.y * " + std::to_string(s.chunk), 0,
                                     (s.parts - 1) * s.chunk)
                        : Expr(0);
    end = s.parts > 1 ? e.let(e.indexType, "dk::smallest::of<" + e.indexType + ">(" +
                                               (begin + Expr(s.chunk)).text() + ", " +
                                               std::to_string(g.contracted) + ")")
                      : std::to_string(g.contracted);
    thread = e.variable("t", "threadIdx.x", 0, s.threads - 1);
    sides[0] = makeSide(true);
    sides[1] = makeSide(false);
    for (Side &side : sides)
      t.line("__shared__ __align__(16) " + s.sharedName + " " + side.shared + "[2][" +
             Twine(side.sharedElements()) + "];");
    declareAccumulators();
    for (Side &side : sides)
      fetch(side, begin, "0", true);
    t.line("int stage = 0;");
    std::string k = t.fresh("k");
    t.open("for (" + e.indexType + " " + k + " = " + begin.text() + "; " + k + " < " + end + "; " +
           k + " += " + Twine(s.depth) + ", stage ^= 1)");
    e.pushScope();
    if (sides[0].async || sides[1].async)
      t.line("dk::copies_done();");
    t.line("__syncthreads();");
    Expr at = e.freshAtom(k, 0, std::max<int64_t>(0, g.contracted - 1));
    Expr next = at + Expr(s.depth);
    next = e.variable("next", next.text(), 0, g.contracted + s.depth);
    t.line("const bool more = " + next.text() + " < " + end + ";");
    for (Side &side : sides)
      declareStaged(side);
    t.open("if (more)");
    e.pushScope();
    for (Side &side : sides)
      fetch(side, next, "stage ^ 1", false);
    e.popScope();
    t.close();
    s.tensorCores ? multiplyOnTensorCores() : multiply();
    if (!sides[0].async || !sides[1].async) {
      t.open("if (more)");
      for (Side &side : sides)
        if (!side.async)
          putStaged(side, "stage ^ 1");
      t.close();
    }
    e.popScope();
    t.close();
    forEachResult([&](const Expr &row, const Expr &column, const std::string &total) {
      finish(row, column, total, partial);
    });
    plan.kernel.tiles |= s.tensorCores || sides[0].async || sides[1].async;
    frame.finish({uint32_t(tiles * g.batches), uint32_t(s.parts), 1}, {uint32_t(s.threads), 1, 1});
    if (partial)
      partial->parts = s.parts;
    return partial;
  }

private:
  /// One operand's tile in shared memory.
  struct Side {
    bool rows; ///< depends on the result's rows
    unsigned operand;
    std::string shared, staged;
    int64_t extent;  ///< of the tile
    int64_t limit;   ///< of the result in this direction
    int64_t pitch;   ///< elements between lines of shared memory
    bool depthFirst; ///< neighbours in shared memory are neighbours along the contracted dimension
    bool async = false;
    int64_t width = 1, perThread = 1;
    int64_t depth;
    int64_t sharedElements() const { return depthFirst ? extent * pitch : depth * pitch; }
  };

  SmallVector<Read, 2> termAt(const Side &side, const Expr &along, const Expr &k) {
    Indices at = g.indexOf(e, batch, side.rows ? along : Expr(0), side.rows ? Expr(0) : along);
    return e.readsOf(op, at, e.x.unravel(foldedExtents(op), k));
  }

  Side makeSide(bool rows) {
    Side side;
    side.rows = rows;
    side.operand = rows ? g.rowOperand : 1 - g.rowOperand;
    side.shared = rows ? "tile_a" : "tile_b";
    side.staged = rows ? "staged_a" : "staged_b";
    side.extent = rows ? s.rows : s.columns;
    side.limit = rows ? g.rows : g.columns;
    side.depth = s.depth;
    side.depthFirst = false;
    Value value = op->getOperand(side.operand);
    // Which neighbours lie together in memory?
    int64_t width = 16 / s.sharedBytes;
    for (bool depth : {true, false}) {
      Expr lane = e.freshAtom("lane", 0, width - 1);
      Expr group = e.freshAtom("group", 0,
                               std::max<int64_t>(1, (depth ? g.contracted : side.limit) / width));
      Expr other =
          e.freshAtom("other", 0, std::max<int64_t>(1, depth ? side.limit : g.contracted) - 1);
      Expr vector = group * width + lane;
      auto reads = depth ? termAt(side, other, vector) : termAt(side, vector, other);
      auto found = e.place(value, reads[side.operand].at);
      if (!found)
        continue;
      const Atom *atom = lane.terms[0].first;
      Expr rest = found->second - lane;
      bool neighbours = found->second.coefficient(atom) == 1 && !rest.uses(atom);
      if (neighbours)
        side.depthFirst = depth;
      bool even = rest.constant % width == 0 &&
                  llvm::all_of(rest.terms, [&](auto x) { return x.second % width == 0; }) &&
                  (depth ? g.contracted : side.limit) % width == 0;
      bool plain = reads[side.operand].guards.empty() &&
                   storageName(found->first.element) == s.sharedName &&
                   found->first.alignment % 16 == 0;
      if (neighbours && even && plain && s.tensorCores) {
        side.async = true;
        side.width = width;
      }
      if (neighbours)
        break;
    }
    if (!s.tensorCores)
      fetchAlongDepth[rows] = side.depthFirst, side.depthFirst = false;
    else
      fetchAlongDepth[rows] = side.depthFirst;
    int64_t pad = s.sharedBytes == 2 ? 8 : side.depthFirst ? 4 : s.tensorCores ? 8 : 4;
    if (s.sharedBytes == 8)
      pad = 2;
    side.pitch = (side.depthFirst ? s.depth : side.extent) + pad;
    side.perThread = side.extent * s.depth / side.width / s.threads;
    assert(side.perThread * side.width * s.threads == side.extent * s.depth);
    return side;
  }

  Expr sharedIndex(const Side &side, const Expr &along, const Expr &k) {
    return side.depthFirst ? along * side.pitch + k : k * side.pitch + along;
  }

  /// Which element of the tile a thread has at its step: (along, k).
  std::pair<Expr, Expr> elementOfThread(const Side &side, const Expr &step) {
    Expr vector = step * s.threads + thread;
    bool depth = side.async ? side.depthFirst : fetchAlongDepth[side.rows];
    int64_t line = (depth ? s.depth : side.extent) / side.width;
    Expr within = e.x.remainder(vector, line) * side.width, outer = e.x.divide(vector, line);
    return depth ? std::pair(outer, within) : std::pair(within, outer);
  }

  void declareStaged(const Side &side) {
    if (!side.async)
      t.line(s.sharedName + " " + side.staged + "[" + Twine(side.perThread) + "];");
  }

  void forSteps(const Side &side, function_ref<void(Expr)> body) {
    if (side.perThread == 1)
      body(0);
    else
      e.loop("0", side.perThread, "1", body, true);
  }

  void fetch(Side &side, const Expr &k, const std::string &stage, bool first) {
    if (first && !side.async) {
      t.open("");
      e.pushScope();
      declareStaged(side);
    }
    forSteps(side, [&](Expr step) {
      auto [along, within] = elementOfThread(side, step);
      Expr start = side.rows ? rowStart : columnStart;
      Expr wanted = start + along, place = k + within;
      SmallVector<std::string> inside;
      bool wholeTiles = side.limit % side.extent == 0;
      if (!wholeTiles)
        inside.push_back(wanted.text() + " < " + std::to_string(side.limit));
      if (s.parts > 1 || g.contracted % s.depth != 0)
        inside.push_back(place.text() + " < " + end);
      Value value = op->getOperand(side.operand);
      if (side.async) {
        auto found = e.place(value, termAt(side, wanted, place)[side.operand].at);
        e.used.insert(found->first.name);
        t.line("dk::copy_async(&" + side.shared + "[" + stage + "][" +
               sharedIndex(side, along, within).text() + "], " + found->first.name + " + " +
               found->second.text() + ", " +
               (inside.empty() ? "true" : llvm::join(inside, " && ")) + ");");
        return;
      }
      // In range from here on, which the conditions see to.
      std::string slot = side.staged + "[" + step.text() + "]";
      t.line(slot + " = dk::as<" + s.sharedName + ">(" + literal(s.computed, 0.0) + ");");
      auto read = [&] {
        Expr row = e.variable("i", wanted.text(), 0, side.limit - 1);
        Expr depth = e.variable("d", place.text(), 0, g.contracted - 1);
        Read read = termAt(side, row, depth)[side.operand];
        auto element = [&] {
          t.line(slot + " = dk::as<" + s.sharedName + ">(" + e.eval(value, read.at) + ");");
        };
        side.operand == 0 ? guarded(e.conditionsOf(read), element) : element();
      };
      guarded(inside, read);
    });
    if (first && !side.async) {
      putStaged(side, stage);
      e.popScope();
      t.close();
    }
  }

  void guarded(const SmallVectorImpl<std::string> &conditions, function_ref<void()> body) {
    t.open(conditions.empty() ? Twine("") : "if (" + Twine(llvm::join(conditions, " && ")) + ")");
    e.pushScope();
    body();
    e.popScope();
    t.close();
  }

  void putStaged(const Side &side, const std::string &stage) {
    forSteps(side, [&](Expr step) {
      auto [along, within] = elementOfThread(side, step);
      t.line(side.shared + "[" + stage + "][" + sharedIndex(side, along, within).text() +
             "] = " + side.staged + "[" + step.text() + "];");
    });
  }

  void declareAccumulators() {
    std::string type = computeName(s.accumulator);
    if (s.tensorCores) {
      t.line("const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;");
      t.line("const int warp_row = warp % " + Twine(s.warpRows) + " * " + Twine(s.warpTileRows) +
             ", warp_column = warp / " + Twine(s.warpRows) + " * " + Twine(s.warpTileColumns) +
             ";");
      t.line("float total[" + Twine(s.warpTileRows / 16) + "][" + Twine(s.warpTileColumns / 8) +
             "][4] = {};");
      return;
    }
    t.line("const int thread_row = threadIdx.x / 16 * " + Twine(s.micro) +
           ", thread_column = threadIdx.x % 16 * " + Twine(s.micro) + ";");
    t.line(type + " total[" + Twine(s.rows / 16) + "][" + Twine(s.columns / 16) + "] = {};");
  }

  void multiplyOnTensorCores() {
    int64_t m = s.warpTileRows / 16, n = s.warpTileColumns / 8;
    t.line("#pragma unroll");
    t.open("for (int kk = 0; kk < " + Twine(s.depth) + "; kk += " + Twine(s.step) + ")");
    t.line("unsigned a[" + Twine(m) + "][4], b[" + Twine(n) + "][2];");
    auto fragment = [&](const Side &side, const char *into, bool a, int64_t count) {
      std::string order = side.depthFirst ? "true" : "false", pitch = std::to_string(side.pitch);
      std::string from = std::string(a ? "warp_row" : "warp_column");
      int64_t each = a || s.sharedBytes == 4 ? 1 : 2;
      t.line("#pragma unroll");
      t.line("for (int i = 0; i < " + Twine(count / each) +
             "; ++i) dk::" + (a ? "rows" : "columns") + "_of_" +
             (s.sharedBytes == 2 ? "16" : "32") + "<" + order + ", " + pitch + ">(" + into + "[" +
             (each == 2 ? "2 * " : "") + "i]" + ", " + side.shared + "[stage], " + from +
             " + i * " + Twine(a ? 16 : 8 * each) + ", kk, lane);");
    };
    fragment(sides[0], "a", true, m);
    fragment(sides[1], "b", false, n);
    t.line("#pragma unroll");
    t.line("for (int i = 0; i < " + Twine(m) + "; ++i)");
    t.line("#pragma unroll");
    t.line("  for (int j = 0; j < " + Twine(n) + "; ++j) dk::mma_" + s.mma +
           "(total[i][j], a[i], b[j]);");
    t.close();
  }

  void multiply() {
    std::string type = computeName(s.accumulator);
    int64_t m = s.rows / 16, n = s.columns / 16, half = s.micro;
    t.line("#pragma unroll" + Twine(s.depth > 8 ? " 4" : ""));
    t.open("for (int kk = 0; kk < " + Twine(s.depth) + "; ++kk)");
    t.line(type + " a[" + Twine(m) + "], b[" + Twine(n) + "];");
    auto line = [&](const char *into, const Side &side, const char *from, int64_t count) {
      t.line("#pragma unroll");
      t.line("for (int i = 0; i < " + Twine(count) + "; ++i) " + into + "[i] = dk::load(" +
             side.shared + "[stage][kk * " + Twine(side.pitch) + " + " + from + " + i / " +
             Twine(half) + " * " + Twine(16 * half) + " + i % " + Twine(half) + "]);");
    };
    line("a", sides[0], "thread_row", m);
    line("b", sides[1], "thread_column", n);
    t.line("#pragma unroll");
    t.line("for (int i = 0; i < " + Twine(m) + "; ++i)");
    t.line("#pragma unroll");
    t.line("  for (int j = 0; j < " + Twine(n) + "; ++j) total[i][j] " +
           (isFloat(s.accumulator) ? "+= a[i] * b[j];"
                                   : "= dk::add(total[i][j], dk::mul(a[i], b[j]));"));
    t.close();
  }

  void forEachResult(function_ref<void(const Expr &, const Expr &, const std::string &)> body) {
    auto unrolled = [&](int64_t count, function_ref<void(Expr)> inner) {
      count == 1 ? inner(0) : e.loop("0", count, "1", inner, true);
    };
    if (!s.tensorCores) {
      Expr row = e.freshAtom("thread_row", 0, 15 * s.micro);
      Expr column = e.freshAtom("thread_column", 0, 15 * s.micro);
      auto spread = [&](const Expr &i) {
        return e.x.divide(i, s.micro) * (16 * s.micro) + e.x.remainder(i, s.micro);
      };
      unrolled(s.rows / 16, [&](Expr i) {
        unrolled(s.columns / 16, [&](Expr j) {
          body(rowStart + row + spread(i), columnStart + column + spread(j),
               "total[" + i.text() + "][" + j.text() + "]");
        });
      });
      return;
    }
    Expr row = e.variable("r", "warp_row + lane / 4", 0, s.rows - 1);
    Expr column = e.variable("c", "warp_column + lane % 4 * 2", 0, s.columns - 1);
    unrolled(s.warpTileRows / 16, [&](Expr i) {
      unrolled(2, [&](Expr half) {
        unrolled(s.warpTileColumns / 8, [&](Expr j) {
          unrolled(2, [&](Expr one) {
            body(rowStart + row + i * 16 + half * 8, columnStart + column + j * 8 + one,
                 "total[" + i.text() + "][" + j.text() + "][" + (half * 2 + one).text() + "]");
          });
        });
      });
    });
  }

  void finish(const Expr &row, const Expr &column, const std::string &total,
              const std::optional<Buffer> &partial) {
    SmallVector<std::string> inside;
    if (g.rows % s.rows != 0)
      inside.push_back(row.text() + " < " + std::to_string(g.rows));
    if (g.columns % s.columns != 0)
      inside.push_back(column.text() + " < " + std::to_string(g.columns));
    guarded(inside, [&] {
      Expr i = e.variable("i", row.text(), 0, g.rows - 1);
      Expr j = e.variable("j", column.text(), 0, g.columns - 1);
      Indices at = g.indexOf(e, batch, i, j);
      Expr offset = e.x.linear(shapeOf(op->getResult(0)), at);
      if (partial) {
        Expr part = e.variable("part", "blockIdx.y", 0, s.parts - 1);
        e.store(*partial, part * g.results + offset, total);
        return;
      }
      std::string value = total;
      if (Value bias = biasOf(op))
        value = e.let(computeName(s.accumulator), Emitter::combine(ReduceKind::sum, s.accumulator,
                                                                   total, e.eval(bias, {at[1]})));
      e.seedAll(op->getResult(0), value);
      SmallVector<std::string> elements;
      // Every target's elements are in the order of the product's.
      for (const Target &target : targets)
        elements.push_back(e.eval(
            target.value, target.value == op->getResult(0)
                              ? at
                              : e.x.reshape(shapeOf(op->getResult(0)), shapeOf(target.value), at)));
      for (auto [target, element] : llvm::zip(targets, elements))
        e.store(target.buffer, offset, element);
    });
  }

  Planner &plan;
  Operation *op;
  ArrayRef<Target> targets;
  Geometry g;
  TileShape s;
  Frame frame;
  Emitter &e;
  Text &t;
  Side sides[2];
  bool fetchAlongDepth[2] = {false, false};
  Expr rowStart, columnStart, batch, begin, thread;
  std::string end;
};

} // namespace

void launchTiles(Planner &plan, Operation *op, ArrayRef<Target> targets) {
  auto partial = TileWriter(plan, op, targets).write();
  if (!partial)
    return;
  plan.known[op->getResult(0)] = *partial;
  launchMap(plan, targets);
}

} // namespace dlc::cuda
