//===- StandaloneKernels.cpp - sorting, suppression, running sums, scatters, grouped matmuls -===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

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

/// Maximum number of elements that a thread block sorts in shared memory, and bytes of that memory.
constexpr int64_t kSorted = 4096, kSharedBytes = 48 << 10;

/// Top-k in several launches: thread blocks sort parts of a line. The first k elements of all parts
/// are the line that the next launch sorts, until there is one part.
class TopKWriter {
public:
  TopKWriter(KernelGenerator &plan, TopKOp op, ArrayRef<LaunchOutput> targets)
      : plan(plan), op(op), targets(targets), lines(shapeOf(op.getX()), op.getAxis()), k(op.getK()),
        element(elementOf(op.getX())), I(plan.indexType) {
    most = kSorted;
    while (most * (ref::elementBytes(element) + (I == "int" ? 4 : 8)) > kSharedBytes)
      most /= 2;
  }

  void write() {
    if (lines.count() == 0 || k == 0)
      return;
    // With a large k, the number of parts would hardly decrease from launch to launch, so elements
    // are ranked by counting.
    if (lines.size > most && k > most / 4)
      return count();
    Buffer values = plan.known[op.getX()], places;
    int64_t size = lines.size;
    for (bool first = true;; first = false) {
      int64_t parts = (size + most - 1) / most;
      Buffer newValues, newPlaces;
      if (parts > 1) {
        newValues = plan.scratch(element, lines.count() * parts * k);
        newPlaces = plan.scratch(IntegerType::get(op->getContext(), I == "int" ? 32 : 64),
                                 lines.count() * parts * k);
      }
      writeParts(size, parts, values, first ? nullptr : &places, newValues, newPlaces);
      if (parts == 1)
        return;
      values = newValues, places = newPlaces, size = parts * k;
    }
  }

private:
  std::string before() {
    return std::string("dk::ranks_before<") + (op.getLargest() ? "true" : "false") + ">";
  }
  std::string type() const { return getComputeTypeName(element); }

  /// Emits the offsets of line `line` in the operand (from) and in the results (to).
  void findLine(IndentedText &t) const {
    std::string inner = std::to_string(lines.inner);
    t.line("const " + I + " outer = line / " + inner + ", inner = line % " + inner + ";");
    t.line("const " + I + " from = outer * " + Twine(lines.size * lines.inner) +
           " + inner, to = outer * " + Twine(k * lines.inner) + " + inner;");
  }

  void put(IndentedText &t, const std::string &rank, const std::string &value,
           const std::string &place) {
    std::string at = "[to + " + rank + " * " + std::to_string(lines.inner) + "] = ";
    t.line(targets[0].buffer.name + at + "dk::as<" + getStorageTypeName(targets[0].buffer.element) +
           ">(" + value + ");");
    t.line(targets[1].buffer.name + at + place + ";");
  }

  void writeParts(int64_t size, int64_t parts, const Buffer &values, const Buffer *places,
                  const Buffer &newValues, const Buffer &newPlaces) {
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    int64_t room = 2;
    while (room < std::min(size, most))
      room *= 2;
    frame.use(values.name);
    if (places)
      frame.use(places->name);
    std::string length = std::to_string(size), wanted = std::to_string(k);
    t.line("__shared__ " + type() + " values[" + Twine(room) + "];");
    t.line("__shared__ " + I + " places[" + Twine(room) + "];");
    t.line("const " + I + " line = blockIdx.x / " + Twine(parts) + ", start = blockIdx.x % " +
           Twine(parts) + " * " + Twine(room) + ";");
    findLine(t);
    t.open("for (int i = threadIdx.x; i < " + Twine(room) + "; i += 256)");
    t.line("const " + I + " at = start + i;");
    t.line("const bool inside = at < " + length + ";");
    std::string place =
        places ? "line * " + length + " + at" : "from + at * " + std::to_string(lines.inner);
    t.line("values[i] = inside ? dk::load(" + values.name + "[" + place + "]) : (" + type() +
           ")0;");
    t.line("places[i] = inside ? " + (places ? places->name + "[" + place + "]" : "at") +
           " : dk::highest<" + I + ">();");
    t.close();
    t.line(std::string("dk::sort_block<") + (op.getLargest() ? "true" : "false") + ", " +
           Twine(room) + ">(values, places);");
    t.open("for (int i = threadIdx.x; i < " + wanted + "; i += 256)");
    if (parts == 1) {
      frame.use(targets[0].buffer.name);
      frame.use(targets[1].buffer.name);
      put(t, "i", "values[i]", "places[i]");
    } else {
      frame.write(newValues.name);
      frame.write(newPlaces.name);
      std::string to = "[blockIdx.x * " + wanted + " + i] = ";
      t.line(newValues.name + to + "dk::as<" + getStorageTypeName(element) + ">(values[i]);");
      t.line(newPlaces.name + to + "places[i];");
    }
    t.close();
    frame.finish({uint32_t(lines.count() * parts), 1, 1}, {256, 1, 1});
  }

  /// Emits a top-k that ranks elements by counting: the rank of an element is the number of
  /// elements that precede it in sorting order.
  void count() {
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    std::string in = plan.known[op.getX()].name, n = std::to_string(lines.size);
    for (const std::string &name : {in, targets[0].buffer.name, targets[1].buffer.name})
      frame.use(name);
    auto element = [&](const std::string &i) {
      return "dk::load(" + in + "[from + " + i + " * " + std::to_string(lines.inner) + "])";
    };
    t.open("for (" + I + " line = blockIdx.x; line < " + Twine(lines.count()) +
           "; line += gridDim.x)");
    findLine(t);
    t.open("for (" + I + " i = threadIdx.x; i < " + n + "; i += 256)");
    t.line("const " + type() + " mine = " + element("i") + ";");
    t.line(I + " rank = 0;");
    t.line("for (" + I + " j = 0; j < " + n + "; ++j) rank += " + before() + "(" + element("j") +
           ", j, mine, i);");
    t.open("if (rank < " + Twine(k) + ")");
    put(t, "rank", "mine", "i");
    t.close();
    t.close();
    t.close();
    frame.finish({uint32_t(std::min<int64_t>(lines.count(), 1 << 20)), 1, 1}, {256, 1, 1});
  }

  KernelGenerator &plan;
  TopKOp op;
  ArrayRef<LaunchOutput> targets;
  AxisLines lines;
  int64_t k, most;
  Type element;
  std::string I;
};

void emitCumulative(KernelGenerator &plan, CumulativeOp op, ArrayRef<LaunchOutput> targets) {
  AxisLines lines(shapeOf(op.getX()), op.getAxis());
  if (lines.count() * lines.size == 0)
    return;
  LaunchBuilder frame(plan);
  IndentedText &t = frame.t;
  std::string in = plan.known[op.getX()].name, out = targets[0].buffer.name, I = plan.indexType;
  frame.use(in);
  frame.use(out);
  Type sum = getAccumulatorType(elementOf(op.getX()));
  std::string type = getComputeTypeName(sum), inner = std::to_string(lines.inner);
  std::string stored = "dk::as<" + getStorageTypeName(elementOf(op.getX())) + ">";
  auto combine = [&](const std::string &a, const std::string &b) {
    return Emitter::combine(op.getKind(), sum, a, b);
  };
  std::string neutral = Emitter::neutral(op.getKind(), sum);
  std::string count = std::to_string(lines.count()), n = std::to_string(lines.size);
  auto place = [&](const std::string &k) {
    return "from + " +
           (op.getReverse() ? "(" + std::to_string(lines.size - 1) + " - " + k + ")" : k) + " * " +
           inner;
  };
  std::string from = "const " + I + " from = line / " + inner + " * " +
                     std::to_string(lines.size * lines.inner) + " + line % " + inner + ";";
  if (lines.size <= 64 || lines.inner >= 32) {
    t.open("for (" + I + " line = blockIdx.x * 128 + threadIdx.x; line < " + count +
           "; line += gridDim.x * 128)");
    t.line(from);
    t.line(type + " running = " + neutral + ";");
    t.open("for (" + I + " k = 0; k < " + n + "; ++k)");
    t.line("const " + type +
           " next = " + combine("running", "dk::load(" + in + "[" + place("k") + "])") + ";");
    t.line(out + "[" + place("k") + "] = " + stored + "(" +
           (op.getExclusive() ? "running" : "next") + ");");
    t.line("running = next;");
    t.close();
    t.close();
    frame.finish({uint32_t(std::min<int64_t>((lines.count() + 127) / 128, 1 << 16)), 1, 1},
                 {128, 1, 1});
    return;
  }
  // A thread block scans several elements per thread at a time and adds the total of all previous
  // elements.
  const int64_t each = lines.size >= 4 * 256 ? 8 : 1;
  const std::string step = std::to_string(256 * each), own = std::to_string(each);
  t.line("__shared__ " + type + " part[256];");
  t.open("for (" + I + " line = blockIdx.x; line < " + count + "; line += gridDim.x)");
  t.line(from);
  t.line(type + " before = " + neutral + ";");
  t.open("for (" + I + " start = 0; start < " + n + "; start += " + step + ")");
  t.line("const " + I + " first = start + threadIdx.x * " + own + ";");
  t.line(type + " mine[" + own + "], total = " + neutral + ";");
  t.line("#pragma unroll");
  t.open("for (int l = 0; l < " + own + "; ++l)");
  t.line("const " + I + " k = first + l;");
  t.line("mine[l] = k < " + n + " ? (" + type + ")dk::load(" + in + "[" + place("k") +
         "]) : " + neutral + ";");
  t.line("total = " + combine("total", "mine[l]") + ";");
  t.close();
  t.line("__syncthreads();");
  t.line("part[threadIdx.x] = total;");
  t.open("for (int step = 1; step < 256; step *= 2)");
  t.line("__syncthreads();");
  t.line("const " + type + " left = threadIdx.x >= step ? part[threadIdx.x - step] : " + neutral +
         ";");
  t.line("__syncthreads();");
  t.line("part[threadIdx.x] = " + combine("left", "part[threadIdx.x]") + ";");
  t.close();
  t.line("__syncthreads();");
  t.line(type + " running = " +
         combine("before", "(threadIdx.x > 0 ? part[threadIdx.x - 1] : " + neutral + ")") + ";");
  t.line("#pragma unroll");
  t.open("for (int l = 0; l < " + own + "; ++l)");
  t.line("const " + I + " k = first + l;");
  t.line("const " + type + " next = " + combine("running", "mine[l]") + ";");
  t.line("if (k < " + n + ") " + out + "[" + place("k") + "] = " + stored + "(" +
         (op.getExclusive() ? "running" : "next") + ");");
  t.line("running = next;");
  t.close();
  t.line("before = " + combine("before", "part[255]") + ";");
  t.close();
  t.close();
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
  int64_t length; ///< contiguous elements of one update
  /// `rivals`: number of updates that may have the same target. `apart`: distance between their
  /// indices.
  int64_t rivals, apart;
};

/// Up to kFewRivals updates that may have the same target are ranked by counting, without shared
/// memory. More than kManyRivals are sorted in parts.
constexpr int64_t kFewRivals = 256, kManyRivals = 8192;
constexpr int64_t kRivalTile = 512, kRivalPart = 2048;

/// Emits a deterministic scatter: updates with the same target are combined in the order of their
/// indices. Updates are sorted by target, by counting the updates that precede each one. The thread
/// at the first update of a target then combines all updates of that target.
class ScatterWriter {
public:
  ScatterWriter(KernelGenerator &plan, Operation *op, const LaunchOutput &target)
      : plan(plan), op(op), x(op->getOperand(0)), target(target), u(op), I(plan.indexType) {
    unsigned bits = I == "int" ? 32 : 64;
    place = IntegerType::get(op->getContext(), bits);
  }

  void write() {
    if (typeOf(x).getNumElements() == 0)
      return;
    copy();
    if (u.count * u.length == 0)
      return;
    findPlaces();
    if (u.rivals > 1)
      sort();
    apply();
  }

private:
  std::array<uint32_t, 3> blocks(int64_t n) const {
    return {uint32_t(std::min<int64_t>((n + 255) / 256, plan.options.multiprocessors * 32)), 1, 1};
  }
  void walk(LaunchBuilder &frame, int64_t n) const {
    frame.t.open("for (" + I + " i = blockIdx.x * 256 + threadIdx.x; i < " + Twine(n) +
                 "; i += gridDim.x * 256)");
  }
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
    LaunchBuilder frame(plan);
    const Buffer &in = plan.known[x], &out = target.buffer;
    frame.use(in.name);
    frame.use(out.name);
    int64_t total = typeOf(x).getNumElements(), width = widthOf(total, {in, out});
    std::string w = std::to_string(width);
    frame.t.line("if ((const void *)" + in.name + " == (const void *)" + out.name + ") return;");
    walk(frame, total / width);
    frame.t.line("dk::store<" + w + ">(" + out.name + " + i * " + w + ", dk::load<" + w + ">(" +
                 in.name + " + i * " + w + "));");
    frame.t.close();
    frame.finish(blocks(total / width), {256, 1, 1});
  }

  /// Emits a launch that computes the target of each update, or -1 if the target is out of bounds.
  void findPlaces() {
    auto elements = dyn_cast<ScatterElementsOp>(op);
    auto shape = shapeOf(x), indexShape = shapeOf(op->getOperand(1));
    places = plan.scratch(place, u.count);
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    Emitter &e = frame.e;
    walk(frame, u.count);
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
    e.store(places, i, "(" + I + ")(inside ? place : -1ll)");
    e.popScope();
    t.close();
    frame.finish(blocks(u.count), {256, 1, 1});
  }

  /// Emits launches that sort the updates by target, separately for each line of updates that may
  /// have the same target. `order` contains the indices of the updates and `sorted` their targets.
  void sort() {
    order = plan.scratch(IntegerType::get(op->getContext(), I == "int" ? 32 : 64), u.count);
    sorted = plan.scratch(place, u.count);
    int64_t lines = u.count / u.rivals, blocksOfLine = (u.rivals + 255) / 256;
    std::string rivals = std::to_string(u.rivals), apart = std::to_string(u.apart);
    std::string base =
        "line / " + apart + " * " + std::to_string(u.apart * u.rivals) + " + line % " + apart;
    bool few = u.rivals <= kFewRivals;
    if (u.rivals > kManyRivals)
      return sortParts(lines, base);
    Buffer counts;
    int64_t parts = 1;
    if (!few) {
      parts = std::clamp<int64_t>(2 * plan.options.multiprocessors / (lines * blocksOfLine), 1,
                                  std::min<int64_t>(64, (u.rivals + kRivalTile - 1) / kRivalTile));
      int64_t range = (u.rivals + parts * kRivalTile - 1) / (parts * kRivalTile) * kRivalTile;
      parts = (u.rivals + range - 1) / range;
      counts = plan.scratch(IntegerType::get(op->getContext(), 32), parts * u.count);
      LaunchBuilder frame(plan);
      IndentedText &t = frame.t;
      frame.use(places.name);
      frame.write(counts.name);
      std::string tile = std::to_string(kRivalTile), each = std::to_string(blocksOfLine);
      t.line("__shared__ __align__(16) " + I + " tile[" + tile + "];");
      t.line("const " + I + " line = blockIdx.x / " + each + ", r = blockIdx.x % " + each +
             " * 256 + threadIdx.x;");
      t.line("const " + I + " from = " + base + ";");
      t.line("const " + I + " place = r < " + rivals + " ? " + places.name + "[from + r * " +
             apart + "] : -1;");
      t.line("const " + I + " begin = blockIdx.y * " + Twine(range) + ", end = begin + " +
             Twine(range) + " < " + rivals + " ? begin + " + Twine(range) + " : " + rivals + ";");
      t.line("int before = 0;");
      t.open("for (" + I + " start = begin; start < end; start += " + tile + ")");
      t.line("__syncthreads();");
      t.line("for (int k = threadIdx.x; k < " + tile + "; k += 256) tile[k] = start + k < end ? " +
             places.name + "[from + (start + k) * " + apart + "] : dk::highest<" + I + ">();");
      t.line("__syncthreads();");
      t.line("const " + I + " own = r - start;");
      t.line("#pragma unroll 8");
      t.line("for (int k = 0; k < " + tile +
             "; ++k) before += tile[k] < place || (tile[k] == place && k < own);");
      t.close();
      t.line("if (r < " + rivals + ") " + counts.name + "[blockIdx.y * " + Twine(u.count) +
             " + line * " + rivals + " + r] = before;");
      frame.finish({uint32_t(lines * blocksOfLine), uint32_t(parts), 1}, {256, 1, 1});
    }
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    frame.use(places.name);
    frame.write(order.name);
    frame.write(sorted.name);
    walk(frame, u.count);
    t.line("const " + I + " line = i / " + rivals + ", r = i % " + rivals + ", from = " + base +
           ", own = from + r * " + apart + ", place = " + places.name + "[own];");
    t.line(I + " rank = line * " + rivals + ";");
    if (few) {
      t.open("for (int k = 0; k < " + rivals + "; ++k)");
      t.line("const " + I + " other = " + places.name + "[from + k * " + apart + "];");
      t.line("rank += other < place || (other == place && k < r);");
      t.close();
    } else {
      frame.use(counts.name);
      t.line("for (int k = 0; k < " + Twine(parts) + "; ++k) rank += " + counts.name + "[k * " +
             Twine(u.count) + " + i];");
    }
    t.line(order.name + "[rank] = own;");
    t.line(sorted.name + "[rank] = place;");
    t.close();
    frame.finish(blocks(u.count), {256, 1, 1});
  }

  /// Emits launches that sort many updates: thread blocks sort parts, and each update finds its
  /// rank in all other parts by binary search.
  void sortParts(int64_t lines, const std::string &base) {
    const int64_t parts = (u.rivals + kRivalPart - 1) / kRivalPart;
    const std::string n = std::to_string(parts), part = std::to_string(kRivalPart),
                      rivals = std::to_string(u.rivals), apart = std::to_string(u.apart);
    Buffer keys = plan.scratch(place, u.count);
    Buffer updates = plan.scratch(order.element, u.count);
    {
      LaunchBuilder frame(plan);
      IndentedText &t = frame.t;
      frame.use(places.name);
      frame.write(keys.name);
      frame.write(updates.name);
      t.line("__shared__ " + I + " keys[" + part + "], updates[" + part + "];");
      t.line("const " + I + " line = blockIdx.x / " + n + ", start = blockIdx.x % " + n + " * " +
             part + ";");
      t.line("const " + I + " from = " + base + ";");
      t.open("for (int i = threadIdx.x; i < " + part + "; i += 256)");
      t.line("const bool inside = start + i < " + rivals + ";");
      t.line("keys[i] = inside ? " + places.name + "[from + (start + i) * " + apart + "] : 0;");
      t.line("updates[i] = inside ? start + i : dk::highest<" + I + ">();");
      t.close();
      t.line("dk::sort_block<false, " + part + ">(keys, updates);");
      t.open("for (int i = threadIdx.x; i < " + part + "; i += 256)");
      t.open("if (start + i < " + rivals + ")");
      t.line(keys.name + "[line * " + rivals + " + start + i] = keys[i];");
      t.line(updates.name + "[line * " + rivals + " + start + i] = updates[i];");
      t.close();
      t.close();
      frame.finish({uint32_t(lines * parts), 1, 1}, {256, 1, 1});
    }
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    frame.use(keys.name);
    frame.use(updates.name);
    frame.write(order.name);
    frame.write(sorted.name);
    walk(frame, u.count);
    t.line("const " + I + " line = i / " + rivals + ", r = i % " + rivals + ", from = " + base +
           ", first = line * " + rivals + ", place = " + keys.name + "[i];");
    t.line("const int own = r / " + part + ";");
    t.line(I + " rank = first + r % " + part + ";");
    // Updates with equal targets are ordered by their part.
    t.open("for (int other = 0; other < " + n + "; ++other)");
    t.line("if (other == own) continue;");
    t.line(I + " low = other * " + part + ", high = low + " + part + " < " + rivals + " ? low + " +
           part + " : " + rivals + ";");
    t.line("const " + I + " start = low;");
    t.open("while (low < high)");
    t.line("const " + I + " middle = (low + high) / 2, key = " + keys.name + "[first + middle];");
    t.line("if (key < place || (key == place && other < own)) low = middle + 1;");
    t.line("else high = middle;");
    t.close();
    t.line("rank += low - start;");
    t.close();
    t.line(order.name + "[rank] = from + " + updates.name + "[i] * " + apart + ";");
    t.line(sorted.name + "[rank] = place;");
    t.close();
    frame.finish(blocks(u.count), {256, 1, 1});
  }

  void apply() {
    auto elements = dyn_cast<ScatterElementsOp>(op);
    ScatterReduction reduction =
        elements ? elements.getReduction() : cast<ScatterNdOp>(op).getReduction();
    bool last = reduction == ScatterReduction::none;
    ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod, ReduceKind::max,
                          ReduceKind::min};
    LaunchBuilder frame(plan);
    IndentedText &t = frame.t;
    // The result already contains the operand's values: it shares the operand's buffer, or they
    // were copied.
    const Buffer &news = plan.known[op->getOperand(2)], &out = target.buffer;
    frame.use(news.name);
    frame.write(out.name);
    int64_t width = widthOf(u.length, {news, out}), vectors = u.length / width;
    Type sum = getAccumulatorType(elementOf(x));
    std::string type = getComputeTypeName(sum), w = std::to_string(width),
                length = std::to_string(u.length), n = std::to_string(u.count);
    auto lanes = [&](const std::string &statement) {
      t.line("#pragma unroll");
      t.line("for (int l = 0; l < " + w + "; ++l) " + statement);
    };
    walk(frame, u.count * vectors);
    t.line("const " + I + " at = i / " + Twine(vectors) + ", e = i % " + Twine(vectors) + " * " +
           w + ";");
    std::string key = u.rivals > 1 ? sorted.name : places.name;
    frame.use(key);
    t.line("const " + I + " place = " + key + "[at];");
    if (u.rivals > 1) {
      frame.use(order.name);
      // If updates replace elements, only the last update of a target is stored. Otherwise the
      // thread of the first update of a target combines all of them.
      t.line(last ? "if (place < 0 || (at + 1 < " + n + " && " + key +
                        "[at + 1] == place)) continue;"
                  : "if (place < 0 || (at > 0 && " + key + "[at - 1] == place)) continue;");
    } else {
      t.line("if (place < 0) continue;");
    }
    auto update = [&](const std::string &which) {
      return "dk::load<" + w + ">(" + news.name + " + " +
             (u.rivals > 1 ? order.name + "[" + which + "]" : which) + " * " + length + " + e)";
    };
    std::string result = out.name + " + place * " + length + " + e";
    if (last) {
      t.line("dk::store<" + w + ">(" + result + ", " + update("at") + ");");
    } else {
      t.line("auto old = dk::load<" + w + ">(" + result + ");");
      t.line(type + " value[" + w + "];");
      lanes("value[l] = dk::load(old.e[l]);");
      auto take = [&](const std::string &from) {
        std::string v = "(" + type + ")dk::load(" + from + ".e[l])";
        lanes("value[l] = " + Emitter::combine(kinds[int(reduction)], sum, "value[l]", v) + ";");
      };
      t.line(I + " next = at;");
      if (u.rivals > 1) {
        // If many updates have the same target, several loads are in flight at a time.
        constexpr int64_t together = 8;
        t.open("for (; next + " + Twine(together) + " <= " + n + " && " + key + "[next + " +
               Twine(together - 1) + "] == place; next += " + Twine(together) + ")");
        t.line("dk::vec<" + getStorageTypeName(elementOf(x)) + ", " + w + "> news[" +
               Twine(together) + "];");
        t.line("#pragma unroll");
        t.line("for (int k = 0; k < " + Twine(together) + "; ++k) news[k] = " + update("next + k") +
               ";");
        t.line("#pragma unroll");
        t.open("for (int k = 0; k < " + Twine(together) + "; ++k)");
        take("news[k]");
        t.close();
        t.close();
        t.open("for (; next < " + n + " && " + key + "[next] == place; ++next)");
      } else {
        t.open("");
      }
      t.line("const auto one = " + update("next") + ";");
      take("one");
      t.close();
      lanes("old.e[l] = dk::as<" + getStorageTypeName(elementOf(x)) + ">(value[l]);");
      t.line("dk::store<" + w + ">(" + result + ", old);");
    }
    t.close();
    frame.finish(blocks(u.count * vectors), {256, 1, 1});
  }

  KernelGenerator &plan;
  Operation *op;
  Value x;
  const LaunchOutput &target;
  ScatterUpdateSizes u;
  std::string I;
  Type place;
  Buffer places, order, sorted;
};

/// Emits a grouped matmul or its weight gradient with one thread per result element. Each thread
/// finds its group by comparing its row with the groups' ends.
void emitGroupedMatmul(KernelGenerator &plan, Operation *op, const LaunchOutput &target) {
  auto matmul = dyn_cast<GroupedMatmulOp>(op);
  Value a = op->getOperand(0), right = op->getOperand(1), ends = op->getOperand(2);
  int64_t rows = shapeOf(a)[0], k = shapeOf(a)[1], groups = shapeOf(ends)[0],
          n = shapeOf(op->getResult(0)).back(), total = typeOf(op->getResult(0)).getNumElements();
  if (total == 0)
    return;
  plan.kernel.flops += 2 * double(rows) * double(k) * double(n);
  LaunchBuilder frame(plan);
  IndentedText &t = frame.t;
  std::string I = plan.indexType, A = plan.known[a].name, B = plan.known[right].name,
              E = plan.known[ends].name, out = target.buffer.name;
  for (const std::string &name : {A, B, E, out})
    frame.use(name);
  std::string type = getComputeTypeName(getAccumulatorType(elementOf(a)));
  auto number = [](int64_t value) { return std::to_string(value); };
  t.open("for (" + I + " i = blockIdx.x * 256 + threadIdx.x; i < " + number(total) +
         "; i += gridDim.x * 256)");
  t.line("const " + I + " column = i % " + number(n) + ", row = i / " + number(n) + " % " +
         number(matmul ? rows : k) + ";");
  // First row and end of the group. Rows after the end of the last group have no group.
  t.line("long long begin = 0, end = 0;");
  t.line(I + " group = 0;");
  t.open("for (; group < " + number(groups) + "; ++group)");
  t.line("begin = end;");
  t.line("const long long next = dk::load(" + E + "[group]);");
  t.line("end = next < begin ? begin : next > " + number(rows) + " ? " + number(rows) + " : next;");
  t.line("if (" + (matmul ? std::string("row < end") : "group == i / " + number(k * n)) +
         ") break;");
  t.close();
  t.line(type + " sum = 0;");
  if (matmul) {
    std::string at = matmul.getTransposeB() ? "column * " + number(k) + " + p"
                                            : "p * " + number(n) + " + column";
    t.line("if (group < " + number(groups) + ")");
    t.line("  for (" + I + " p = 0; p < " + number(k) + "; ++p)");
    t.line("    sum += (" + type + ")dk::load(" + A + "[row * " + number(k) + " + p]) * (" + type +
           ")dk::load(" + B + "[group * " + number(k * n) + " + " + at + "]);");
  } else {
    t.line("for (" + I + " p = (" + I + ")begin; p < end; ++p)");
    t.line("  sum += (" + type + ")dk::load(" + A + "[p * " + number(k) + " + row]) * (" + type +
           ")dk::load(" + B + "[p * " + number(n) + " + column]);");
  }
  t.line(out + "[i] = dk::as<" + getStorageTypeName(elementOf(op->getResult(0))) + ">(sum);");
  t.close();
  frame.finish(
      {uint32_t(std::min<int64_t>((total + 255) / 256, plan.options.multiprocessors * 32)), 1, 1},
      {256, 1, 1});
}

/// Emits non-maximum suppression with one thread block per row of scores. All threads of the block
/// find the next candidate in sorting order and check whether it overlaps a selected box.
void emitNonMaxSuppression(KernelGenerator &plan, NmsOp op, ArrayRef<LaunchOutput> targets) {
  const std::string &I = plan.indexType;
  ArrayRef<int64_t> shape = shapeOf(op.getScores());
  const int64_t rows = shape[0] * shape[1];
  if (rows == 0)
    return;
  LaunchBuilder frame(plan);
  IndentedText &t = frame.t;
  std::string boxes = plan.known[op.getBoxes()].name, scores = plan.known[op.getScores()].name,
              candidates = plan.known[op.getCandidates()].name,
              overlap = plan.known[op.getOverlap()].name, places = targets[0].buffer.name,
              counts = targets[1].buffer.name, n = std::to_string(shape[2]),
              k = std::to_string(op.getK()), type = getComputeTypeName(elementOf(op.getScores()));
  for (const std::string &name : {boxes, scores, candidates, overlap, places, counts})
    frame.use(name);
  t.line("__shared__ " + type + " best[256];");
  t.line("__shared__ " + I + " at[256];");
  t.line("__shared__ int isLeft;");
  t.line("const double most = (double)dk::load(" + overlap + "[0]);");
  t.line("const int tid = threadIdx.x;");
  t.open("for (" + I + " row = blockIdx.x; row < " + Twine(rows) + "; row += gridDim.x)");
  t.line("const " + I + " first = row / " + Twine(shape[1]) + " * " + n + ";");
  t.line(I + " taken = 0, last = -1;");
  t.line(type + " lastScore = 0;");
  t.open("while (taken < " + k + ")");
  t.line(I + " mine = -1;");
  t.line(type + " score = 0;");
  t.open("for (" + I + " i = tid; i < " + n + "; i += 256)");
  t.line("if (!dk::load(" + candidates + "[row * " + n + " + i])) continue;");
  t.line("const " + type + " s = dk::load(" + scores + "[row * " + n + " + i]);");
  t.line("if (last >= 0 && !dk::ranks_before<true>(lastScore, last, s, i)) continue;");
  t.line("if (mine < 0 || dk::ranks_before<true>(s, i, score, mine)) mine = i, score = s;");
  t.close();
  t.line("best[tid] = score;");
  t.line("at[tid] = mine;");
  t.line("isLeft = 1;");
  t.line("__syncthreads();");
  t.open("for (int step = 128; step > 0; step /= 2)");
  t.line("const " + I + " other = tid < step ? at[tid + step] : (" + I + ")-1;");
  t.line("if (other >= 0 && (at[tid] < 0 || dk::ranks_before<true>(best[tid + step], other, "
         "best[tid], "
         "at[tid])))");
  t.line("  at[tid] = other, best[tid] = best[tid + step];");
  t.line("__syncthreads();");
  t.close();
  t.line("last = at[0];");
  t.line("lastScore = best[0];");
  t.line("if (last < 0) break;");
  t.open("for (" + I + " j = tid; j < taken; j += 256)");
  t.line("double area[2] = {1, 1}, common = 1;");
  t.line("const " + I + " box[2] = {first + last, first + (" + I + ")" + places + "[row * " + k +
         " + j]};");
  t.open("for (int d = 0; d < 2; ++d)");
  t.line("double low[2], high[2];");
  t.open("for (int side = 0; side < 2; ++side)");
  for (auto [name, place] : {std::pair("a", "d"), {"b", "d + 2"}})
    t.line(std::string("const double ") + name + " = (double)dk::load(" + boxes +
           "[box[side] * 4 + " + place + "]);");
  t.line("low[side] = a < b ? a : b;");
  t.line("high[side] = a < b ? b : a;");
  t.line("area[side] *= high[side] - low[side];");
  t.close();
  t.line("const double joint = (high[0] < high[1] ? high[0] : high[1]) - "
         "(low[0] < low[1] ? low[1] : low[0]);");
  t.line("common *= joint > 0 ? joint : 0;");
  t.close();
  t.line("const double all = area[0] + area[1] - common;");
  t.line("if ((all > 0 ? common / all : 0) > most) isLeft = 0;");
  t.close();
  t.line("__syncthreads();");
  t.line("const int left = isLeft;");
  t.line("if (left && tid == 0) " + places + "[row * " + k + " + taken] = last;");
  t.line("taken += left;");
  t.line("__syncthreads();");
  t.close();
  t.line("for (" + I + " j = taken + tid; j < " + k + "; j += 256) " + places + "[row * " + k +
         " + j] = 0;");
  t.line("if (tid == 0) " + counts + "[row] = taken;");
  t.line("__syncthreads();");
  t.close();
  frame.finish({uint32_t(std::min<int64_t>(rows, 1 << 20)), 1, 1}, {256, 1, 1});
}

} // namespace

bool emitStandaloneKernel(KernelGenerator &plan, Operation *op, ArrayRef<LaunchOutput> targets) {
  if (auto o = dyn_cast<TopKOp>(op)) {
    TopKWriter(plan, o, targets).write();
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
