//===- Split.cpp - reductions over a batch or all elements, split into parts ---===//
//
// Thread blocks reduce parts of the elements, and the users of the result combine the partial
// results in order. There are no atomics, so all runs give the same bits.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

constexpr int64_t kMaxParts = 512;
/// Maximum number of partial results per element that are combined where the result of a split
/// reduction is read. If there are more, a separate launch with many threads combines them.
constexpr int64_t kFewParts = 32;
/// Number of threads along the dimensions that are not reduced, and number of all threads of a
/// block.
constexpr int64_t kAlong = 32, kBlock = 256;

class SplitWriter {
public:
  SplitWriter(KernelGenerator &plan, ArrayRef<ReduceOp> reductions)
      : plan(plan), reductions(reductions) {
    ReduceOp op = reductions.front();
    shape = shapeOf(op.getX());
    for (size_t d = 0; d < shape.size(); ++d) {
      bool isReduced = llvm::is_contained(op.getAxes(), int64_t(d));
      (isReduced ? reducedDims : keptDims).push_back(d);
      (isReduced ? reducedShape : keptShape).push_back(shape[d]);
      if (shape[d] > 1)
        alongReduced = isReduced;
    }
    kept = multiplyDims(keptShape);
    reduced = multiplyDims(reducedShape);
    bytes = 1;
    for (ReduceOp r : reductions)
      bytes = std::max(bytes, ref::elementBytes(Emitter::sumType(r)));
  }

  void write() {
    alongReduced ? planAlong() : planAcross();
    int64_t finest = alongReduced ? threads * width : rows;
    chunk = ((reduced + parts - 1) / parts + finest - 1) / finest * finest;
    parts = std::max<int64_t>(1, (reduced + chunk - 1) / chunk);
    for (ReduceOp op : reductions) {
      buffers.push_back(parts > 1 ? plan.scratch(Emitter::sumType(op), kept * parts)
                                  : plan.place(op.getY(), getComputeType(elementOf(op.getX()))));
    }
    std::optional<LaunchBuilder> frame(std::in_place, plan);
    alongReduced ? writeAlong(*frame) : writeAcross(*frame);
    frame.reset();
    if (parts > kFewParts)
      writeTotals();
    for (auto [op, buffer] : llvm::zip(reductions, buffers)) {
      buffer.parts = parts > kFewParts ? 1 : parts;
      plan.known[op.getY()] = buffer;
    }
  }

private:
  static Type getComputeType(Type element) {
    if (isFloat(element) && !element.isF64())
      return Float32Type::get(element.getContext());
    return element;
  }

  /// Returns the number of thread blocks that occupy the whole GPU: eight blocks of 256 threads fit
  /// on a multiprocessor.
  int64_t wanted() const { return 8 * int64_t(plan.options.multiprocessors); }

  /// Returns the number of elements of the innermost dimensions, as far as these are in `dims`.
  template <typename Dims> int64_t rowOf(const Dims &dims) const {
    int64_t row = 1;
    for (size_t d : llvm::reverse(llvm::seq(shape.size()))) {
      if (!llvm::is_contained(dims, d))
        break;
      row *= shape[d];
    }
    return row;
  }

  /// Returns the element size in bytes of the narrowest operand that has as many elements as the
  /// reductions' operands.
  int64_t narrowest() const {
    int64_t least = 8;
    for (auto &[value, buffer] : plan.known)
      if (typeOf(value).getNumElements() == kept * reduced)
        least = std::min(least, ref::elementBytes(buffer.element));
    return std::min(least, bytes);
  }

  void planAlong() {
    width = std::max<int64_t>(1, 16 / narrowest());
    const int64_t row = rowOf(reducedDims);
    while (row % width != 0)
      width /= 2;
    threads = 32;
    while (threads < 256 && threads * width * 2 <= reduced)
      threads *= 2;
    parts = std::clamp<int64_t>(wanted() / std::max<int64_t>(1, kept), 1,
                                std::max<int64_t>(1, reduced / (threads * width * 4)));
    parts = std::min(parts, kMaxParts);
  }

  void planAcross() {
    const int64_t row = rowOf(keptDims);
    width = bytes <= 4 && row % 4 == 0 ? 4 : 1;
    threads = kAlong;
    while (threads > 1 && threads / 2 * width >= kept)
      threads /= 2;
    rows = kBlock / threads;
    int64_t blocks = (kept / width + threads - 1) / threads;
    parts = std::clamp<int64_t>(wanted() / blocks, 1, std::max<int64_t>(1, reduced / (rows * 8)));
    parts = std::min(parts, kMaxParts);
  }

  Indices indexOf(Emitter &e, const Expr &keptAt, const Expr &reducedAt) {
    Indices at(shape.size());
    for (auto [d, i] : llvm::zip(keptDims, e.x.unravel(keptShape, keptAt)))
      at[d] = i;
    for (auto [d, i] : llvm::zip(reducedDims, e.x.unravel(reducedShape, reducedAt)))
      at[d] = i;
    return at;
  }

  std::string term(Emitter &e, ReduceOp op, const Indices &at) {
    Type sum = Emitter::sumType(op);
    std::string text = e.eval(op.getX(), at);
    return getComputeTypeName(sum) == getComputeTypeName(elementOf(op.getX()))
               ? text
               : "(" + getComputeTypeName(sum) + ")" + text;
  }

  /// Emits a loop over the reduction indices of this block's part, divided by `unit`. The loop
  /// starts at `from` with increment `step`.
  void part(Emitter &e, const std::string &from, int64_t step, int64_t unit,
            function_ref<void(Expr)> body) {
    int64_t count = reduced / unit;
    // The loop is unrolled so that several loads are in flight.
    auto unrolled = [&] {
      if (count / parts / step >= 8)
        e.t.line("#pragma unroll 4");
    };
    if (parts == 1) {
      unrolled();
      e.loop(from, count, std::to_string(step), body);
      return;
    }
    std::string begin = e.let(e.indexType, "blockIdx.y * " + std::to_string(chunk / unit));
    std::string end =
        e.let(e.indexType, "dk::smallest::of<" + e.indexType + ">(" + begin + " + " +
                               std::to_string(chunk / unit) + ", " + std::to_string(count) + ")");
    std::string name = e.t.fresh("r");
    unrolled();
    e.t.open("for (" + e.indexType + " " + name + " = " + begin + " + " + from + "; " + name +
             " < " + end + "; " + name + " += " + Twine(step) + ")");
    e.pushScope();
    body(e.freshAtom(name, 0, count - 1));
    e.popScope();
    e.t.close();
  }

  void storeTotal(Emitter &e, size_t i, const Expr &at, const std::string &total) {
    if (parts == 1)
      return e.store(buffers[i], at, e.finishReduce(reductions[i], total));
    Expr s = e.variable("part", "blockIdx.y", 0, parts - 1);
    e.store(buffers[i], s * kept + at, total);
  }

  /// Emits a reduction of elements that are contiguous in memory: one thread block for each result
  /// element and part.
  void writeAlong(LaunchBuilder &frame) {
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    Expr at = e.variable("o", "blockIdx.x", 0, kept - 1);
    SmallVector<Emitter::Accumulator> gathered;
    for (ReduceOp op : reductions)
      gathered.push_back(e.gather(op.getKind(), Emitter::sumType(op), chunk / threads));
    part(e, "(int)threadIdx.x", threads, width, [&](Expr vector) {
      e.lanes(width, [&](Expr lane) {
        Indices index = indexOf(e, at, vector * width + lane);
        for (auto [op, total] : llvm::zip(reductions, gathered))
          e.gatherTerm(total, term(e, op, index));
      });
    });
    SmallVector<std::string> totals;
    for (auto [op, mine] : llvm::zip(reductions, gathered)) {
      std::string scratch = t.fresh("shared"), type = getComputeTypeName(mine.sum);
      t.line("__shared__ " + type + " " + scratch + "[" + Twine(threads / 32) + "];");
      totals.push_back(e.let(type, "dk::block_reduce<" + Emitter::functor(op.getKind()) + ", " +
                                       std::to_string(threads) + ">(" + e.gathered(mine) + ", " +
                                       scratch + ")"));
    }
    t.open("if (threadIdx.x == 0)");
    e.pushScope();
    for (size_t i = 0; i < reductions.size(); ++i)
      storeTotal(e, i, at, totals[i]);
    e.popScope();
    t.close();
    frame.finish({uint32_t(kept), uint32_t(parts), 1}, {uint32_t(threads), 1, 1});
  }

  /// Emits a reduction of elements that are not contiguous in memory. threadIdx.x is an index in
  /// the dimensions that are not reduced, threadIdx.y in the reduced ones.
  void writeAcross(LaunchBuilder &frame) {
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    int64_t vectors = kept / width, blocks = (vectors + threads - 1) / threads;
    std::string name =
        e.let(e.indexType, "blockIdx.x * " + std::to_string(threads) + " + threadIdx.x");
    bool guarded = blocks * threads != vectors;
    SmallVector<Emitter::Accumulator> gathered;
    for (ReduceOp op : reductions)
      gathered.push_back(e.gather(op.getKind(), Emitter::sumType(op), chunk / rows, width));
    if (guarded)
      t.open("if (" + name + " < " + Twine(vectors) + ")");
    e.pushScope();
    Expr o = vectors == 1 ? Expr(0) : e.freshAtom(name, 0, vectors - 1);
    part(e, "(int)threadIdx.y", rows, 1, [&](Expr r) {
      e.lanes(width, [&](Expr lane) {
        Indices index = indexOf(e, o * width + lane, r);
        for (auto [op, total] : llvm::zip(reductions, gathered))
          e.gatherTerm(total, term(e, op, index), lane.text());
      });
    });
    e.popScope();
    if (guarded)
      t.close();
    for (size_t i = 0; i < reductions.size(); ++i) {
      ReduceOp op = reductions[i];
      Type sum = Emitter::sumType(op);
      std::string shared = t.fresh("shared");
      t.line("__shared__ " + getComputeTypeName(sum) + " " + shared + "[" + Twine(rows) + "][" +
             Twine(threads * width) + "];");
      for (int64_t l = 0; l < width; ++l)
        t.line(shared + "[threadIdx.y][threadIdx.x * " + Twine(width) + " + " + Twine(l) +
               "] = " + e.gathered(gathered[i], std::to_string(l)) + ";");
      t.line("__syncthreads();");
      t.open("if (threadIdx.y == 0" +
             Twine(guarded ? " && " + name + " < " + std::to_string(vectors) : "") + ")");
      e.pushScope();
      Expr at = vectors == 1 ? Expr(0) : e.freshAtom(name, 0, vectors - 1);
      for (int64_t l = 0; l < width; ++l) {
        std::string total = t.fresh("v");
        std::string place =
            "][threadIdx.x * " + std::to_string(width) + " + " + std::to_string(l) + "]";
        t.line(getComputeTypeName(sum) + " " + total + " = " + shared + "[0" + place + ";");
        t.line("for (int y = 1; y < " + Twine(rows) + "; ++y) " + total + " = " +
               Emitter::combine(op.getKind(), sum, total, shared + "[y" + place) + ";");
        storeTotal(e, i, at * width + Expr(l), total);
      }
      e.popScope();
      t.close();
    }
    frame.finish({uint32_t(blocks), uint32_t(parts), 1}, {uint32_t(threads), uint32_t(rows), 1});
  }

  /// Emits a launch in which several threads combine the partial results of each result element, in
  /// a fixed order.
  void writeTotals() {
    LaunchBuilder frame(plan);
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    const int64_t along = std::min<int64_t>(kAlong, llvm::PowerOf2Ceil(kept));
    const std::string lines = std::to_string(kBlock / along);
    std::string name =
        e.let(e.indexType, "blockIdx.x * " + std::to_string(along) + " + threadIdx.x");
    for (auto [op, partial] : llvm::zip(reductions, buffers)) {
      Type sum = Emitter::sumType(op);
      Buffer whole = plan.place(op.getY(), getComputeType(elementOf(op.getX())));
      frame.use(partial.name);
      std::string type = getComputeTypeName(sum), shared = t.fresh("shared");
      Emitter::Accumulator mine = e.gather(op.getKind(), sum, parts);
      t.line("if (" + name + " < " + Twine(kept) + ")");
      t.line("#pragma unroll 4");
      t.open("for (int part = threadIdx.y; part < " + Twine(parts) + "; part += " + lines + ")");
      e.gatherTerm(mine, "dk::load(" + partial.name + "[part * " + std::to_string(kept) + " + " +
                             name + "])");
      t.close();
      t.line("__shared__ " + type + " " + shared + "[" + lines + "][" + Twine(along) + "];");
      t.line(shared + "[threadIdx.y][threadIdx.x] = " + e.gathered(mine) + ";");
      t.line("__syncthreads();");
      t.open("if (threadIdx.y == 0 && " + name + " < " + Twine(kept) + ")");
      e.pushScope();
      std::string total = t.fresh("v");
      t.line(type + " " + total + " = " + shared + "[0][threadIdx.x];");
      t.line("for (int y = 1; y < " + lines + "; ++y) " + total + " = " +
             Emitter::combine(op.getKind(), sum, total, shared + "[y][threadIdx.x]") + ";");
      e.store(whole, kept == 1 ? Expr(0) : e.freshAtom(name, 0, kept - 1),
              e.finishReduce(op, total));
      e.popScope();
      t.close();
      partial = whole;
    }
    frame.finish({uint32_t((kept + along - 1) / along), 1, 1},
                 {uint32_t(along), uint32_t(kBlock / along), 1});
  }

  KernelGenerator &plan;
  SmallVector<ReduceOp> reductions;
  ArrayRef<int64_t> shape;
  SmallVector<size_t> keptDims, reducedDims;
  SmallVector<int64_t> keptShape, reducedShape;
  bool alongReduced = false;
  int64_t kept = 1, reduced = 1, bytes = 4;
  int64_t width = 1, threads = 32, rows = 1, parts = 1, chunk = 1;
  std::vector<Buffer> buffers;
};

} // namespace

void emitSplitReduction(KernelGenerator &plan, ArrayRef<ReduceOp> reductions) {
  SplitWriter(plan, reductions).write();
}

} // namespace dlc::cuda
