//===- StandaloneKernels.cpp - sorting, suppression, running sums, scatters, grouped matmuls -===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

using Grid = std::array<uint32_t, 3>;

/// Shape [outer, size, inner] of a tensor around one axis. A line is the elements along the axis.
struct AxisLines {
  AxisLines(ArrayRef<int64_t> shape, int64_t axis)
      : outer(multiplyDims(shape.take_front(axis))), size(shape[axis]),
        inner(multiplyDims(shape.drop_front(axis + 1))) {}
  int64_t outer, size, inner;
  int64_t count() const { return outer * inner; }
};

Type getAccumulatorType(Type element) {
  return isFloat(element) && !element.isF64() ? Type(Float32Type::get(element.getContext()))
                                              : element;
}

/// Returns the template parameters that kernels with one work item per line or element have in
/// common: the number and shape of the lines.
TemplateParameters parametersOf(const KernelGenerator &plan, const AxisLines &lines) {
  TemplateParameters p(plan.indexType);
  p.number("lines", lines.count());
  p.number("size", lines.size);
  p.number("inner", lines.inner);
  return p;
}

/// Maximum number of elements that a thread block sorts in shared memory, and bytes of that memory.
constexpr int64_t kSorted = 4096, kSharedBytes = 48 << 10;

/// Top-k in several launches: thread blocks sort parts of a line. The first k elements of all parts
/// are the line that the next launch sorts, until there is one part.
void emitTopK(KernelGenerator &plan, TopKOp op, ArrayRef<LaunchOutput> targets) {
  AxisLines lines(shapeOf(op.getX()), op.getAxis());
  const int64_t k = op.getK();
  Type element = elementOf(op.getX());
  if (lines.count() == 0 || k == 0)
    return;
  TemplateParameters p = parametersOf(plan, lines);
  p.number("k", k);
  p.type("type", getComputeTypeName(element));
  p.flag("largest", op.getLargest());
  int64_t most = kSorted;
  while (most * (ref::elementBytes(element) + (plan.indexType == "int" ? 4 : 8)) > kSharedBytes)
    most /= 2;
  std::string values = plan.known[op.getX()].name, positions = "nullptr";
  std::string results[] = {targets[0].buffer.name, targets[1].buffer.name};
  // With a large k, the number of parts would hardly decrease from launch to launch, so elements
  // are ranked by counting.
  if (lines.size > most && k > most / 4) {
    LaunchBuilder frame(plan);
    frame.call("topk.cuh", "topk_by_rank", p, {values}, results);
    frame.finish({uint32_t(std::min<int64_t>(lines.count(), 1 << 20)), 1, 1}, {256, 1, 1});
    return;
  }
  for (int64_t length = lines.size, parts = 0; parts != 1; length = parts * k) {
    parts = (length + most - 1) / most;
    std::string next[] = {results[0], results[1]};
    if (parts > 1) {
      next[0] = plan.scratch(element, lines.count() * parts * k).name;
      next[1] = plan.scratch(plan.getIndexElement(), lines.count() * parts * k).name;
    }
    TemplateParameters pass = p;
    pass.number("length", length);
    pass.number("parts", parts);
    pass.number("capacity", std::max<int64_t>(2, llvm::PowerOf2Ceil(std::min(length, most))));
    pass.flag("first", positions == "nullptr");
    LaunchBuilder frame(plan);
    frame.call("topk.cuh", "topk_pass", pass, {values, positions}, next, /*usesMemory=*/true);
    frame.finish({uint32_t(lines.count() * parts), 1, 1}, {256, 1, 1});
    values = next[0], positions = next[1];
  }
}

void emitCumulative(KernelGenerator &plan, CumulativeOp op, ArrayRef<LaunchOutput> targets) {
  AxisLines lines(shapeOf(op.getX()), op.getAxis());
  if (lines.count() * lines.size == 0)
    return;
  Type sum = getAccumulatorType(elementOf(op.getX()));
  TemplateParameters p = parametersOf(plan, lines);
  p.type("type", getComputeTypeName(sum));
  p.type("combine", Emitter::functor(op.getKind()));
  p.function("type", "neutral", Emitter::neutral(op.getKind(), sum));
  p.flag("exclusive", op.getExclusive());
  p.flag("reverse", op.getReverse());
  std::string in = plan.known[op.getX()].name, out = targets[0].buffer.name;
  LaunchBuilder frame(plan);
  if (lines.size <= 64 || lines.inner >= 32) {
    frame.call("scan.cuh", "scan_by_thread", p, {in}, {out});
    frame.finish({uint32_t(std::min<int64_t>((lines.count() + 127) / 128, 1 << 16)), 1, 1},
                 {128, 1, 1});
    return;
  }
  p.number("each", lines.size >= 4 * 256 ? 8 : 1);
  frame.call("scan.cuh", "scan_by_block", p, {in}, {out}, /*usesMemory=*/true);
  frame.finish({uint32_t(std::min<int64_t>(lines.count(), 1 << 16)), 1, 1}, {256, 1, 1});
}

/// Number, size and target indices of a scatter's updates.
struct ScatterUpdateSizes {
  explicit ScatterUpdateSizes(Operation *op) {
    auto elements = dyn_cast<ScatterElementsOp>(op);
    auto shape = shapeOf(op->getOperand(0)), indexShape = shapeOf(op->getOperand(1));
    depth = elements ? shape.size() : indexShape.back();
    count = elements ? multiplyDims(indexShape) : multiplyDims(indexShape.drop_back());
    length = elements ? 1 : multiplyDims(shape.drop_front(depth));
    rivals = elements ? indexShape[elements.getAxis()] : count;
    apart = elements ? multiplyDims(indexShape.drop_front(elements.getAxis() + 1)) : 1;
  }
  int64_t depth, count;
  int64_t length; ///< number of contiguous elements of one scatter update
  /// `rivals`: number of updates that may have the same target. `apart`: distance between their
  /// indices.
  int64_t rivals, apart;
};

/// Up to kFewRivals updates that may have the same target are ranked by counting, without shared
/// memory. More than kManyRivals are sorted in parts.
constexpr int64_t kFewRivals = 256, kManyRivals = 8192;
constexpr int64_t kRivalTile = 512, kRivalPart = 2048;

/// Emits a deterministic scatter (kernels/scatter.cuh): the launches copy the operand, compute the
/// updates' targets, sort the updates by target, and store or combine them.
class ScatterWriter {
public:
  ScatterWriter(KernelGenerator &plan, Operation *op, const LaunchOutput &target)
      : plan(plan), op(op), x(op->getOperand(0)), target(target), u(op) {}

  void write() {
    if (typeOf(x).getNumElements() == 0)
      return;
    copy();
    if (u.count * u.length == 0)
      return;
    findPlaces();
    if (u.rivals > kManyRivals)
      sortParts();
    else if (u.rivals > 1)
      sort();
    apply();
  }

private:
  Grid blocks(int64_t n) const {
    return {uint32_t(std::min<int64_t>((n + 255) / 256, plan.options.multiprocessors * 32)), 1, 1};
  }
  TemplateParameters parameters() const {
    TemplateParameters p(plan.indexType);
    p.number("count", u.count);
    p.number("rivals", u.rivals);
    p.number("apart", u.apart);
    return p;
  }
  /// Emits a launch of a kernel of scatter.cuh.
  void launch(StringRef kernel, const TemplateParameters &p, ArrayRef<std::string> reads,
              ArrayRef<std::string> writes, Grid grid, bool usesMemory = false) {
    LaunchBuilder frame(plan);
    frame.call("scatter.cuh", kernel, p, reads, writes, usesMemory);
    frame.finish(grid, {256, 1, 1});
  }
  Buffer indices() { return plan.scratch(plan.getIndexElement(), u.count); }

  /// Returns the number of elements per memory access, for `neighbours` contiguous elements in
  /// these buffers.
  int64_t widthOf(int64_t neighbours, ArrayRef<Buffer> buffers) const {
    int64_t width = 16 / ref::elementBytes(elementOf(x));
    for (const Buffer &buffer : buffers)
      width = buffer.alignment % 16 == 0 ? width : 1;
    while (neighbours % width != 0)
      width /= 2;
    return width;
  }

  void copy() {
    const Buffer &in = plan.known[x], &out = target.buffer;
    int64_t total = typeOf(x).getNumElements(), width = widthOf(total, {in, out});
    TemplateParameters p(plan.indexType);
    p.number("width", width);
    p.number("vector_count", total / width);
    launch("scatter_copy", p, {in.name}, {out.name}, blocks(total / width));
  }

  /// Emits a launch that computes the target of each update, or -1 if the target is out of bounds.
  void findPlaces() {
    auto elements = dyn_cast<ScatterElementsOp>(op);
    auto shape = shapeOf(x), indexShape = shapeOf(op->getOperand(1));
    places = indices();
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    Emitter &e = frame.e;
    t.open("for (" + plan.indexType + " i = blockIdx.x * 256 + threadIdx.x; i < " + Twine(u.count) +
           "; i += gridDim.x * 256)");
    e.pushScope();
    Expr i = e.freshAtom("i", 0, u.count - 1);
    t.line("long long place = 0, at;");
    t.line("bool inside = true;");
    Indices where = elements ? e.x.unravel(indexShape, i) : Indices();
    for (int64_t d = 0; d < u.depth; ++d) {
      std::string size = std::to_string(shape[d]);
      std::string wanted;
      if (elements && d != int64_t(elements.getAxis())) {
        wanted = where[d].text();
      } else {
        Indices at = where;
        if (!elements) {
          at = e.x.unravel(indexShape.drop_back(), i);
          at.push_back(d);
        }
        wanted = e.eval(op->getOperand(1), at);
      }
      t.line("at = " + wanted + ";");
      t.line("at = at < 0 ? at + " + size + " : at;");
      t.line("inside = inside && at >= 0 && at < " + size + ";");
      t.line("place = place * " + size + " + at;");
    }
    e.store(places, i, "(" + plan.indexType + ")(inside ? place : -1ll)");
    e.popScope();
    t.close();
    frame.finish(blocks(u.count), {256, 1, 1});
  }

  /// Emits launches that sort the updates by target, separately for each line of updates that may
  /// have the same target. `order` contains the indices of the updates and `sorted` their targets.
  void sort() {
    order = indices(), sorted = indices();
    TemplateParameters p = parameters();
    if (u.rivals <= kFewRivals)
      return launch("scatter_order_few", p, {places.name}, {order.name, sorted.name},
                    blocks(u.count));
    int64_t lines = u.count / u.rivals, blocksOfLine = (u.rivals + 255) / 256;
    int64_t parts =
        std::clamp<int64_t>(2 * plan.options.multiprocessors / (lines * blocksOfLine), 1,
                            std::min<int64_t>(64, (u.rivals + kRivalTile - 1) / kRivalTile));
    int64_t range = (u.rivals + parts * kRivalTile - 1) / (parts * kRivalTile) * kRivalTile;
    parts = (u.rivals + range - 1) / range;
    Buffer counts = plan.scratch(IntegerType::get(op->getContext(), 32), parts * u.count);
    p.number("parts", parts);
    p.number("range", range);
    p.number("tile", kRivalTile);
    p.number("blocks", blocksOfLine);
    launch("scatter_count", p, {places.name}, {counts.name},
           {uint32_t(lines * blocksOfLine), uint32_t(parts), 1}, /*usesMemory=*/true);
    launch("scatter_order", p, {places.name, counts.name}, {order.name, sorted.name},
           blocks(u.count));
  }

  /// Emits launches that sort many updates: thread blocks sort parts, and each update finds its
  /// rank in all other parts by binary search.
  void sortParts() {
    order = indices(), sorted = indices();
    const int64_t parts = (u.rivals + kRivalPart - 1) / kRivalPart;
    Buffer keys = indices(), updates = indices();
    TemplateParameters p = parameters();
    p.number("part", kRivalPart);
    p.number("parts", parts);
    launch("scatter_sort_parts", p, {places.name}, {keys.name, updates.name},
           {uint32_t(u.count / u.rivals * parts), 1, 1}, /*usesMemory=*/true);
    launch("scatter_merge_parts", p, {keys.name, updates.name}, {order.name, sorted.name},
           blocks(u.count));
  }

  void apply() {
    auto elements = dyn_cast<ScatterElementsOp>(op);
    ScatterReduction reduction =
        elements ? elements.getReduction() : cast<ScatterNdOp>(op).getReduction();
    ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod, ReduceKind::max,
                          ReduceKind::min};
    const Buffer &news = plan.known[op->getOperand(2)], &out = target.buffer;
    int64_t width = widthOf(u.length, {news, out}), vectors = u.length / width;
    TemplateParameters p = parameters();
    p.type("type", getComputeTypeName(getAccumulatorType(elementOf(x))));
    p.type("combine", Emitter::functor(kinds[int(reduction)]));
    p.number("length", u.length);
    p.number("width", width);
    p.number("vector_count", vectors);
    bool isSorted = u.rivals > 1;
    launch(reduction == ScatterReduction::none ? "scatter_store" : "scatter_combine", p,
           {news.name, isSorted ? sorted.name : places.name, isSorted ? order.name : "nullptr"},
           {out.name}, blocks(u.count * vectors));
  }

  KernelGenerator &plan;
  Operation *op;
  Value x;
  const LaunchOutput &target;
  ScatterUpdateSizes u;
  Buffer places, order, sorted;
};

/// Emits a grouped matmul or its weight gradient with one thread per result element. Each thread
/// finds its group by comparing its row with the groups' ends.
void emitGroupedMatmul(KernelGenerator &plan, Operation *op, const LaunchOutput &target) {
  auto matmul = dyn_cast<GroupedMatmulOp>(op);
  Value a = op->getOperand(0);
  int64_t rows = shapeOf(a)[0], k = shapeOf(a)[1], n = shapeOf(op->getResult(0)).back(),
          total = typeOf(op->getResult(0)).getNumElements();
  if (total == 0)
    return;
  plan.kernel.flops += 2 * double(rows) * double(k) * double(n);
  TemplateParameters p(plan.indexType);
  p.type("type", getComputeTypeName(getAccumulatorType(elementOf(a))));
  p.number("rows", rows);
  p.number("k", k);
  p.number("columns", n);
  p.number("groups", shapeOf(op->getOperand(2))[0]);
  if (matmul)
    p.flag("transposed", matmul.getTransposeB());
  SmallVector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(plan.known[operand].name);
  LaunchBuilder frame(plan);
  frame.call("grouped_matmul.cuh", matmul ? "grouped_matmul" : "grouped_weight_grad", p, operands,
             {target.buffer.name});
  frame.finish(
      {uint32_t(std::min<int64_t>((total + 255) / 256, plan.options.multiprocessors * 32)), 1, 1},
      {256, 1, 1});
}

/// Emits non-maximum suppression with one thread block per row of scores. All threads of the block
/// find the next candidate in sorting order and check whether it overlaps a selected box.
void emitNonMaxSuppression(KernelGenerator &plan, NmsOp op, ArrayRef<LaunchOutput> targets) {
  ArrayRef<int64_t> shape = shapeOf(op.getScores());
  const int64_t rows = shape[0] * shape[1];
  if (rows == 0)
    return;
  TemplateParameters p(plan.indexType);
  p.type("type", getComputeTypeName(elementOf(op.getScores())));
  p.number("rows", rows);
  p.number("classes", shape[1]);
  p.number("boxes", shape[2]);
  p.number("k", op.getK());
  SmallVector<std::string> operands;
  for (Value operand : {op.getBoxes(), op.getScores(), op.getCandidates(), op.getOverlap()})
    operands.push_back(plan.known[operand].name);
  LaunchBuilder frame(plan);
  frame.call("nms.cuh", "nms_rows", p, operands, {targets[0].buffer.name, targets[1].buffer.name},
             /*usesMemory=*/true);
  frame.finish({uint32_t(std::min<int64_t>(rows, 1 << 20)), 1, 1}, {256, 1, 1});
}

} // namespace

bool emitStandaloneKernel(KernelGenerator &plan, Operation *op, ArrayRef<LaunchOutput> targets) {
  if (auto o = dyn_cast<TopKOp>(op)) {
    emitTopK(plan, o, targets);
  } else if (auto o = dyn_cast<NmsOp>(op)) {
    emitNonMaxSuppression(plan, o, targets);
  } else if (auto o = dyn_cast<CumulativeOp>(op)) {
    plan.kernel.inplace.push_back({0, 0});
    emitCumulative(plan, o, targets);
  } else if (isa<GroupedMatmulOp, GroupedWeightGradOp>(op)) {
    emitGroupedMatmul(plan, op, targets[0]);
  } else {
    plan.kernel.inplace.push_back({0, 0});
    ScatterWriter(plan, op, targets[0]).write();
  }
  return true;
}

} // namespace dlc::cuda
