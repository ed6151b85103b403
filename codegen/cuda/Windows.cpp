//===- Windows.cpp - pools, and convolutions of few channels: windows in registers ===//
//
// Where a group has few channels (depthwise convolutions have one), tiles of a product would be
// nearly empty, and memory's speed is the limit, as of pools. A thread makes a block of
// neighbouring results of one channel: it reads each line of the image that the block's windows
// cover once, into registers, and takes it wherever a window has it. Which window has what at which
// place is known here. The gradient of weights walks the same blocks, and sums them up in parts, in
// order.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Plan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

constexpr int64_t kThreads = 256;
/// Groups of more channels are products.
constexpr int64_t kMostChannels = 8;
/// Places of a window, and multiply-adds that are written out.
constexpr int64_t kMostPlaces = 64, kMostTerms = 1024;
/// Neighbours along the last dimension.
constexpr int64_t kMostAlong = 8;

/// One spatial dimension: blocks of results, and where their windows read the image.
struct Axis {
  int64_t size = 1, image = 1; ///< of the results, of what is read
  int64_t window = 1, stride = 1, dilation = 1, low = 0;
  bool transposed = false;
  int64_t block = 1;           ///< results of a thread
  int64_t first = 0, last = 0; ///< what a block reads, from its number times `step`

  int64_t blocks() const { return (size + block - 1) / block; }
  int64_t step() const { return transposed ? block / stride : block * stride; }
  /// Where the block's result `i` reads for place `k` of its window, if it does.
  std::optional<int64_t> place(int64_t i, int64_t k) const {
    int64_t at = i * stride + k * dilation - low;
    if (transposed) {
      int64_t q = i + low - k * dilation;
      if (q % stride != 0)
        return std::nullopt;
      at = q / stride;
    }
    bool never = blocks() == 1 && (at < 0 || at >= image);
    return never ? std::nullopt : std::optional(at);
  }
  void setBlock(int64_t results) {
    block = results;
    first = INT64_MAX, last = INT64_MIN;
    for (int64_t i = 0; i < block; ++i)
      for (int64_t k = 0; k < window; ++k)
        if (auto at = place(i, k))
          first = std::min(first, *at), last = std::max(last, *at);
    if (first > last)
      first = last = 0;
  }
};

/// The largest power of two up to `most` that divides it.
int64_t evenPart(int64_t n, int64_t most) {
  int64_t part = 1;
  while (part < most && n % (2 * part) == 0)
    part *= 2;
  return part;
}

class WindowWriter {
public:
  WindowWriter(Planner &plan, Operation *op) : plan(plan), op(op) {
    gradient = isa<ConvWeightGradOp>(op);
    pools = isa<MaxPoolOp, MaxPoolPositionsOp, AvgPoolOp, MaxPoolGradOp, AvgPoolGradOp>(op);
    ArrayRef<int64_t> image = shapeOf(op->getOperand(0)).drop_front(2), results, window;
    ArrayRef<int64_t> strides, dilations, low;
    bool transposed = false;
    auto take = [&](auto conv) {
      strides = conv.getStrides(), dilations = conv.getDilations(), low = conv.getLow();
    };
    if (auto o = dyn_cast<ConvWeightGradOp>(op)) {
      take(o);
      results = shapeOf(o.getDy()).drop_front(2);
      window = o.getWindow();
      groups = o.getGroups();
      outputs = shapeOf(o.getDy())[1] / groups;
      inputs = shapeOf(o.getX())[1] / groups;
    } else if (pools) {
      results = shapeOf(op->getResult(0)).drop_front(2);
      groups = shapeOf(op->getResult(0))[1];
      transposed = isa<MaxPoolGradOp, AvgPoolGradOp>(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case<MaxPoolOp, MaxPoolPositionsOp, AvgPoolOp, MaxPoolGradOp, AvgPoolGradOp>(
              [&](auto pool) { take(pool), window = pool.getWindow(); });
    } else {
      results = shapeOf(op->getResult(0)).drop_front(2);
      window = shapeOf(op->getOperand(1)).drop_front(2);
      if (auto o = dyn_cast<ConvOp>(op)) {
        take(o);
        groups = o.getGroups();
      } else {
        take(cast<ConvTransposeOp>(op));
        groups = cast<ConvTransposeOp>(op).getGroups();
        transposed = true;
      }
      outputs = shapeOf(op->getResult(0))[1] / groups;
      inputs = shapeOf(op->getOperand(0))[1] / groups;
    }
    for (size_t d = 0; d < image.size(); ++d)
      axes.push_back(
          {results[d], image[d], window[d], strides[d], dilations[d], low[d], transposed, 1, 0, 0});
    places = product(window);
    images = shapeOf(op->getOperand(0))[0];
  }

  /// Whether this is the way, and how large a thread's block is.
  bool choose() {
    if (inputs > kMostChannels || outputs > kMostChannels || places > kMostPlaces ||
        product(shapeOf(op->getResult(0))) == 0 || product(shapeOf(op->getOperand(0))) == 0)
      return false;
    for (Axis &axis : axes)
      axis.setBlock(axis.transposed ? axis.stride : 1);
    Axis &along = axes.back();
    along.setBlock(chooseAlong(along));
    if (axes.size() > 1) {
      Axis &across = axes[axes.size() - 2];
      // Positions are kept beside the results.
      for (int64_t block : {isa<MaxPoolPositionsOp>(op) ? 2 : 4, 2}) {
        block = std::min((block + across.block - 1) / across.block * across.block,
                         (across.size + across.block - 1) / across.block * across.block);
        int64_t terms = along.block * places * block;
        if (terms > kMostTerms || (!gradient && threadsWith(block) < wanted()))
          continue;
        across.setBlock(block);
        break;
      }
    }
    for (int64_t unit = along.transposed ? along.stride : 1;
         !gradient && along.block > unit && threadsWith(0) < wanted() / 4;)
      along.setBlock(std::max(unit, along.block / 2 / unit * unit));
    int64_t results = 1;
    for (const Axis &axis : axes)
      results *= axis.block;
    return results <= 64 && results * places <= kMostTerms;
  }

  void write(ArrayRef<Target> targets) {
    gradient ? writeGradient(targets) : writeForward(targets);
  }

private:
  int64_t wanted() const { return int64_t(plan.options.multiprocessors) * 1024; }

  int64_t threadsWith(int64_t across) const {
    int64_t threads = images * groups * outputs;
    for (size_t d = 0; d < axes.size(); ++d)
      threads *=
          across && d + 2 == axes.size() ? (axes[d].size + across - 1) / across : axes[d].blocks();
    return threads;
  }

  /// As little as may be past the end, then in whole vectors, then long.
  static int64_t chooseAlong(const Axis &axis) {
    int64_t unit = axis.transposed ? axis.stride : 1, best = 0;
    auto better = [&](int64_t a, int64_t b) {
      auto waste = [&](int64_t block) { return (axis.size + block - 1) / block * block; };
      if (waste(a) != waste(b))
        return waste(a) < waste(b);
      int64_t row = evenPart(axis.size, kMostAlong);
      int64_t x = std::min(evenPart(a, kMostAlong), row),
              y = std::min(evenPart(b, kMostAlong), row);
      return x != y ? x > y : a > b;
    };
    for (int64_t block = kMostAlong / unit * unit; block >= std::min<int64_t>(4, kMostAlong);
         block -= unit)
      if (best == 0 || better(block, best))
        best = block;
    if (best == 0)
      best = unit;
    int64_t all = (axis.size + unit - 1) / unit * unit;
    return std::min(best, all);
  }

  /// Calls `body` with all indices below `extents`, row-major.
  static void each(ArrayRef<int64_t> extents, function_ref<void(ArrayRef<int64_t>)> body) {
    SmallVector<int64_t> at(extents.size(), 0);
    for (int64_t i = 0, n = product(extents); i < n; ++i) {
      int64_t rest = i;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        at[d] = rest % extents[d];
      body(at);
    }
  }

  SmallVector<int64_t> windowShape() const {
    SmallVector<int64_t> shape;
    for (const Axis &axis : axes)
      shape.push_back(axis.window);
    return shape;
  }

  /// A place that may lie outside of the image, as one inside; the condition goes into `inside`.
  Expr placeInside(Emitter &e, const Expr &place, int64_t size,
                   SmallVectorImpl<std::string> &inside) {
    if (place.isWithin(size))
      return place;
    std::string at = e.let(e.indexType, place.text());
    std::string limit = std::to_string(size);
    inside.push_back(e.let("bool", at + " >= 0 && " + at + " < " + limit));
    return e.variable("p", "dk::clamp<" + e.indexType + ">(" + at + ", " + limit + ")", 0,
                      size - 1);
  }

  using Conditions = SmallVector<std::string>;

  /// What a walk reads of one operand: how an element's text becomes another, and what stands where
  /// there is none.
  struct Source {
    Value value;
    std::string type, none;
    std::function<std::string(const Indices &, const std::string &)> element = {};
  };

  static Source sourceOf(Value value) {
    return {value, computeName(elementOf(value)), literal(elementOf(value), 0.0)};
  }

  /// `array[0]`, ...: elements from `from` on along the last dimension, `count` of them. Returns
  /// under which conditions each lies inside; `inside` are those of the line.
  std::vector<Conditions> readLine(Emitter &e, const Source &source, Indices at, const Expr &from,
                                   int64_t count, const std::string &array,
                                   ArrayRef<std::string> inside) {
    std::vector<Conditions> all(count, Conditions(inside));
    Value value = source.value;
    Type element = elementOf(value);
    int64_t size = shapeOf(value).back();
    auto put = [&](const Expr &place, ArrayRef<std::string> conditions) {
      std::string text = e.eval(value, at);
      if (source.element)
        text = source.element(at, text);
      if (!conditions.empty())
        text = llvm::join(conditions, " && ") + " ? " + text + " : " + source.none;
      e.t.line(array + "[" + place.text() + "] = " + text + ";");
    };
    int64_t most = std::min<int64_t>(kMostAlong, 16 / ref::elementBytes(element));
    at.push_back(0);
    for (int64_t i = 0; i < count;) {
      int64_t width = 1;
      // Vectors stand where the memory's are.
      while (width < most && (from.constant + i) % (2 * width) == 0 && i + 2 * width <= count &&
             (from + Expr(i)).low() >= 0 && (from + Expr(i + 2 * width - 1)).high() < size)
        width *= 2;
      if (width == 1) {
        at.back() = placeInside(e, from + Expr(i), size, all[i]);
        put(Expr(i), all[i]);
      } else {
        e.lanes(width, [&](Expr lane) {
          at.back() = from + Expr(i) + lane;
          put(lane + Expr(i), inside);
        });
      }
      i += width;
    }
    return all;
  }

  /// A result of a block and a place of its window, both row-major, and what it reads of each
  /// source there.
  struct Term {
    int64_t result, place;
    SmallVector<std::string> elements;
    Conditions inside;
  };

  /// Reads the image line by line for the block of which `block` says the numbers.
  void walkImage(Emitter &e, ArrayRef<Source> sources, const Indices &channel, ArrayRef<Expr> block,
                 function_ref<void(const Term &)> use) {
    SmallVector<int64_t> blockOf = blockShape(), windowOf = windowShape();
    const Axis &along = axes.back();
    ArrayRef<Axis> outer = ArrayRef(axes).drop_back();
    SmallVector<int64_t> lines, results, places;
    for (const Axis &axis : outer) {
      lines.push_back(axis.last - axis.first + 1);
      results.push_back(axis.block);
      places.push_back(axis.window);
    }
    each(lines, [&](ArrayRef<int64_t> line) {
      // Which results' windows have this line, at which of their places?
      std::vector<std::pair<SmallVector<int64_t>, SmallVector<int64_t>>> takers;
      each(results, [&](ArrayRef<int64_t> i) {
        each(places, [&](ArrayRef<int64_t> k) {
          for (size_t d = 0; d < outer.size(); ++d)
            if (outer[d].place(i[d], k[d]) != std::optional(outer[d].first + line[d]))
              return;
          takers.push_back({SmallVector<int64_t>(i), SmallVector<int64_t>(k)});
        });
      });
      if (takers.empty())
        return;
      Indices at = channel;
      Conditions inside;
      for (size_t d = 0; d < outer.size(); ++d)
        at.push_back(placeInside(e, block[d] * outer[d].step() + Expr(outer[d].first + line[d]),
                                 outer[d].image, inside));
      const int64_t count = along.last - along.first + 1;
      SmallVector<std::string> arrays;
      std::vector<Conditions> conditions;
      for (const Source &source : sources) {
        arrays.push_back(e.t.fresh("line"));
        e.t.line(source.type + " " + arrays.back() + "[" + Twine(count) + "];");
        conditions = readLine(e, source, at, block.back() * along.step() + Expr(along.first), count,
                              arrays.back(), inside);
      }
      for (auto &[i, k] : takers)
        for (int64_t x = 0; x < along.block; ++x)
          for (int64_t w = 0; w < along.window; ++w)
            if (auto place = along.place(x, w)) {
              SmallVector<int64_t> result(i), window(k);
              result.push_back(x);
              window.push_back(w);
              Term term{flat(blockOf, result), flat(windowOf, window), {}, {}};
              term.inside = conditions[*place - along.first];
              for (const std::string &array : arrays)
                term.elements.push_back(array + "[" + std::to_string(*place - along.first) + "]");
              use(term);
            }
    });
  }

  static int64_t flat(ArrayRef<int64_t> shape, ArrayRef<int64_t> at) {
    int64_t offset = 0;
    for (auto [size, i] : llvm::zip(shape, at))
      offset = offset * size + i;
    return offset;
  }

  SmallVector<int64_t> blockShape() const {
    SmallVector<int64_t> shape;
    for (const Axis &axis : axes)
      shape.push_back(axis.block);
    return shape;
  }

  std::string multiplyAdd(const std::string &total, const std::string &a, const std::string &b) {
    return total + (isFloat(elementOf(op->getResult(0)))
                        ? " += " + a + " * " + b + ";"
                        : " = dk::add(" + total + ", dk::mul(" + a + ", " + b + "));");
  }

  void writeForward(ArrayRef<Target> targets) {
    Frame frame(plan);
    Emitter &e = frame.e;
    Text &t = frame.t;
    std::string type = computeName(elementOf(op->getResult(0)));
    SmallVector<int64_t> units{images, groups * outputs};
    for (const Axis &axis : axes)
      units.push_back(axis.blocks());
    int64_t total = product(units);
    std::string unit =
        e.let(e.indexType, "(" + e.indexType + ")blockIdx.x * " + std::to_string(kThreads) +
                               " + (" + e.indexType + ")threadIdx.x");
    t.open("if (" + unit + " < " + Twine(total) + ")");
    e.pushScope();
    Indices where;
    for (auto [size, i] : llvm::zip(units, e.x.unravel(units, e.freshAtom(unit, 0, total - 1))))
      where.push_back(e.variable("u", i.text(), 0, size - 1));
    ArrayRef<Expr> block = ArrayRef<Expr>(where).drop_front(2);
    // The block's first result.
    Indices base(where.begin(), where.begin() + 2);
    for (size_t d = 0; d < axes.size(); ++d)
      base.push_back(block[d] * axes[d].block);
    SmallVector<int64_t> shape = blockShape(), window = windowShape();
    if (pools)
      walkPool(e, base, block);
    else
      t.line(type + " total[" + Twine(product(shape)) + "] = {};");
    auto channel = [&](const Expr &input) {
      SmallVector<Expr> over{input};
      over.append(axes.size(), Expr(0));
      Indices image = e.readsOf(op, base, over)[0].at;
      image.resize(2);
      std::string weights = t.fresh("w");
      t.line(type + " " + weights + "[" + Twine(places) + "];");
      each(window, [&](ArrayRef<int64_t> k) {
        for (size_t d = 0; d < k.size(); ++d)
          over[d + 1] = Expr(k[d]);
        t.line(weights + "[" + Twine(flat(window, k)) +
               "] = " + e.eval(op->getOperand(1), e.readsOf(op, base, over)[1].at) + ";");
      });
      walkImage(e, sourceOf(op->getOperand(0)), image, block, [&](const Term &term) {
        t.line(multiplyAdd("total[" + std::to_string(term.result) + "]", term.elements[0],
                           weights + "[" + std::to_string(term.place) + "]"));
      });
    };
    if (!pools)
      inputs == 1 ? channel(0) : e.loop("0", inputs, "1", channel);
    std::string bias;
    if (Value value = biasOf(op))
      bias = e.eval(value, {base[1]});
    ArrayRef<int64_t> outer = ArrayRef(shape).drop_back();
    each(outer, [&](ArrayRef<int64_t> i) {
      SmallVector<std::string> inside;
      Indices at = base;
      for (size_t d = 0; d < outer.size(); ++d)
        at[d + 2] = within(e, base[d + 2] + Expr(i[d]), axes[d].size, inside);
      storeLine(frame, targets, at, flat(outer, i) * shape.back(), bias, inside);
    });
    e.popScope();
    t.close();
    frame.finish({uint32_t((total + kThreads - 1) / kThreads), 1, 1}, {uint32_t(kThreads), 1, 1});
  }

  /// What a pool's results are folded from.
  void walkPool(Emitter &e, const Indices &base, ArrayRef<Expr> block) {
    Text &t = e.t;
    Type element = elementOf(op->getResult(0));
    std::string type = computeName(element), count = std::to_string(product(blockShape()));
    Indices channel(base.begin(), base.begin() + 2);
    auto total = [](const Term &term) { return "total[" + std::to_string(term.result) + "]"; };
    Source source = sourceOf(op->getOperand(0));
    if (auto o = dyn_cast<AvgPoolGradOp>(op))
      source.element = [&e, o, type](const Indices &at, const std::string &dy) {
        return "dk::average(" + dy + ", (" + type + ")(" + e.averaged(o, at) + "))";
      };
    bool positions = isa<MaxPoolPositionsOp>(op);
    if (positions || isa<MaxPoolOp>(op))
      source.none = Emitter::neutral(ReduceKind::max, element);
    t.line(type + " total[" + count + "];");
    if (positions)
      t.line("int place[" + count + "];");
    for (int64_t i = 0, n = product(blockShape()); i < n; ++i) {
      std::string at = "[" + std::to_string(i) + "] = ";
      bool largest = isa<MaxPoolOp, MaxPoolPositionsOp>(op);
      t.line("total" + at + (largest ? source.none : literal(element, 0.0)) + ";");
      if (positions)
        t.line("place" + at + "-1;");
    }
    if (isa<MaxPoolOp>(op)) {
      walkImage(e, source, channel, block, [&](const Term &term) {
        t.line("if (dk::better<true, false>(" + term.elements[0] + ", " + total(term) + ")) " +
               total(term) + " = " + term.elements[0] + ";");
      });
    } else if (positions) {
      // The first of equal ones wins; NaN wins over every number.
      enum { Nothing, Perhaps, Something };
      SmallVector<int> found(product(blockShape()), Nothing);
      walkImage(e, source, channel, block, [&](const Term &term) {
        std::string place = "place[" + std::to_string(term.result) + "]", v = term.elements[0];
        std::string better = "dk::better<true, false>(" + v + ", " + total(term) + ")";
        int &before = found[term.result];
        Conditions all = term.inside;
        if (before == Perhaps)
          better = "(" + place + " < 0 || " + better + ")";
        if (before != Nothing)
          all.push_back(better);
        before = std::max<int>(before, term.inside.empty() ? Something : Perhaps);
        t.line((all.empty() ? "" : "if (" + llvm::join(all, " && ") + ") ") + total(term) + " = " +
               v + ", " + place + " = " + Twine(term.place) + ";");
      });
    } else if (auto o = dyn_cast<MaxPoolGradOp>(op)) {
      Source position{o.getPosition(), "int", "-1", {}};
      walkImage(e, {source, position}, channel, block, [&](const Term &term) {
        t.line("if (" + term.elements[1] + " == " + Twine(term.place) + ") " + total(term) +
               " += " + term.elements[0] + ";");
      });
    } else {
      walkImage(e, source, channel, block,
                [&](const Term &term) { t.line(total(term) + " += " + term.elements[0] + ";"); });
    }
  }

  /// A place that may lie past the end, and the condition that it does not.
  static Expr within(Emitter &e, const Expr &place, int64_t size,
                     SmallVectorImpl<std::string> &inside) {
    if (place.isWithin(size))
      return place;
    Expr at = e.variable("s", place.text(), 0, size - 1);
    inside.push_back(at.text() + " < " + std::to_string(size));
    return at;
  }

  /// Stores the block's line that begins at `at`, of which `total` holds the elements from `first`
  /// on.
  void storeLine(Frame &frame, ArrayRef<Target> targets, const Indices &at, int64_t first,
                 const std::string &bias, ArrayRef<std::string> inside) {
    Emitter &e = frame.e;
    Text &t = frame.t;
    const Axis &along = axes.back();
    Value result = op->getResult(0);
    Type element = elementOf(result);
    int64_t width = kMostAlong;
    for (const Target &target : targets)
      width = std::min(width, 32 / ref::elementBytes(target.buffer.element));
    width = std::min({evenPart(along.block, width), evenPart(along.size, width)});
    for (int64_t x = 0; x < along.block; x += width) {
      SmallVector<std::string> conditions(inside);
      Indices from = at;
      from.back() = from.back() + Expr(x);
      if ((from.back() + Expr(width - 1)).high() >= along.size)
        conditions.push_back(from.back().text() + " < " + std::to_string(along.size));
      t.open(conditions.empty() ? Twine("") : "if (" + Twine(llvm::join(conditions, " && ")) + ")");
      e.pushScope();
      if (conditions.size() > inside.size())
        from.back() = e.variable("s", from.back().text(), 0, along.size - width);
      SmallVector<std::string> vectors;
      if (width > 1)
        for (const Target &target : targets) {
          vectors.push_back(t.fresh("y"));
          t.line("dk::vec<" + storageName(target.buffer.element) + ", " + Twine(width) + "> " +
                 vectors.back() + ";");
        }
      e.lanes(width, [&](Expr lane) {
        Indices here = from;
        here.back() = here.back() + lane;
        std::string number = "[" + (lane + Expr(first + x)).text() + "]", text = "total" + number;
        if (!bias.empty())
          text = Emitter::combine(ReduceKind::sum, element, text, bias);
        if (auto o = dyn_cast<AvgPoolOp>(op))
          text = "dk::average(" + text + ", (" + computeName(element) + ")(" + e.averaged(o, here) +
                 "))";
        e.seedAll(result, e.let(computeName(element), text));
        if (op->getNumResults() > 1)
          e.seedAll(op->getResult(1),
                    e.let("unsigned char",
                          "(unsigned char)(place" + number + " < 0 ? 0 : place" + number + ")"));
        SmallVector<std::string> elements;
        // Every target's elements are in the order of the convolution's.
        for (const Target &target : targets)
          elements.push_back(e.eval(
              target.value, target.value == result
                                ? here
                                : e.x.reshape(shapeOf(result), shapeOf(target.value), here)));
        for (auto [i, target] : llvm::enumerate(targets)) {
          if (width == 1)
            e.store(target.buffer, e.x.linear(shapeOf(result), here), elements[i]);
          else
            t.line(vectors[i] + ".e[" + lane.text() + "] = dk::as<" +
                   storageName(target.buffer.element) + ">(" + elements[i] + ");");
        }
      });
      if (width > 1) {
        Expr offset = e.x.linear(shapeOf(result), from);
        for (auto [target, vector] : llvm::zip(targets, vectors)) {
          frame.write(target.buffer.name);
          int64_t bytes = width * ref::elementBytes(target.buffer.element);
          if (target.buffer.alignment % std::min<int64_t>(16, bytes) == 0) {
            t.line("dk::store<" + Twine(width) + ">(" + target.buffer.name + " + " + offset.text() +
                   ", " + vector + ");");
            continue;
          }
          for (int64_t l = 0; l < width; ++l)
            t.line(target.buffer.name + "[" + (offset + Expr(l)).text() + "] = " + vector + ".e[" +
                   Twine(l) + "];");
        }
      }
      e.popScope();
      t.close();
    }
  }

  /// A block of threads for each pair of channels and part of the images.
  void writeGradient(ArrayRef<Target> targets) {
    Value result = op->getResult(0), dy = op->getOperand(1);
    Type sum = elementOf(result);
    if (isFloat(sum) && !sum.isF64())
      sum = Float32Type::get(op->getContext());
    std::string type = computeName(sum);
    SmallVector<int64_t> units{images};
    for (const Axis &axis : axes)
      units.push_back(axis.blocks());
    int64_t total = product(units), pairs = groups * outputs * inputs, results = pairs * places;
    int64_t parts = std::clamp<int64_t>(int64_t(plan.options.multiprocessors) * 8 / pairs, 1,
                                        std::max<int64_t>(1, total / (2 * kThreads)));
    parts = std::min<int64_t>(parts, 64);
    int64_t chunk = (total + parts - 1) / parts;
    parts = (total + chunk - 1) / chunk;
    Buffer partial = plan.scratch(sum, results * parts);
    {
      Frame frame(plan);
      Emitter &e = frame.e;
      Text &t = frame.t;
      Expr pair = e.variable("pair", "blockIdx.x", 0, pairs - 1);
      Indices channels = e.x.unravel({groups * outputs, inputs}, pair);
      SmallVector<int64_t> shape = blockShape();
      t.line(type + " total[" + Twine(places) + "] = {};");
      std::string begin =
          e.let(e.indexType, "(" + e.indexType + ")blockIdx.y * " + std::to_string(chunk));
      std::string end =
          e.let(e.indexType, "dk::smallest::of<" + e.indexType + ">(" + begin + " + " +
                                 std::to_string(chunk) + ", " + std::to_string(total) + ")");
      std::string name = t.fresh("r");
      t.open("for (" + e.indexType + " " + name + " = " + begin + " + (int)threadIdx.x; " + name +
             " < " + end + "; " + name + " += " + Twine(kThreads) + ")");
      e.pushScope();
      Indices where;
      for (auto [size, i] : llvm::zip(units, e.x.unravel(units, e.freshAtom(name, 0, total - 1))))
        where.push_back(e.variable("u", i.text(), 0, size - 1));
      ArrayRef<Expr> block = ArrayRef<Expr>(where).drop_front(1);
      SmallVector<Expr> over{where[0]};
      over.append(axes.size(), Expr(0));
      Indices index = channels;
      index.append(axes.size(), Expr(0));
      auto reads = e.readsOf(op, index, over);
      Indices image = reads[0].at, gradient = reads[1].at;
      image.resize(2);
      gradient.resize(2);
      std::string news = t.fresh("dy");
      t.line(computeName(elementOf(dy)) + " " + news + "[" + Twine(product(shape)) + "];");
      ArrayRef<int64_t> outer = ArrayRef(shape).drop_back();
      each(outer, [&](ArrayRef<int64_t> i) {
        SmallVector<std::string> inside;
        Indices at = gradient;
        for (size_t d = 0; d < outer.size(); ++d)
          at.push_back(placeInside(e, block[d] * axes[d].block + Expr(i[d]), axes[d].size, inside));
        readLine(e, sourceOf(dy), at, block.back() * shape.back(), shape.back(),
                 "(" + news + " + " + std::to_string(flat(outer, i) * shape.back()) + ")", inside);
      });
      walkImage(e, sourceOf(op->getOperand(0)), image, block, [&](const Term &term) {
        t.line("total[" + Twine(term.place) + "] += " + term.elements[0] + " * " + news + "[" +
               Twine(term.result) + "];");
      });
      e.popScope();
      t.close();
      t.line("__shared__ " + type + " shared[" + Twine(kThreads / 32) + "];");
      Expr part = e.variable("part", "blockIdx.y", 0, parts - 1);
      for (int64_t k = 0; k < places; ++k) {
        std::string whole = e.let(type, "dk::block_reduce<dk::sum, " + std::to_string(kThreads) +
                                            ">(total[" + std::to_string(k) + "], shared)");
        t.open("if (threadIdx.x == 0)");
        e.store(partial, part * results + pair * places + Expr(k), whole);
        t.close();
      }
      frame.finish({uint32_t(pairs), uint32_t(parts), 1}, {uint32_t(kThreads), 1, 1});
    }
    partial.parts = parts;
    plan.known[result] = partial;
    launchMap(plan, targets);
  }

  Planner &plan;
  Operation *op;
  bool gradient = false, pools = false;
  SmallVector<Axis> axes;
  int64_t groups = 1, outputs = 1, inputs = 1; ///< channels of a group
  int64_t places = 1, images = 1;
};

} // namespace

bool takesWindows(Planner &plan, Operation *op) {
  return isa<ConvOp, ConvTransposeOp, ConvWeightGradOp, MaxPoolOp, MaxPoolPositionsOp, AvgPoolOp,
             MaxPoolGradOp, AvgPoolGradOp>(op) &&
         WindowWriter(plan, op).choose();
}

void launchWindows(Planner &plan, Operation *op, ArrayRef<Target> targets) {
  WindowWriter writer(plan, op);
  writer.choose();
  writer.write(targets);
}

} // namespace dlc::cuda
