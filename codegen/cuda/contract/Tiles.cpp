//===- Tiles.cpp - tiled contractions -------------------------------------===//
//
// Matmuls and convolutions are computed alike: a result element has a batch, a row and a column.
// One operand depends on the row, the other one on the column. Thread blocks compute tiles of the
// result and iterate over the contracted dimension in steps through shared memory. Convolutions
// thus read their windows in place (implicit GEMM). If there are few tiles, the contracted
// dimension is split into parts, which are summed in order (split-K). This file has the common code
// of all tiles and the tiles without tensor cores, which have two pipeline stages.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/contract/Tiles.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

void TiledKernelWriter::placeBlock() {
  int64_t tiles = s.rowTiles * s.columnTiles;
  if (s.parts > 1)
    partial = plan.scratch(s.accumulator, g.results * s.parts);
  Expr block = e.variable("block", "blockIdx.x", 0, tiles * g.batches - 1);
  Expr tile = e.x.remainder(block, tiles), row, column;
  // Tiles are ordered in bands of `band` rows of tiles, so that thread blocks that run concurrently
  // read the same operands.
  constexpr int64_t band = 16;
  if (s.rowTiles <= band) {
    row = e.variable("row", e.x.remainder(tile, s.rowTiles).text(), 0, s.rowTiles - 1);
    column = e.variable("column", e.x.divide(tile, s.rowTiles).text(), 0, s.columnTiles - 1);
  } else {
    Expr first = e.variable("band", (e.x.divide(tile, band * s.columnTiles) * band).text(), 0,
                            s.rowTiles - 1);
    Expr within = e.variable("within", e.x.remainder(tile, band * s.columnTiles).text(), 0,
                             band * s.columnTiles - 1);
    std::string size = std::to_string(band);
    if (s.rowTiles % band != 0)
      size = e.let(e.indexType, "dk::smallest::of<" + e.indexType + ">(" + size + ", " +
                                    (Expr(s.rowTiles) - first).text() + ")");
    row = e.variable("row", first.text() + " + " + within.text(true) + " % " + size, 0,
                     s.rowTiles - 1);
    column = e.variable("column", within.text(true) + " / " + size, 0, s.columnTiles - 1);
  }
  rowStart = row * s.rows;
  columnStart = column * s.columns;
  batch = e.variable("batch", e.x.divide(block, tiles).text(), 0, g.batches - 1);
  steps = (g.contracted + s.depth - 1) / s.depth;
  int64_t each = s.chunk / s.depth;
  begin = "0", end = std::to_string(steps);
  if (s.parts > 1) {
    begin = e.let("int", "blockIdx.y * " + std::to_string(each));
    end = e.let("int",
                "dk::smallest::of<int>(" + begin + " + " + std::to_string(each) + ", " + end + ")");
  }
  thread = e.variable("t", "threadIdx.x", 0, s.threads - 1);
}

SmallVector<OperandRead, 2> TiledKernelWriter::termAt(const OperandTile &side, const Expr &along,
                                                      const Expr &k) {
  Indices at = g.indexOf(e, batch, side.rows ? along : Expr(0), side.rows ? Expr(0) : along);
  return e.readsOf(op, at, g.foldedAt(e, k));
}

/// Returns whether the offset `place` increases by 1 from lane to lane.
static bool hasUnitLaneStride(const Expr &place, const Expr &lane) {
  const Atom *atom = lane.terms[0].first;
  return place.coefficient(atom) == 1 && !(place - lane).uses(atom);
}

/// Returns whether the elements of all lanes are contiguous and start at a multiple of the vector
/// width.
static bool isVectorAccess(const Expr &place, const Expr &lane, int64_t width) {
  Expr rest = place - lane;
  return width == 1 || (hasUnitLaneStride(place, lane) && rest.constant % width == 0 &&
                        llvm::all_of(rest.terms, [&](auto x) { return x.second % width == 0; }));
}

std::pair<Expr, OperandRead> TiledKernelWriter::probe(const OperandTile &side, bool depth,
                                                      int64_t width) {
  Expr lane = e.freshAtom("lane", 0, width - 1);
  Expr group =
      e.freshAtom("group", 0, std::max<int64_t>(1, (depth ? g.contracted : side.limit) / width));
  Expr other = e.freshAtom("other", 0, std::max<int64_t>(1, depth ? side.limit : g.contracted) - 1);
  Expr at = group * width + lane;
  return {lane, (depth ? termAt(side, other, at) : termAt(side, at, other))[side.operand]};
}

int64_t TiledKernelWriter::findCopyWidth(const OperandTile &side, bool depth) {
  Value value = multiplied(side.operand);
  for (int64_t width = 16 / s.sharedBytes; width * s.sharedBytes >= 4; width /= 2) {
    auto [lane, read] = probe(side, depth, width);
    auto place = e.place(value, read.at);
    bool whole = (depth ? g.contracted : side.limit) % width == 0 &&
                 place->first.alignment % (width * s.sharedBytes) == 0 &&
                 isVectorAccess(place->second, lane, width);
    bool split = width > 1 && llvm::any_of(read.guards, [&, &lane = lane](const IndexGuard &guard) {
                   return guard.place.uses(lane.terms[0].first);
                 });
    if (width == 1 || (whole && !split))
      return width;
  }
  return 0;
}

bool TiledKernelWriter::hasConstantStrides(const OperandTile &side, int64_t width) {
  if ((side.depthFirst ? g.contracted : side.limit) % width != 0)
    return false;
  auto [lane, read] = probe(side, side.depthFirst, width);
  Emitter::Reads reads;
  e.reads(multiplied(side.operand), read.at, reads);
  return llvm::all_of(reads, [&, &lane = lane](auto &from) {
    Expr place = e.x.linear(shapeOf(from.first), from.second);
    const Atom *atom = lane.terms[0].first;
    return !(place - lane * place.coefficient(atom)).uses(atom);
  });
}

void TiledKernelWriter::chooseAccess(OperandTile &side) {
  Value value = multiplied(side.operand);
  // Determines the dimension (contracted or not) along which the memory that is read is contiguous.
  // `vector` is the number of elements of a memory access of 16 bytes.
  int64_t vector = 16 / s.sharedBytes;
  // Sum of the element sizes of the buffers that are contiguous along the contracted dimension
  // (`together[true]`) and along the rows or columns (`together[false]`); and the number of
  // elements per asynchronous copy in each case.
  double together[2] = {0, 0};
  int64_t copied[2] = {0, 0};
  for (bool depth : {true, false}) {
    auto [lane, read] = probe(side, depth, vector);
    side.guarded |= !e.conditionsOf(read).empty();
    Emitter::Reads reads;
    e.reads(value, read.at, reads);
    for (auto &[from, at] : reads)
      if (hasUnitLaneStride(e.x.linear(shapeOf(from), at), lane))
        together[depth] += double(ref::elementBytes(elementOf(from)));
    auto found = e.place(value, read.at);
    if (found && getStorageTypeName(found->first.element) == side.type)
      copied[depth] = findCopyWidth(side, depth);
  }
  // Tensor cores require 8-bit operands that are contiguous along the contracted dimension.
  if (bytes)
    copied[false] = 0;
  side.async = copied[true] || copied[false];
  side.depthFirst = bytes || together[true] > together[false];
  side.transposed = bytes && !side.async && together[false] > together[true];
  if (side.async) {
    if (copied[true] != copied[false])
      side.depthFirst = copied[true] > copied[false];
    side.width = copied[side.depthFirst];
  }
}

OperandTile TiledKernelWriter::sideOf(bool rows) {
  OperandTile side;
  side.rows = rows;
  side.operand = rows ? g.rowOperand : 1 - g.rowOperand;
  side.shared = rows ? "tile_a" : "tile_b";
  side.staged = rows ? "staged_a" : "staged_b";
  side.extent = rows ? s.rows : s.columns;
  side.limit = rows ? g.rows : g.columns;
  side.type = bytes ? getStorageTypeName(elementOf(multiplied(side.operand))) : s.sharedName;
  if (bytes)
    side.zeroPoint = (*bytes)[side.operand].zeroPoint;
  chooseAccess(side);
  side.together = 16 / s.sharedBytes;
  while (side.together > side.width && !hasConstantStrides(side, side.together))
    side.together /= 2;
  // Even without a constant stride between adjacent elements, a thread processes vectors of four
  // elements. The elements of a vector have one index in common, which is computed only once.
  if (side.together == 1 && (side.depthFirst ? g.contracted : side.limit) % 4 == 0)
    side.together = 4;
  if (!side.async)
    side.width = side.together;
  // Returns the number of vectors in the operand's tile.
  auto vectors = [&] { return side.extent * s.depth / side.together; };
  // Halves the vector length until the tile has at least one vector for each thread.
  while (vectors() < s.threads)
    side.together /= 2;
  side.width = std::min(side.width, side.together);
  side.perThread = vectors() / s.threads;
  return side;
}

SmallVector<std::string> TiledKernelWriter::insideOf(const OperandTile &side, const Expr &along,
                                                     const Expr &k) {
  SmallVector<std::string> inside;
  if (side.limit % side.extent != 0)
    inside.push_back(along.text() + " < " + std::to_string(side.limit));
  if (g.contracted % s.depth != 0)
    inside.push_back(k.text() + " < " + std::to_string(g.contracted));
  return inside;
}

void TiledKernelWriter::forVectors(const OperandTile &side, function_ref<void(Expr)> body) {
  if (side.perThread == 1)
    body(0);
  else
    e.loop("0", side.perThread, "1", body, true);
}

void TiledKernelWriter::guarded(const SmallVectorImpl<std::string> &conditions,
                                function_ref<void()> body) {
  t.open(conditions.empty() ? Twine("") : "if (" + Twine(llvm::join(conditions, " && ")) + ")");
  e.pushScope();
  body();
  e.popScope();
  t.close();
}

void TiledKernelWriter::computeVector(const OperandTile &side, const Expr &along, const Expr &k,
                                      const std::string &slot) {
  Value value = multiplied(side.operand);
  // The bounds checks ensure that the operand's indices are in range.
  guarded(insideOf(side, along, k), [&] {
    auto read = [&](const Expr &lane) {
      return termAt(side, side.depthFirst ? along : along + lane,
                    side.depthFirst ? k + lane : k)[side.operand];
    };
    // Conditions that are the same for all lanes are checked once per vector.
    SmallVector<std::string> all, each;
    if (side.together > 1) {
      Expr lane = e.freshAtom("lane", 0, side.together - 1);
      OperandRead probe = read(lane);
      llvm::erase_if(probe.guards, [&](const IndexGuard &guard) {
        return guard.place.uses(lane.terms[0].first);
      });
      all = e.conditionsOf(probe);
    }
    guarded(all, [&] {
      e.lanes(side.together, [&](Expr lane) {
        OperandRead own = read(lane);
        SmallVector<std::string> conditions = e.conditionsOf(own);
        llvm::erase_if(conditions, [&](auto &text) { return llvm::is_contained(all, text); });
        e.guarded(conditions, [&] {
          std::string element;
          auto place = e.place(value, own.at);
          if (place && s.sharedBytes <= 2 &&
              getStorageTypeName(place->first.element) == side.type) {
            // An element of the required storage type is copied from the buffer without a
            // conversion to f32 and back.
            e.used.insert(place->first.name);
            element = place->first.name + "[" + place->second.text() + "]";
          } else {
            element = "dk::as<" + side.type + ">(" + e.eval(value, own.at) + ")";
          }
          t.line(slot + ".e[" + lane.text() + "] = " + element + ";");
        });
      });
    });
  });
}

int64_t TiledKernelWriter::resultWidth() {
  int64_t narrowest = 4;
  if (s.parts == 1)
    for (const LaunchOutput &target : targets)
      narrowest = std::min(narrowest, ref::elementBytes(target.buffer.element));
  int64_t width = narrowest == 4 ? 4 : 8;
  auto together = [&] {
    Expr lane = e.freshAtom("lane", 0, width - 1);
    Expr group = e.freshAtom("group", 0, std::max<int64_t>(1, g.columns / width));
    Expr row = e.freshAtom("other", 0, std::max<int64_t>(1, g.rows) - 1);
    Indices at = g.indexOf(e, batch, row, group * width + lane);
    if (s.parts > 1)
      return isVectorAccess(e.x.linear(shapeOf(op->getResult(0)), at), lane, width);
    return llvm::all_of(targets, [&](const LaunchOutput &target) {
      return isVectorAccess(
          e.x.linear(shapeOf(target.value), *indexInTarget(plan, e, op, target.value, at)), lane,
          width);
    });
  };
  while (width > 1 && (g.columns % width != 0 || !together()))
    width /= 2;
  return width;
}

void TiledKernelWriter::finish(const Expr &row, const Expr &column, int64_t width,
                               function_ref<std::string(const Expr &)> total) {
  SmallVector<std::string> inside;
  if (g.rows % s.rows != 0)
    inside.push_back(row.text() + " < " + std::to_string(g.rows));
  if (g.columns % s.columns != 0)
    inside.push_back(column.text() + " < " + std::to_string(g.columns));
  SmallVector<LaunchOutput> stores(targets);
  if (partial)
    stores = {{op->getResult(0), *partial}};
  guarded(inside, [&] {
    const Expr &i = row, &j = column;
    Expr part = partial ? e.variable("part", "blockIdx.y", 0, s.parts - 1) : Expr(0);
    auto offsetIn = [&](const LaunchOutput &store, const Indices &at) {
      return part * g.results +
             e.x.linear(shapeOf(store.value), *indexInTarget(plan, e, op, store.value, at));
    };
    std::vector<std::string> vectors;
    if (width > 1)
      for (const LaunchOutput &store : stores) {
        vectors.push_back(t.fresh("y"));
        t.line("dk::vec<" + getStorageTypeName(store.buffer.element) + ", " + Twine(width) + "> " +
               vectors.back() + ";");
      }
    e.lanes(width, [&](Expr lane) {
      Indices at = g.indexOf(e, batch, i, j + lane);
      std::string value = total(lane);
      SmallVector<std::string> elements;
      if (partial) {
        elements.push_back(value);
      } else {
        if (Value bias = biasOf(op))
          value =
              e.let(getComputeTypeName(s.accumulator),
                    Emitter::combine(ReduceKind::sum, s.accumulator, value, e.eval(bias, {at[1]})));
        e.seedAll(op->getResult(0), e.rounded(op->getResult(0), value));
        for (const LaunchOutput &target : targets)
          elements.push_back(e.eval(target.value, *indexInTarget(plan, e, op, target.value, at)));
      }
      for (auto [n, store] : llvm::enumerate(stores)) {
        if (width == 1)
          e.store(store.buffer, offsetIn(store, at), elements[n]);
        else
          t.line(vectors[n] + ".e[" + lane.text() + "] = dk::as<" +
                 getStorageTypeName(store.buffer.element) + ">(" + elements[n] + ");");
      }
    });
    if (width == 1)
      return;
    Indices at = g.indexOf(e, batch, i, j);
    for (auto [store, vector] : llvm::zip(stores, vectors))
      e.storeVector(store.buffer, offsetIn(store, at), width, vector);
  });
}

std::optional<Buffer> TiledKernelWriter::done(uint32_t shared, int64_t blocksTogether) {
  frame.finish({uint32_t(s.rowTiles * s.columnTiles * g.batches), uint32_t(s.parts), 1},
               {uint32_t(s.threads), 1, 1}, shared, blocksTogether);
  if (partial)
    partial->parts = s.parts;
  return partial;
}

namespace {

class PlainTileWriter : public TiledKernelWriter {
public:
  using TiledKernelWriter::TiledKernelWriter;

  std::optional<Buffer> write() {
    placeBlock();
    for (bool rows : {true, false}) {
      OperandTile &side = sides[rows ? 0 : 1];
      side = sideOf(rows);
      side.async = false;
      side.width = side.together = 1;
      side.perThread = side.extent * s.depth / s.threads;
      pitch[rows ? 0 : 1] = side.extent + (s.sharedBytes == 8 ? 2 : s.sharedBytes == 2 ? 8 : 4);
      t.line("__shared__ __align__(16) " + s.sharedName + " " + side.shared + "[2][" +
             Twine(s.depth * pitchOf(side)) + "];");
    }
    t.line("const int thread_row = threadIdx.x / 16 * " + Twine(s.micro) +
           ", thread_column = threadIdx.x % 16 * " + Twine(s.micro) + ";");
    t.line(getComputeTypeName(s.accumulator) + " total[" + Twine(s.rows / 16) + "][" +
           Twine(s.columns / 16) + "] = {};");
    for (OperandTile &side : sides) {
      t.open("");
      e.pushScope();
      declareStaged(side);
      fetch(side, s.parts > 1 ? e.freshAtom(begin, 0, steps - 1) * s.depth : Expr(0));
      putStaged(side, "0");
      e.popScope();
      t.close();
    }
    t.line("int stage = 0;");
    std::string k = t.fresh("k");
    t.open("for (" + e.indexType + " " + k + " = " + begin + "; " + k + " < " + end + "; " + "++" +
           k + ", stage ^= 1)");
    e.pushScope();
    t.line("__syncthreads();");
    t.line("const bool more = " + k + " + 1 < " + end + ";");
    Expr next = (e.freshAtom(k, 0, steps - 1) + Expr(1)) * s.depth;
    for (OperandTile &side : sides)
      declareStaged(side);
    t.open("if (more)");
    e.pushScope();
    for (OperandTile &side : sides)
      fetch(side, next);
    e.popScope();
    t.close();
    multiply();
    t.open("if (more)");
    for (OperandTile &side : sides)
      putStaged(side, "stage ^ 1");
    t.close();
    e.popScope();
    t.close();
    forEachResult();
    return done(0);
  }

private:
  int64_t pitchOf(const OperandTile &side) const { return pitch[side.rows ? 0 : 1]; }

  /// Returns the index (along, k) of the tile element that a thread reads in a step.
  std::pair<Expr, Expr> elementOfThread(const OperandTile &side, const Expr &step) {
    Expr element = step * s.threads + thread;
    int64_t line = side.depthFirst ? s.depth : side.extent;
    Expr within = e.x.remainder(element, line), outer = e.x.divide(element, line);
    return side.depthFirst ? std::pair(outer, within) : std::pair(within, outer);
  }

  void declareStaged(const OperandTile &side) {
    t.line("dk::vec<" + s.sharedName + ", 1> " + side.staged + "[" + Twine(side.perThread) + "];");
  }

  void fetch(const OperandTile &side, const Expr &k) {
    forVectors(side, [&](Expr step) {
      auto [along, within] = elementOfThread(side, step);
      t.line(side.staged + "[" + step.text() + "] = {};");
      computeVector(side, (side.rows ? rowStart : columnStart) + along, k + within,
                    side.staged + "[" + step.text() + "]");
    });
  }

  void putStaged(const OperandTile &side, const std::string &stage) {
    forVectors(side, [&](Expr step) {
      auto [along, within] = elementOfThread(side, step);
      t.line(side.shared + "[" + stage + "][" + (within * pitchOf(side) + along).text() +
             "] = " + side.staged + "[" + step.text() + "].e[0];");
    });
  }

  void multiply() {
    plan.include("tile_products.cuh");
    t.line("dk::multiply_plain_tiles<" + Twine(s.depth) + ", " + Twine(s.micro) + ", " +
           Twine(pitchOf(sides[0])) + ", " + Twine(pitchOf(sides[1])) +
           ">(total, tile_a[stage], tile_b[stage], thread_row, thread_column);");
  }

  void forEachResult() {
    auto unrolled = [&](int64_t count, function_ref<void(Expr)> inner) {
      count == 1 ? inner(0) : e.loop("0", count, "1", inner, true);
    };
    Expr row = e.freshAtom("thread_row", 0, 15 * s.micro);
    Expr column = e.freshAtom("thread_column", 0, 15 * s.micro);
    auto spread = [&](const Expr &i) {
      return e.x.divide(i, s.micro) * (16 * s.micro) + e.x.remainder(i, s.micro);
    };
    int64_t width = std::min<int64_t>(resultWidth(), s.micro);
    unrolled(s.rows / 16, [&](Expr i) {
      unrolled(s.columns / 16 / width, [&](Expr j) {
        finish(rowStart + row + spread(i), columnStart + column + spread(j * width), width,
               [&](const Expr &lane) {
                 return "total[" + i.text() + "][" + (j * width + lane).text() + "]";
               });
      });
    });
  }

  OperandTile sides[2];
  int64_t pitch[2] = {0, 0};
};

} // namespace

std::optional<Buffer> writePlainTiles(KernelGenerator &plan, Operation *op,
                                      ArrayRef<LaunchOutput> targets, const TileShape &shape) {
  return PlainTileWriter(plan, op, targets, shape).write();
}

void emitTiledContraction(KernelGenerator &plan, Operation *op, ArrayRef<LaunchOutput> targets) {
  TileShape shape = chooseTileTypes(plan, op);
  bool computed[2];
  for (bool rows : {true, false})
    computed[!rows] = !TiledKernelWriter(plan, op, targets, shape).sideOf(rows).async;
  chooseTileShape(plan, getContractionGeometry(op), computed, shape);
  auto partial = shape.tensorCores ? writeTensorTiles(plan, op, targets, shape)
                                   : writePlainTiles(plan, op, targets, shape);
  if (!partial)
    return;
  plan.known[op->getResult(0)] = *partial;
  emitElementwiseKernel(plan, targets);
}

} // namespace dlc::cuda
