//===- Whole.cpp - sorting, running sums, scatters, products of groups of rows ===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

/// A tensor as [outer, size, inner] around one axis.
struct Lines {
  Lines(ArrayRef<int64_t> shape, int64_t axis)
      : outer(product(shape.take_front(axis))), size(shape[axis]),
        inner(product(shape.drop_front(axis + 1))) {}
  int64_t outer, size, inner;
  int64_t count() const { return outer * inner; }
};

Type widened(Type element) {
  return isFloat(element) && !element.isF64() ? Type(Float32Type::get(element.getContext()))
                                              : element;
}

/// Small enough to be read from shared memory while ranks are counted.
constexpr int64_t kSharedLine = 4096;
/// Of a longer line few elements are found one after the other.
constexpr int64_t kFewBest = 64;

void topK(Planner &plan, TopKOp op, ArrayRef<Target> targets) {
  Lines lines(shapeOf(op.getX()), op.getAxis());
  int64_t k = op.getK();
  if (lines.count() == 0 || k == 0)
    return;
  Frame frame(plan);
  Text &t = frame.t;
  std::string in = plan.known[op.getX()].name, type = computeName(elementOf(op.getX()));
  for (const std::string &name : {in, targets[0].buffer.name, targets[1].buffer.name})
    frame.use(name);
  std::string I = plan.indexType, n = std::to_string(lines.size),
              inner = std::to_string(lines.inner);
  std::string before = std::string("dk::before<") + (op.getLargest() ? "true" : "false") + ">";
  bool cached =
      lines.size * ref::elementBytes(elementOf(op.getX())) <= 32768 && lines.size <= kSharedLine;
  t.open("for (" + I + " line = blockIdx.x; line < " + Twine(lines.count()) +
         "; line += gridDim.x)");
  t.line("const " + I + " outer = line / " + inner + ", inner = line % " + inner + ";");
  t.line("const " + I + " from = outer * " + Twine(lines.size * lines.inner) +
         " + inner, to = outer * " + Twine(k * lines.inner) + " + inner;");
  auto element = [&](const std::string &i) {
    return cached ? "cache[" + i + "]" : "dk::load(" + in + "[from + " + i + " * " + inner + "])";
  };
  auto put = [&](const std::string &rank, const std::string &value, const std::string &index) {
    t.line(targets[0].buffer.name + "[to + " + rank + " * " + inner + "] = dk::as<" +
           storageName(targets[0].buffer.element) + ">(" + value + ");");
    t.line(targets[1].buffer.name + "[to + " + rank + " * " + inner + "] = " + index + ";");
  };
  if (cached) {
    t.line("__shared__ " + type + " cache[" + n + "];");
    t.line("__syncthreads();");
    t.line("for (int i = threadIdx.x; i < " + n + "; i += 256) cache[i] = dk::load(" + in +
           "[from + i * " + inner + "]);");
    t.line("__syncthreads();");
  }
  if (cached || k > kFewBest) {
    // An element's place is the number of those before it.
    t.open("for (" + I + " i = threadIdx.x; i < " + n + "; i += 256)");
    t.line("const " + type + " mine = " + element("i") + ";");
    t.line(I + " rank = 0;");
    t.line("for (" + I + " j = 0; j < " + n + "; ++j) rank += " + before + "(" + element("j") +
           ", j, mine, i);");
    t.open("if (rank < " + Twine(k) + ")");
    put("rank", "mine", "i");
    t.close();
    t.close();
  } else {
    t.line("__shared__ " + type + " values[256];");
    t.line("__shared__ " + I + " places[256];");
    t.line(type + " last = (" + type + ")0;");
    t.line(I + " last_at = -1;");
    t.open("for (int rank = 0; rank < " + Twine(k) + "; ++rank)");
    t.line(type + " best = (" + type + ")0;");
    t.line(I + " at = -1;");
    t.open("for (" + I + " i = threadIdx.x; i < " + n + "; i += 256)");
    t.line("const " + type + " v = " + element("i") + ";");
    t.line("if ((last_at < 0 || " + before + "(last, last_at, v, i)) && (at < 0 || " + before +
           "(v, i, best, at))) best = v, at = i;");
    t.close();
    t.line("values[threadIdx.x] = best;");
    t.line("places[threadIdx.x] = at;");
    t.open("for (int half = 128; half > 0; half /= 2)");
    t.line("__syncthreads();");
    t.line("const int other = threadIdx.x + half;");
    t.line("if (threadIdx.x < half && places[other] >= 0 && (places[threadIdx.x] < 0 || " + before +
           "(values[other], places[other], values[threadIdx.x], places[threadIdx.x])))");
    t.line("  values[threadIdx.x] = values[other], places[threadIdx.x] = places[other];");
    t.close();
    t.line("__syncthreads();");
    t.line("last = values[0];");
    t.line("last_at = places[0];");
    t.open("if (threadIdx.x == 0)");
    put("rank", "last", "last_at");
    t.close();
    t.line("__syncthreads();");
    t.close();
  }
  t.close();
  frame.finish({uint32_t(std::min<int64_t>(lines.count(), 1 << 20)), 1, 1}, {256, 1, 1});
}

void cumulative(Planner &plan, CumulativeOp op, ArrayRef<Target> targets) {
  Lines lines(shapeOf(op.getX()), op.getAxis());
  if (lines.count() * lines.size == 0)
    return;
  Frame frame(plan);
  Text &t = frame.t;
  std::string in = plan.known[op.getX()].name, out = targets[0].buffer.name, I = plan.indexType;
  frame.use(in);
  frame.use(out);
  Type sum = widened(elementOf(op.getX()));
  std::string type = computeName(sum), inner = std::to_string(lines.inner);
  std::string stored = "dk::as<" + storageName(elementOf(op.getX())) + ">";
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
  // A block takes 256 elements at a time, and carries on what came before.
  t.line("__shared__ " + type + " part[256];");
  t.open("for (" + I + " line = blockIdx.x; line < " + count + "; line += gridDim.x)");
  t.line(from);
  t.line(type + " before = " + neutral + ";");
  t.open("for (" + I + " start = 0; start < " + n + "; start += 256)");
  t.line("const " + I + " k = start + threadIdx.x;");
  t.line("const " + type + " mine = k < " + n + " ? (" + type + ")dk::load(" + in + "[" +
         place("k") + "]) : " + neutral + ";");
  t.line("__syncthreads();");
  t.line("part[threadIdx.x] = mine;");
  t.open("for (int step = 1; step < 256; step *= 2)");
  t.line("__syncthreads();");
  t.line("const " + type + " left = threadIdx.x >= step ? part[threadIdx.x - step] : " + neutral +
         ";");
  t.line("__syncthreads();");
  t.line("part[threadIdx.x] = " + combine("left", "part[threadIdx.x]") + ";");
  t.close();
  t.line("__syncthreads();");
  std::string own = op.getExclusive()
                        ? "(threadIdx.x > 0 ? part[threadIdx.x - 1] : " + neutral + ")"
                        : "part[threadIdx.x]";
  t.line("if (k < " + n + ") " + out + "[" + place("k") + "] = " + stored + "(" +
         combine("before", own) + ");");
  t.line("before = " + combine("before", "part[255]") + ";");
  t.close();
  t.close();
  frame.finish({uint32_t(std::min<int64_t>(lines.count(), 1 << 16)), 1, 1}, {256, 1, 1});
}

/// Updates of one place form a chain in their order: what comes first walks it, so that sums are
/// the same in every run.
void scatter(Planner &plan, Operation *op, const Target &target) {
  Value x = op->getOperand(0), indices = op->getOperand(1), updates = op->getOperand(2);
  auto elements = dyn_cast<ScatterElementsOp>(op);
  ScatterReduction reduction =
      elements ? elements.getReduction() : cast<ScatterNdOp>(op).getReduction();
  auto shape = shapeOf(x), indexShape = shapeOf(indices);
  int64_t depth = elements ? shape.size() : indexShape.back();
  int64_t count = elements ? product(indexShape) : product(indexShape.drop_back());
  int64_t length = elements ? 1 : product(shape.drop_front(depth));
  // Which updates can meet at one place.
  int64_t rivals = elements ? indexShape[elements.getAxis()] : count;
  int64_t apart = elements ? product(indexShape.drop_front(elements.getAxis() + 1)) : 1;
  int64_t total = product(shape);
  if (total == 0)
    return;
  std::string I = plan.indexType, in = plan.known[x].name, out = target.buffer.name;
  auto blocks = [&](int64_t n) {
    return std::array<uint32_t, 3>{
        uint32_t(std::min<int64_t>((n + 255) / 256, plan.options.multiprocessors * 32)), 1, 1};
  };
  auto walk = [&](Frame &frame, int64_t n) {
    frame.t.open("for (" + I + " i = blockIdx.x * 256 + threadIdx.x; i < " + Twine(n) +
                 "; i += gridDim.x * 256)");
  };
  {
    Frame frame(plan);
    frame.use(in);
    frame.use(out);
    frame.t.line("if ((const void *)" + in + " == (const void *)" + out + ") return;");
    walk(frame, total);
    frame.t.line(out + "[i] = " + in + "[i];");
    frame.t.close();
    frame.finish(blocks(total), {256, 1, 1});
  }
  if (count * length == 0)
    return;
  Type i64 = IntegerType::get(op->getContext(), 64), i32 = IntegerType::get(op->getContext(), 32);
  Buffer places = plan.scratch(i64, count);
  {
    Frame frame(plan);
    Text &t = frame.t;
    Emitter &e = frame.e;
    walk(frame, count);
    e.pushScope();
    Expr i = e.freshAtom("i", 0, count - 1);
    t.line("long long place = 0, at;");
    t.line("bool inside = true;");
    Indices where = elements ? e.x.unravel(indexShape, i) : Indices();
    for (int64_t d = 0; d < depth; ++d) {
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
        wanted = e.eval(indices, at);
      }
      t.line("at = " + wanted + ";");
      t.line("at = at < 0 ? at + " + size + " : at;");
      t.line("inside = inside && at >= 0 && at < " + size + ";");
      t.line("place = place * " + size + " + at;");
    }
    e.store(places, i, "inside ? place : -1ll");
    e.popScope();
    t.close();
    frame.finish(blocks(count), {256, 1, 1});
  }
  // The next update of the same place, or -1; -2 in front of all but the first: see below.
  std::optional<Buffer> next, follows;
  if (rivals > 1) {
    next = plan.scratch(i32, count);
    follows = plan.scratch(IntegerType::get(op->getContext(), 1), count);
    Frame frame(plan);
    Text &t = frame.t;
    frame.use(places.name);
    frame.write(next->name);
    frame.write(follows->name);
    walk(frame, count);
    t.line("const long long place = " + places.name + "[i];");
    t.line("const " + I + " line = i / " + Twine(apart * rivals) + " * " + Twine(apart * rivals) +
           " + i % " + Twine(apart) + ";");
    t.line("bool first = true;");
    t.line("for (" + I + " j = line; j < i && first; j += " + Twine(apart) +
           ") first = " + places.name + "[j] != place;");
    t.line("int found = -1;");
    t.line("for (" + I + " j = i + " + Twine(apart) + "; j < line + " + Twine(apart * rivals) +
           "; j += " + Twine(apart) + ")");
    t.line("  if (" + places.name + "[j] == place) { found = (int)j; break; }");
    t.line(next->name + "[i] = found;");
    t.line(follows->name + "[i] = dk::as<dk::boolean>(!first);");
    t.close();
    frame.finish(blocks(count), {256, 1, 1});
  }
  Frame frame(plan);
  Text &t = frame.t;
  frame.use(in);
  frame.use(out);
  frame.use(places.name);
  std::string news = plan.known[updates].name;
  frame.use(news);
  Type sum = widened(elementOf(x));
  walk(frame, count * length);
  t.line("const " + I + " update = i / " + Twine(length) + ", e = i % " + Twine(length) + ";");
  t.line("const long long place = " + places.name + "[update];");
  if (next) {
    frame.use(next->name);
    frame.use(follows->name);
    t.line("if (place < 0 || dk::load(" + follows->name + "[update])) continue;");
  } else {
    t.line("if (place < 0) continue;");
  }
  std::string at = "place * " + std::to_string(length) + " + e";
  if (reduction != ScatterReduction::none)
    t.line(computeName(sum) + " value = dk::load(" + in + "[" + at + "]);");
  else
    t.line(computeName(sum) + " value = (" + computeName(sum) + ")0;");
  auto take = [&](const std::string &u) {
    std::string v = "(" + computeName(sum) + ")dk::load(" + news + "[(" + I + ")" + u + " * " +
                    std::to_string(length) + " + e])";
    ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod, ReduceKind::max,
                          ReduceKind::min};
    t.line("value = " +
           (reduction == ScatterReduction::none
                ? v
                : Emitter::combine(kinds[int(reduction)], sum, "value", v)) +
           ";");
  };
  if (next) {
    t.open("for (int u = (int)update; u >= 0; u = " + next->name + "[u])");
    take("u");
    t.close();
  } else {
    take("update");
  }
  t.line(out + "[" + at + "] = dk::as<" + storageName(elementOf(x)) + ">(value);");
  t.close();
  frame.finish(blocks(count * length), {256, 1, 1});
}

/// A thread for each element of the result, which finds its group among the ends.
void grouped(Planner &plan, Operation *op, const Target &target) {
  auto matmul = dyn_cast<GroupedMatmulOp>(op);
  Value a = op->getOperand(0), right = op->getOperand(1), ends = op->getOperand(2);
  int64_t rows = shapeOf(a)[0], k = shapeOf(a)[1], groups = shapeOf(ends)[0],
          n = shapeOf(op->getResult(0)).back(), total = typeOf(op->getResult(0)).getNumElements();
  if (total == 0)
    return;
  plan.kernel.flops += 2 * double(rows) * double(k) * double(n);
  Frame frame(plan);
  Text &t = frame.t;
  std::string I = plan.indexType, A = plan.known[a].name, B = plan.known[right].name,
              E = plan.known[ends].name, out = target.buffer.name;
  for (const std::string &name : {A, B, E, out})
    frame.use(name);
  std::string type = computeName(widened(elementOf(a)));
  auto number = [](int64_t value) { return std::to_string(value); };
  t.open("for (" + I + " i = blockIdx.x * 256 + threadIdx.x; i < " + number(total) +
         "; i += gridDim.x * 256)");
  t.line("const " + I + " column = i % " + number(n) + ", row = i / " + number(n) + " % " +
         number(matmul ? rows : k) + ";");
  // The group's first row and end; of a row behind all groups there is none.
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
  t.line(out + "[i] = dk::as<" + storageName(elementOf(op->getResult(0))) + ">(sum);");
  t.close();
  frame.finish(
      {uint32_t(std::min<int64_t>((total + 255) / 256, plan.options.multiprocessors * 32)), 1, 1},
      {256, 1, 1});
}

} // namespace

bool launchWhole(Planner &plan, Operation *op, ArrayRef<Target> targets) {
  if (auto o = dyn_cast<TopKOp>(op)) {
    topK(plan, o, targets);
  } else if (auto o = dyn_cast<CumulativeOp>(op)) {
    plan.kernel.inplace.push_back({0, 0});
    cumulative(plan, o, targets);
  } else if (isa<GroupedMatmulOp, GroupedWeightGradOp>(op)) {
    grouped(plan, op, targets[0]);
  } else {
    plan.kernel.inplace.push_back({0, 0});
    scatter(plan, op, targets[0]);
  }
  return true;
}

} // namespace dlc::cuda
