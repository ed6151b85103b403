//===- TensorTiles.cpp - tiled contractions on tensor cores ---------------===//
//
// Thread blocks iterate over the contracted dimension in steps of 128 bytes, through a ring of
// pipeline stages in shared memory. Operands that are stored as vectors in global memory are copied
// asynchronously, several steps ahead. All other operands are first computed into registers. There
// is one barrier per step. The accumulated sums are passed through shared memory, so that the
// epilogue reads and writes whole vectors of rows.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Tiles.h"

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
    t.line("extern __shared__ __align__(1024) unsigned char memory[];");
    int64_t place = 0;
    for (OperandTile &side : sides) {
      t.line(side.type + " *const " + side.shared + " = (" + side.type + " *)(memory + " +
             Twine(place) + ");");
      place += s.stages * elementsOf(side) * s.sharedBytes;
    }
    declareAccumulators();
    bool copies = sides[0].async || sides[1].async;
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
    t.line("int stage = 0, into = " + Twine(ahead) + ";");
    std::string k = t.fresh("k");
    t.line("#pragma unroll 1");
    t.open("for (" + e.indexType + " " + k + " = " + begin + "; " + k + " < " + end + "; ++" + k +
           ")");
    e.pushScope();
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
      multiplyByWarpgroups();
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
      multiply();
    t.line("stage = stage == " + Twine(s.stages - 1) + " ? 0 : stage + 1;");
    t.line("into = into == " + Twine(s.stages - 1) + " ? 0 : into + 1;");
    e.popScope();
    t.close();
    if (s.warpgroups)
      t.line("dk::products_settle(total);");
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
    plan.include("tiles.cuh");
    return done(uint32_t(std::max(place, sums * 4)), s.blocksTogether);
  }

private:
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

  void multiply() {
    int64_t m = fragmentRows, n = fragmentColumns;
    t.open("");
    // If both operands are copied asynchronously, no computed operands occupy registers, and
    // fragments are loaded one product ahead.
    bool twice = sides[0].async && sides[1].async;
    t.line("unsigned a[2][" + Twine(m) + "][4], b[2][" + Twine(n / 2) + "][4];");
    auto fragments = [&](const std::string &into, const std::string &kk) {
      for (const OperandTile &side : sides) {
        t.line("#pragma unroll");
        t.line("for (int i = 0; i < " + Twine(side.rows ? m : n / 2) +
               "; ++i) dk::" + (side.rows ? "row_fragment" : "column_fragments") + "<" +
               (side.depthFirst ? "true" : "false") + ", " + Twine(lineOf(side)) + ", " +
               Twine(s.depth) + ">(" + (side.rows ? "a" : "b") + "[" + into + "][i], " +
               side.shared + " + stage * " + Twine(elementsOf(side)) + ", " +
               (side.rows ? "warp_row + i * " + Twine(rowStep) : "warp_column + i * " + Twine(16)) +
               ", " + kk + ", lane);");
      }
    };
    if (twice)
      fragments("0", "0");
    t.line("#pragma unroll");
    t.open("for (int kk = 0; kk < " + Twine(s.depth) + "; kk += " + Twine(s.step) + ")");
    if (twice) {
      t.line("const int now = kk / " + Twine(s.step) + " % 2;");
      t.open("if (kk + " + Twine(s.step) + " < " + Twine(s.depth) + ")");
      fragments("now ^ 1", "kk + " + std::to_string(s.step));
      t.close();
    } else {
      t.line("const int now = 0;");
      fragments("0", "kk");
    }
    std::string types;
    if (bytes) {
      auto isSigned = [](const OperandTile &side) { return side.type == "signed char"; };
      auto name = [](bool yes) { return yes ? "true" : "false"; };
      for (const OperandTile &side : sides)
        if (isSummed(side))
          t.line("dk::add_" + elementSumsOf(side) + "<" + name(isSigned(side)) + ">(" +
                 elementSumsOf(side) + ", " + (side.rows ? "a" : "b") + "[now]);");
      types = std::string("<") + name(isSigned(sides[0])) + ", " + name(isSigned(sides[1])) + ">";
    }
    t.line("#pragma unroll");
    t.line("for (int i = 0; i < " + Twine(m) + "; ++i)");
    t.line("#pragma unroll");
    t.line("  for (int j = 0; j < " + Twine(n) + "; ++j) dk::mma_" + s.mma + types +
           "(total[i][j], a[now][i], b[now][j / 2] + j % 2 * 2);");
    t.close();
    t.close();
  }

  void multiplyByWarpgroups() {
    t.line("#ifdef DLC_EMULATED");
    multiply();
    t.line("#else");
    auto transposed = [](const OperandTile &side) { return side.depthFirst ? "false" : "true"; };
    std::string product = "dk::product_" + std::to_string(s.columns) + "_" + s.mma + "<" +
                          transposed(sides[0]) + ", " + transposed(sides[1]) + ">";
    for (const OperandTile &side : sides)
      t.line("const unsigned long long " + std::string(side.rows ? "at_a" : "at_b") +
             " = dk::make_tile_descriptor<" + (side.depthFirst ? "true" : "false") + ", " +
             Twine(s.depth) + ">(" + side.shared + " + stage * " + Twine(elementsOf(side)) + ");");
    t.line("dk::products_begin();");
    t.line("#pragma unroll");
    t.line("for (int kk = 0; kk < " + Twine(s.depth) + "; kk += 16)");
    t.line("#pragma unroll");
    // Addresses in wgmma descriptors are in units of 16 bytes.
    auto step = [&](const OperandTile &side) { return side.depthFirst ? "kk / 8" : "kk * 8"; };
    t.line("  for (int i = 0; i < " + Twine(fragmentRows) + "; ++i) " + product +
           "(&total[i][0][0], at_a + " + step(sides[0]) + " + (warp / 4 * " + Twine(fragmentRows) +
           " + i) * " + Twine(64 * s.depth / 8) + ", at_b + " + step(sides[1]) + ");");
    t.line("dk::products_commit();");
    t.line("#endif");
  }

  OperandTile sides[2];
  int64_t ahead = 1, fragmentRows = 1, fragmentColumns = 1, rowStep = 16;
};

} // namespace

std::optional<Buffer> writeTensorTiles(KernelGenerator &plan, Operation *op,
                                       ArrayRef<LaunchOutput> targets, const TileShape &shape) {
  return TensorTileWriter(plan, op, targets, shape).write();
}

} // namespace dlc::cuda
