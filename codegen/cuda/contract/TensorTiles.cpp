//===- TensorTiles.cpp - tiled contractions on tensor cores ---------------===//
//
// Thread blocks iterate over the contracted dimension in steps of 128 bytes, through a ring of
// pipeline stages in shared memory. Operands that are stored as vectors in global memory are copied
// asynchronously, several steps ahead. All other operands are first computed into registers. There
// is one barrier per step. The accumulated sums are passed through shared memory, so that the
// epilogue reads and writes whole vectors of rows.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/contract/Tiles.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

class TensorTileWriter : public TiledKernelWriter {
public:
  using TiledKernelWriter::TiledKernelWriter;

  std::optional<Buffer> write() {
    placeBlock();
    sides[0] = sideOf(true);
    sides[1] = sideOf(false);
    for (OperandTile &side : sides)
      declareZeroPoint(side);
    // wgmma instructions read shared memory asynchronously and end one step later, so one stage
    // less is filled ahead.
    ahead = s.warpgroups ? s.stages - 2 : s.stages - 1;
    int64_t stageBytes = declareTiles();
    declareAccumulators();
    copies = sides[0].async || sides[1].async;
    fillStages();
    t.line("int stage = 0, into = " + Twine(ahead) + ";");
    std::string k = t.fresh("k");
    t.line("#pragma unroll 1");
    t.open("for (" + e.indexType + " " + k + " = " + begin + "; " + k + " < " + end + "; ++" + k +
           ")");
    e.pushScope();
    writeStep(k);
    e.popScope();
    t.close();
    if (s.warpgroups)
      t.line("dk::products_settle(total);");
    return writeResults(stageBytes);
  }

private:
  /// Declares the pointers to the tiles in shared memory. Returns the bytes of all stages.
  int64_t declareTiles() {
    t.line("extern __shared__ __align__(1024) unsigned char memory[];");
    int64_t place = 0;
    for (OperandTile &side : sides) {
      t.line(side.type + " *const " + side.shared + " = (" + side.type + " *)(memory + " +
             Twine(place) + ");");
      place += s.stages * elementsOf(side) * s.sharedBytes;
    }
    return place;
  }

  /// Emits a loop that fills the first stages of the pipeline.
  void fillStages() {
    t.line("#pragma unroll 1");
    t.open("for (int p = 0; p < " + Twine(ahead) + "; ++p)");
    e.pushScope();
    t.open("if (" + begin + " + p < " + end + ")");
    e.pushScope();
    Expr ring = e.freshAtom("p", 0, ahead);
    Expr from = e.variable("first", begin + " + p", 0, steps - 1) * s.depth;
    for (OperandTile &side : sides)
      side.async ? copyTile(side, from, ring) : computeTile(side, from, ring);
    e.popScope();
    t.close();
    if (copies)
      t.line("dk::copies_commit();");
    e.popScope();
    t.close();
  }

  /// Emits a step of the pipeline: multiplies the tiles of a stage and fills a later stage. `k` is
  /// the name of the step's index.
  void writeStep(const std::string &k) {
    if (copies)
      t.line("dk::copies_wait<" + Twine(ahead - 1) + ">();");
    if (s.warpgroups)
      t.line("dk::shared_writes_done();");
    t.line("__syncthreads();");
    t.line("const " + e.indexType + " next = " + k + " + " + Twine(ahead) + ";");
    t.line("const bool more = next < " + end + ";");
    Expr next = e.freshAtom("next", 0, steps - 1) * s.depth;
    Expr to = e.freshAtom("into", 0, s.stages - 1);
    if (s.warpgroups)
      multiply("multiply_by_warpgroup", "warp / 4, warp_row, lane");
    t.open("if (more)");
    e.pushScope();
    // Asynchronous copies are issued before other operands are computed, because of their latency.
    for (OperandTile &side : sides)
      if (side.async)
        copyTile(side, next, to);
    for (OperandTile &side : sides)
      if (!side.async)
        computeTile(side, next, to);
    e.popScope();
    t.close();
    if (copies)
      t.line("dk::copies_commit();");
    if (s.warpgroups)
      t.line("dk::products_wait<1>();");
    else
      multiply("multiply", "warp_row, warp_column, lane");
    t.line("stage = stage == " + Twine(s.stages - 1) + " ? 0 : stage + 1;");
    t.line("into = into == " + Twine(s.stages - 1) + " ? 0 : into + 1;");
  }

  /// Emits the epilogue, which reads the sums through shared memory. `stageBytes`: size of the
  /// stages.
  std::optional<Buffer> writeResults(int64_t stageBytes) {
    int64_t pitch = s.columns + 8;
    std::string type = getComputeTypeName(s.accumulator);
    t.line(type + " *const sums = (" + type + " *)memory;");
    t.line("__syncthreads();");
    int64_t sums = s.rows * pitch;
    for (const OperandTile &side : sides)
      sums += putElementSums(side, sums);
    t.line("dk::put_sums<" + Twine(fragmentRows) + ", " + Twine(fragmentColumns) + ", " +
           Twine(rowStep) + ", " + Twine(pitch) + ">(sums, total, warp_row, warp_column, lane);");
    t.line("__syncthreads();");
    int64_t width = resultWidth(), line = s.columns / width;
    t.line("#pragma unroll 2");
    e.loop(thread.text(), s.rows * line, std::to_string(s.threads), [&](Expr i) {
      Expr row = e.x.divide(i, line), column = e.x.remainder(i, line) * width;
      std::string found = t.fresh("sum");
      t.line("const auto " + found + " = dk::load<" + Twine(width) + ">(sums + " +
             (row * pitch + column).text() + ");");
      finish(rowStart + row, columnStart + column, width, [&](const Expr &lane) {
        return centred(found + ".e[" + lane.text() + "]", row, column + lane);
      });
    });
    return done(uint32_t(std::max(stageBytes, sums * 4)), s.blocksTogether);
  }

  int64_t lineOf(const OperandTile &side) const {
    return side.depthFirst ? s.depth : std::min(128 / s.sharedBytes, side.extent);
  }
  int64_t elementsOf(const OperandTile &side) const { return side.extent * s.depth; }

  /// Returns the text of an operand's element in a pipeline stage in shared memory. The other
  /// elements of its vector follow in memory.
  std::string slot(const OperandTile &side, const Expr &ring, const Expr &along, const Expr &k) {
    int64_t line = lineOf(side), wide = 16 / s.sharedBytes;
    const Expr &outer = side.depthFirst ? along : k;
    Expr inner = side.depthFirst ? k : e.x.remainder(along, line);
    Expr rest = ring * elementsOf(side) + e.x.remainder(inner, wide);
    if (!side.depthFirst)
      rest = rest + e.x.divide(along, line) * (line * s.depth);
    bool scalars = !side.depthFirst && s.sharedBytes == 4;
    return side.shared + "[" + rest.text() + " + dk::swizzled<" + std::to_string(line) + ", " +
           std::to_string(wide) + (scalars ? ", true" : "") + ">(" + outer.text() + ", " +
           e.x.divide(inner, wide).text() + ")]";
  }

  /// Returns the start (along, k) of the vector of the tile that a thread copies or computes in a
  /// step.
  std::pair<Expr, Expr> vectorOfThread(const OperandTile &side, const Expr &step,
                                       const Expr &thread) {
    Expr vector = step * s.threads + thread;
    // Adjacent threads read contiguous memory.
    if (side.transposed)
      return {e.x.remainder(vector, side.extent), e.x.divide(vector, side.extent) * side.together};
    int64_t line = (side.depthFirst ? s.depth : side.extent) / side.together;
    Expr within = e.x.remainder(vector, line) * side.together, outer = e.x.divide(vector, line);
    return side.depthFirst ? std::pair(outer, within) : std::pair(within, outer);
  }

  void copyTile(const OperandTile &side, const Expr &k, const Expr &ring) {
    auto copyVector = [&](const Expr &step, const Expr &thread) {
      auto [along, within] = vectorOfThread(side, step, thread);
      for (int64_t part = 0; part < side.together; part += side.width)
        copy(side, side.depthFirst ? along : along + Expr(part),
             side.depthFirst ? within + Expr(part) : within, k, ring);
    };
    if (side.width * s.sharedBytes == 16 && !side.guarded)
      forVectors(side, [&](Expr step) { copyVector(step, thread); });
    else
      someAtATime(side, copyVector);
  }

  void computeTile(const OperandTile &side, const Expr &k, const Expr &ring) {
    someAtATime(side, [&](const Expr &step, const Expr &thread) {
      auto [along, within] = vectorOfThread(side, step, thread);
      std::string vector = t.fresh("x");
      t.line("dk::vec<" + side.type + ", " + Twine(side.together) + "> " + vector + " = " +
             filled(side, side.together) + ";");
      computeVector(side, (side.rows ? rowStart : columnStart) + along, k + within, vector);
      t.line("dk::store<" + Twine(side.together) + ">(&" + slot(side, ring, along, within) + ", " +
             vector + ");");
    });
  }

  /// Emits a loop over a thread's vectors whose indices are expensive to compute. To save
  /// registers, the indices are recomputed in each step, and only a few elements are processed at a
  /// time.
  void someAtATime(const OperandTile &side, function_ref<void(const Expr &, const Expr &)> body) {
    int64_t elements = s.warpgroups ? 16 : 8;
    t.open("");
    e.pushScope();
    Expr again =
        e.variable("t", "dk::hide_from_optimizer(" + thread.text() + ")", 0, s.threads - 1);
    t.line("#pragma unroll " + Twine(std::max<int64_t>(1, elements / side.together)));
    e.loop("0", side.perThread, "1", [&](Expr step) { body(step, again); });
    e.popScope();
    t.close();
  }

  void copy(const OperandTile &side, const Expr &along, const Expr &within, const Expr &k,
            const Expr &ring) {
    Expr wanted = (side.rows ? rowStart : columnStart) + along, place = k + within;
    SmallVector<std::string> inside = insideOf(side, wanted, place);
    OperandRead read = termAt(side, wanted, place)[side.operand];
    auto found = e.place(multiplied(side.operand), read.at);
    llvm::append_range(inside, e.conditionsOf(read));
    e.used.insert(found->first.name);
    std::string to = "&" + slot(side, ring, along, within),
                there = inside.empty() ? "true" : llvm::join(inside, " && ");
    bool fills = !side.filling.empty() && !inside.empty();
    if (fills)
      t.open("if (" + there + ")");
    t.line("dk::copy_async<" + Twine(side.width * s.sharedBytes) + ">(" + to + ", " +
           found->first.name + " + " + found->second.text(true) + ", " + (fills ? "true" : there) +
           ");");
    if (!fills)
      return;
    t.close();
    t.line("else dk::store<" + Twine(side.width) + ">(" + to + ", " + filled(side, side.width) +
           ");");
  }

  /// Returns the text of a vector of elements that are outside the operand.
  static std::string filled(const OperandTile &side, int64_t width) {
    std::string type = side.type + ", " + std::to_string(width);
    return side.filling.empty() ? "dk::vec<" + type + ">{}"
                                : "dk::filled<" + type + ">(" + side.filling + ")";
  }

  /// Declares the zero point of an operand. It is subtracted from the product by means of the sums
  /// of the other operand's elements:
  ///   sum (a - p) (b - q) = sum a b - p sum b - q sum a + n p q
  void declareZeroPoint(OperandTile &side) {
    if (!side.zeroPoint)
      return;
    std::string name = zeroOf(side);
    t.line("const int " + name + " = " +
           e.eval(side.zeroPoint, Indices(shapeOf(side.zeroPoint).size(), Expr(0))) + ";");
    if ((*bytes)[side.operand].isPadded)
      side.filling = name;
  }
  static std::string zeroOf(const OperandTile &side) { return side.rows ? "zero_a" : "zero_b"; }
  static std::string elementSumsOf(const OperandTile &side) {
    return side.rows ? "row_sums" : "column_sums";
  }
  /// Returns whether the element sums of this operand are needed: the other operand has a zero
  /// point.
  bool isSummed(const OperandTile &side) const { return bool(sides[side.rows ? 1 : 0].zeroPoint); }

  /// Emits stores of the operand's element sums to shared memory, at offset `place` in integers.
  /// Returns the number of these sums.
  int64_t putElementSums(const OperandTile &side, int64_t place) {
    if (!isSummed(side))
      return 0;
    std::string name = elementSumsOf(side);
    t.line("int *const all_" + name + " = (int *)memory + " + Twine(place) + ";");
    t.line("if (" + std::string(side.rows ? "warp_column" : "warp_row") +
           " == 0) dk::store_operand_sums(all_" + name + " + " +
           (side.rows ? "warp_row" : "warp_column") + ", " + name + ", lane);");
    return side.extent;
  }

  /// Returns the text of a tile's sum from which the contribution of the zero points is subtracted.
  std::string centred(std::string sum, const Expr &row, const Expr &column) {
    for (const OperandTile &side : sides)
      if (isSummed(side))
        sum = "dk::sub(" + sum + ", dk::mul(" + zeroOf(sides[side.rows ? 1 : 0]) + ", all_" +
              elementSumsOf(side) + "[" + (side.rows ? row : column).text() + "]))";
    if (!sides[0].zeroPoint || !sides[1].zeroPoint)
      return sum;
    // n is the number of all summed elements, including those outside an image, which have the
    // value of the zero point.
    std::string last = end + " * " + std::to_string(s.depth),
                all = sides[0].filling.empty() && sides[1].filling.empty()
                          ? "dk::smallest::of<int>(" + last + ", " + std::to_string(g.contracted) +
                                ")"
                          : last;
    return "dk::add(" + sum + ", dk::mul(" + all + " - " + begin + " * " + std::to_string(s.depth) +
           ", dk::mul(zero_a, zero_b)))";
  }

  void declareAccumulators() {
    t.line("const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0), lane = "
           "threadIdx.x % 32;");
    if (s.warpgroups) {
      int64_t rows = s.rows / (s.threads / 128);
      t.line("const int warp_row = warp / 4 * " + Twine(rows) +
             " + warp % 4 * 16, warp_column = 0;");
      fragmentRows = rows / 64, rowStep = 64, fragmentColumns = s.columns / 8;
    } else {
      t.line("const int warp_row = warp % " + Twine(s.warpRows) + " * " + Twine(s.warpTileRows) +
             ", warp_column = warp / " + Twine(s.warpRows) + " * " + Twine(s.warpTileColumns) +
             ";");
      fragmentRows = s.warpTileRows / 16, rowStep = 16, fragmentColumns = s.warpTileColumns / 8;
    }
    t.line(getComputeTypeName(s.accumulator) + " total[" + Twine(fragmentRows) + "][" +
           Twine(fragmentColumns) + "][4] = {};");
    for (const OperandTile &side : sides)
      if (isSummed(side))
        t.line("int " + elementSumsOf(side) + "[" +
               Twine(side.rows ? 2 * fragmentRows : fragmentColumns) + "] = {};");
  }

  /// Emits the product of the tiles of a stage by `function` of dk::tensor_tiles.
  void multiply(const Twine &function, const Twine &place) {
    TemplateParameters p(e.indexType);
    p.number("fragment_rows", fragmentRows);
    p.number("fragment_columns", fragmentColumns);
    p.number("row_step", rowStep);
    p.number("depth", s.depth);
    p.number("mma_depth", s.step);
    // If both operands are copied asynchronously to shared memory, enough registers remain to load
    // fragments one product ahead.
    p.flag("ahead", sides[0].async && sides[1].async);
    for (const OperandTile &side : sides) {
      const char *suffix = side.rows ? "_a" : "_b";
      p.number(Twine("lines") + suffix, lineOf(side));
      p.flag(Twine("depth_first") + suffix, side.depthFirst);
      p.flag(Twine("signed") + suffix, side.type == "signed char");
      p.flag(side.rows ? "sums_rows" : "sums_columns", isSummed(side));
    }
    auto name = [](const OperandTile &side) {
      return side.type == "signed char" ? "true" : "false";
    };
    std::string types =
        bytes ? std::string("<") + name(sides[0]) + ", " + name(sides[1]) + ">" : "";
    p.text += "  DK_INLINE void mma(" + getComputeTypeName(s.accumulator) +
              " *c, const unsigned *a, const unsigned *b) { dk::mma_" + s.mma + types +
              "(c, a, b); }\n";
    std::string arguments =
        ("total, " + tileOf(sides[0]) + ", " + tileOf(sides[1]) + ", " + place).str();
    if (bytes)
      for (const OperandTile &side : sides)
        arguments += ", " + (isSummed(side) ? elementSumsOf(side) : "nullptr");
    t.line(frame.declare("tile_products.cuh", "tensor_tiles", p) + "::" + function + "(" +
           arguments + ");");
  }
  /// Returns the text of the operand's tile of the current stage.
  std::string tileOf(const OperandTile &side) const {
    return side.shared + " + stage * " + std::to_string(elementsOf(side));
  }

  OperandTile sides[2];
  bool copies = false; ///< whether at least one operand is copied asynchronously
  int64_t ahead = 1, fragmentRows = 1, fragmentColumns = 1, rowStep = 16;
};

} // namespace

std::optional<Buffer> writeTensorTiles(KernelGenerator &plan, Operation *op,
                                       ArrayRef<LaunchOutput> targets, const TileShape &shape) {
  return TensorTileWriter(plan, op, targets, shape).write();
}

} // namespace dlc::cuda
