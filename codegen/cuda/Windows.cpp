//===- Windows.cpp - pools, and convolutions of few channels: windows in registers ===//
//
// Where a group has few channels (depthwise convolutions have one), tiles of a product would be
// nearly empty, and memory's speed is the limit, as of pools. A thread makes a block of
// neighbouring results of one channel: it reads each line of the image that the block's windows
// cover once, into registers, and takes it wherever a window has it. Which window has what at which
// place is known here. The gradient of weights walks the same blocks, and sums them up in parts, in
// order. Where images lie with their channels last, a thread makes this of several neighbouring
// channels. Small images whose lines are no vectors are read and written through shared memory,
// many at a time.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Plan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

constexpr int64_t kThreads = 256, kLeastThreads = 64;
/// Groups of more channels are products.
constexpr int64_t kMostChannels = 8;
/// Places of a window, and multiply-adds that are written out.
constexpr int64_t kMostPlaces = 64, kMostTerms = 1024;
/// Neighbours along the last dimension.
constexpr int64_t kMostAlong = 8;
/// Elements of an image that is read through shared memory, and the bytes of those that are at a
/// time.
constexpr int64_t kSmallImage = 1024, kSharedBytes = 40 << 10;
/// Neighbouring channels of a thread, where these are last; half of them where the weights of a
/// window take many registers.
constexpr int64_t kChannels = 4, kFewPlaces = 16;

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
  /// Results and places of their windows that meet.
  int64_t terms() const {
    int64_t count = 0;
    for (int64_t i = 0; i < block; ++i)
      for (int64_t k = 0; k < window; ++k)
        count += place(i, k).has_value();
    return count;
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

/// What slides over what.
struct Sizes {
  explicit Sizes(Operation *op) : op(op) {
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

  bool hasFewChannels() const {
    return inputs <= kMostChannels && outputs <= kMostChannels && places <= kMostPlaces;
  }
  bool hasOneChannel() const { return inputs == 1 && outputs == 1; }

  Operation *op;
  bool gradient = false, pools = false;
  SmallVector<Axis> axes;
  int64_t groups = 1, outputs = 1, inputs = 1; ///< channels of a group
  int64_t places = 1, images = 1;
};

class WindowWriter : Sizes {
public:
  WindowWriter(Planner &plan, Operation *op) : Sizes(op), plan(plan) {
    channelsLast = areChannelsLast();
    if (channelsLast)
      channels = evenPart(groups, !pools && places > kFewPlaces ? kChannels / 2 : kChannels);
  }

  /// Whether this is the way, and how large a thread's block is.
  bool choose() {
    if (!hasFewChannels() || product(shapeOf(op->getResult(0))) == 0 ||
        product(shapeOf(op->getOperand(0))) == 0 || (channelsLast && !hasOneChannel()))
      return false;
    for (Axis &axis : axes)
      axis.setBlock(axis.transposed ? axis.stride : 1);
    Axis &along = axes.back();
    along.setBlock(chooseAlong(along));
    if (chooseStaged())
      return true;
    if (axes.size() > 1)
      chooseAcross(axes[axes.size() - 2]);
    for (int64_t unit = along.transposed ? along.stride : 1;
         !gradient && along.block > unit && threads() < wanted() / 4;)
      along.setBlock(std::max(unit, along.block / 2 / unit * unit));
    return fits();
  }

  void write(ArrayRef<Target> targets) {
    if (gradient)
      writeGradient(targets);
    else if (together > 0 && llvm::all_of(targets, [&](auto &target) { return isPlain(target); }))
      writeStaged(targets);
    else
      writeForward(targets);
  }

private:
  int64_t wanted() const { return int64_t(plan.options.multiprocessors) * 1024; }

  /// Whether registers hold a block, and its text is short enough.
  bool fits() const {
    int64_t results = channels, terms = 1;
    for (const Axis &axis : axes)
      results *= axis.block, terms *= axis.terms();
    return results <= 64 && terms <= kMostTerms;
  }

  /// What windows read.
  SmallVector<Value> sources() const {
    SmallVector<Value> list{op->getOperand(0)};
    if (auto o = dyn_cast<MaxPoolGradOp>(op))
      list.push_back(o.getPosition());
    return list;
  }
  int64_t imageSize() const {
    int64_t size = 1;
    for (const Axis &axis : axes)
      size *= axis.image;
    return size;
  }
  int64_t resultSize() const {
    int64_t size = 1;
    for (const Axis &axis : axes)
      size *= axis.size;
    return size;
  }
  int64_t blocksOfImage() const {
    int64_t count = 1;
    for (const Axis &axis : axes)
      count *= axis.blocks();
    return count;
  }

  /// Whether small images go through shared memory, and how many at a time.
  bool chooseStaged() {
    together = 0;
    const int64_t count = images * groups;
    if (channelsLast || gradient || inputs > 1 || outputs > 1 || imageSize() > kSmallImage ||
        resultSize() > kSmallImage || count < 4 * plan.options.multiprocessors ||
        (axes.back().image % 4 == 0 && axes.back().size % 4 == 0))
      return false;
    std::vector<Axis> before(axes.begin(), axes.end());
    if (axes.size() > 1) {
      Axis &across = axes[axes.size() - 2];
      const int64_t unit = across.block;
      across.setBlock(chooseAlong(across));
      while (!fits() && across.block > unit)
        across.setBlock(std::max(unit, across.block / 2 / unit * unit));
    }
    int64_t bytes = 0;
    for (Value image : sources())
      bytes += imageSize() * ref::elementBytes(elementOf(image));
    for (Value result : op->getResults())
      bytes += resultSize() * std::max<int64_t>(4, ref::elementBytes(elementOf(result)));
    // Multiples of 8 begin where vectors do.
    together = std::min(kThreads / blocksOfImage(), kSharedBytes / bytes) / 8 * 8;
    const int64_t least = (kLeastThreads / blocksOfImage() + 7) / 8 * 8;
    while (together > least && count / together < 2 * plan.options.multiprocessors)
      together = std::max(least, together / 2 / 8 * 8);
    if (fits() && together > 0 && together * blocksOfImage() >= kLeastThreads)
      return true;
    together = 0;
    llvm::copy(before, axes.begin());
    return false;
  }

  /// Whether the target's elements lie in the order of the operation's.
  bool isPlain(const Target &target) {
    Text nowhere;
    Emitter probe(nowhere, plan.indexType);
    auto shape = shapeOf(op->getResult(0));
    Indices at = probe.x.variables("d", shape);
    auto index = indexOf(probe, target.value, at);
    return index && probe.x.linear(shapeOf(target.value), *index) == probe.x.linear(shape, at);
  }

  /// Several lines, where there are threads enough: all of a short image, of which none lies
  /// outside, else four, or two where windows are compared or channels are last.
  void chooseAcross(Axis &across) {
    const int64_t unit = across.block, all = (across.size + unit - 1) / unit * unit;
    const bool compared = isa<MaxPoolOp, MaxPoolPositionsOp>(op);
    auto take = [&](int64_t block, int64_t most) {
      Axis before = across;
      across.setBlock(std::min((block + unit - 1) / unit * unit, all));
      if (fits() && (gradient || threads() >= most))
        return true;
      across = before;
      return false;
    };
    if (all <= 8 && take(all, wanted() / 4))
      return;
    if ((compared || channelsLast || !take(4, wanted())) && !take(2, wanted()))
      return;
  }

  int64_t threads() const {
    int64_t count = images * groups * outputs / channels;
    for (const Axis &axis : axes)
      count *= axis.blocks();
    return count;
  }

  /// As little as may be past the end, then in whole vectors, then long.
  int64_t chooseAlong(const Axis &axis) const {
    const int64_t longest = channelsLast ? kMostAlong / 2 : kMostAlong;
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
    for (int64_t block = longest / unit * unit; block >= 4; block -= unit)
      if (best == 0 || better(block, best))
        best = block;
    if (best == 0)
      best = unit;
    int64_t all = (axis.size + unit - 1) / unit * unit;
    return std::min(best, all);
  }

  /// Whether neighbouring channels of what is read are neighbours in memory.
  bool areChannelsLast() {
    Text nowhere;
    Emitter probe(nowhere, plan.indexType);
    for (auto &[value, buffer] : plan.known)
      probe.bind(value, buffer);
    Value image = op->getOperand(0);
    auto shape = shapeOf(image);
    Indices at;
    for (size_t d = 0; d < shape.size(); ++d)
      at.push_back(probe.freshAtom("d" + std::to_string(d), 0, std::max<int64_t>(1, shape[d]) - 1));
    if (shape[1] == 1 || shape.back() == 1)
      return false;
    Emitter::Reads reads;
    if (isInMemory(image))
      probe.reads(image, at, reads);
    return llvm::any_of(reads, [&](auto &read) {
      Expr offset = probe.x.linear(shapeOf(read.first), read.second);
      return typeOf(read.first).getNumElements() == typeOf(image).getNumElements() &&
             offset.coefficient(at[1].terms[0].first) == 1;
    });
  }

  /// Whether the value is moved or made element by element from what lies in memory.
  bool isInMemory(Value value) const {
    if (plan.known.count(value))
      return true;
    Operation *op = value.getDefiningOp();
    return op && (op->hasTrait<Elementwise>() || isa<TransposeOp, ReshapeOp, BroadcastOp>(op)) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isInMemory(operand); });
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

  /// Where an image lies in shared memory.
  struct Staged {
    std::string array;
    Expr from;
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
    if (channelsLast)
      return readPlaces(e, source, at, from, count, array, inside);
    if (auto found = staged.find(source.value); found != staged.end())
      return readStaged(e, source, found->second, at, from, count, array, inside);
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

  /// The same from shared memory.
  std::vector<Conditions> readStaged(Emitter &e, const Source &source, const Staged &from,
                                     Indices at, const Expr &first, int64_t count,
                                     const std::string &array, ArrayRef<std::string> inside) {
    std::vector<Conditions> all(count, Conditions(inside));
    auto shape = shapeOf(source.value).drop_front(2);
    at.push_back(0);
    for (int64_t i = 0; i < count; ++i) {
      at.back() = placeInside(e, first + Expr(i), shape.back(), all[i]);
      Expr offset = from.from + e.x.linear(shape, ArrayRef<Expr>(at).drop_front(2));
      std::string text = e.let(computeName(elementOf(source.value)),
                               "dk::load(" + from.array + "[" + offset.text() + "])");
      if (source.element)
        text = source.element(at, text);
      if (!all[i].empty())
        text = llvm::join(all[i], " && ") + " ? " + text + " : " + source.none;
      e.t.line(array + "[" + Twine(i) + "] = " + text + ";");
    }
    return all;
  }

  /// The same where channels are last: each place has its own vector.
  std::vector<Conditions> readPlaces(Emitter &e, const Source &source, Indices at, const Expr &from,
                                     int64_t count, const std::string &array,
                                     ArrayRef<std::string> inside) {
    std::vector<Conditions> all(count, Conditions(inside));
    at.push_back(0);
    for (int64_t i = 0; i < count; ++i) {
      at.back() = placeInside(e, from + Expr(i), shapeOf(source.value).back(), all[i]);
      e.lanes(channels, [&](Expr lane) {
        Indices here = at;
        here[1] = here[1] + lane;
        std::string text = e.eval(source.value, here);
        if (source.element)
          text = source.element(here, text);
        if (!all[i].empty())
          text = llvm::join(all[i], " && ") + " ? " + text + " : " + source.none;
        e.t.line(array + "[" + (lane + Expr(i * channels)).text() + "] = " + text + ";");
      });
    }
    return all;
  }

  /// The element of an array that has one for each channel of the thread; inside of forChannels.
  std::string slot(const std::string &array, int64_t i) const {
    return channels == 1 ? array + "[" + std::to_string(i) + "]"
                         : array + "[" + std::to_string(i * channels) + " + ch]";
  }
  void forChannels(Text &t, function_ref<void()> body) const {
    if (channels == 1)
      return body();
    t.line("#pragma unroll");
    t.open("for (int ch = 0; ch < " + Twine(channels) + "; ++ch)");
    body();
    t.close();
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
        e.t.line(source.type + " " + arrays.back() + "[" + Twine(count * channels) + "];");
        conditions = readLine(e, source, at, block.back() * along.step() + Expr(along.first), count,
                              arrays.back(), inside);
      }
      forChannels(e.t, [&] {
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
                  term.elements.push_back(slot(array, *place - along.first));
                use(term);
              }
      });
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

  /// The weights of the result's channels for an input channel of their group, in registers.
  std::string loadWeights(Emitter &e, const Indices &base, const Expr &input) {
    std::string weights = e.t.fresh("w");
    SmallVector<int64_t> window = windowShape();
    e.t.line(computeName(elementOf(op->getResult(0))) + " " + weights + "[" +
             Twine(places * channels) + "];");
    SmallVector<Expr> over{input};
    over.append(axes.size(), Expr(0));
    each(window, [&](ArrayRef<int64_t> k) {
      for (size_t d = 0; d < k.size(); ++d)
        over[d + 1] = Expr(k[d]);
      e.lanes(channels, [&](Expr lane) {
        Indices at = base;
        at[1] = at[1] + lane;
        e.t.line(weights + "[" + (lane + Expr(flat(window, k) * channels)).text() +
                 "] = " + e.eval(op->getOperand(1), e.readsOf(op, at, over)[1].at) + ";");
      });
    });
    return weights;
  }

  void writeForward(ArrayRef<Target> targets) {
    Frame frame(plan);
    Emitter &e = frame.e;
    Text &t = frame.t;
    // Neighbouring threads are neighbours in memory. Where weights are of several channels, threads
    // go down the image with them.
    const size_t rank = axes.size(), across = rank - 2;
    int64_t strips = rank > 1 ? axes[across].blocks() : 1;
    SmallVector<int64_t> units{images};
    for (const Axis &axis : axes)
      units.push_back(axis.blocks());
    units.insert(channelsLast ? units.end() : units.begin() + 1, groups * outputs / channels);
    if (channelsLast && rank > 1 && !pools) {
      int64_t rest = product(units) / strips;
      strips = std::clamp<int64_t>((wanted() + rest - 1) / rest, 1, strips);
      units[across + 1] = strips;
    }
    int64_t total = product(units);
    std::string unit =
        e.let(e.indexType, "(" + e.indexType + ")blockIdx.x * " + std::to_string(kThreads) +
                               " + (" + e.indexType + ")threadIdx.x");
    t.open("if (" + unit + " < " + Twine(total) + ")");
    e.pushScope();
    Indices where;
    for (auto [size, i] : llvm::zip(units, e.x.unravel(units, e.freshAtom(unit, 0, total - 1))))
      where.push_back(e.variable("u", i.text(), 0, size - 1));
    Indices base{where[0], (channelsLast ? where.back() : where[1]) * channels};
    Indices block(where.begin() + (channelsLast ? 1 : 2),
                  where.begin() + (channelsLast ? 1 : 2) + rank);
    base.append(rank, Expr(0));
    std::string weights = channelsLast && !pools ? loadWeights(e, base, 0) : "";
    auto write = [&] { writeBlock(frame, targets, base, block, weights); };
    if (rank > 1 && strips < axes[across].blocks())
      e.loop(block[across].text(), axes[across].blocks(), std::to_string(strips), [&](Expr at) {
        block[across] = at;
        write();
      });
    else
      write();
    e.popScope();
    t.close();
    frame.finish({uint32_t((total + kThreads - 1) / kThreads), 1, 1}, {uint32_t(kThreads), 1, 1});
  }

  /// Moves what lies behind one another of a block's images, a vector at a time: `move` gets its
  /// place among them.
  void moveImages(Emitter &e, const Expr &first, int64_t size, int64_t width,
                  function_ref<void(Expr)> move) {
    const int64_t total = images * groups * size;
    const bool even = images * groups % together == 0;
    e.loop("(int)threadIdx.x", together * size / width, std::to_string(together * blocksOfImage()),
           [&](Expr i) {
             e.t.open(even ? Twine("")
                           : "if (" + Twine((first + i * width).text()) + " < " + Twine(total) +
                                 ")");
             e.pushScope();
             move(i * width);
             e.popScope();
             e.t.close();
           });
  }

  /// A block of threads for several images.
  void writeStaged(ArrayRef<Target> targets) {
    Frame frame(plan);
    Emitter &e = frame.e;
    Text &t = frame.t;
    const int64_t count = images * groups, grid = (count + together - 1) / together;
    const int64_t tiles = blocksOfImage(), in = imageSize(), out = resultSize();
    auto widthOf = [&](int64_t size, Type element, int64_t alignment) {
      int64_t width = alignment % 16 == 0 ? 16 / ref::elementBytes(element) : 1;
      return std::min(evenPart(together * size, width), evenPart(count * size, width));
    };
    Expr number = e.variable("block", "blockIdx.x", 0, grid - 1);
    std::string own = e.let("int", "threadIdx.x / " + std::to_string(tiles));
    Expr local = e.freshAtom(own, 0, together - 1), image = number * together + local;
    // Those past the end do the last one's work, and store nothing.
    Expr read = local;
    if (count % together != 0) {
      image = e.variable("image",
                         "dk::smallest::of<" + e.indexType + ">(" + image.text() + ", " +
                             std::to_string(count - 1) + ")",
                         0, count - 1);
      read = e.variable("read", (image - number * together).text(), 0, together - 1);
    }
    for (Value source : sources()) {
      std::string array = t.fresh("image"), type = storageName(elementOf(source));
      t.line("__shared__ __align__(16) " + type + " " + array + "[" + Twine(together * in) + "];");
      Expr first = number * (together * in);
      int64_t width = widthOf(in, elementOf(source), 16);
      moveImages(e, first, in, width, [&](Expr from) {
        e.lanes(width, [&](Expr lane) {
          Indices at = e.x.unravel(shapeOf(source), first + from + lane);
          t.line(array + "[" + (from + lane).text() + "] = dk::as<" + type + ">(" +
                 e.eval(source, at) + ");");
        });
      });
      staged[source] = {array, read * in};
    }
    t.line("__syncthreads();");
    SmallVector<int64_t> blocks, sizes, shape = blockShape();
    for (const Axis &axis : axes)
      blocks.push_back(axis.blocks()), sizes.push_back(axis.size);
    Expr tile = tiles == 1
                    ? Expr(0)
                    : e.variable("tile", "threadIdx.x % " + std::to_string(tiles), 0, tiles - 1);
    Indices block = e.x.unravel(blocks, tile), base = e.x.unravel({images, groups}, image);
    for (size_t d = 0; d < axes.size(); ++d)
      base.push_back(block[d] * axes[d].block);
    makeBlock(e, base, block, "");
    staged.clear();
    SmallVector<std::string> arrays;
    for (const Target &target : targets) {
      arrays.push_back(t.fresh("result"));
      t.line("__shared__ __align__(16) " + storageName(target.buffer.element) + " " +
             arrays.back() + "[" + Twine(together * out) + "];");
    }
    each(shape, [&](ArrayRef<int64_t> i) {
      Conditions inside;
      Indices at = base;
      for (size_t d = 0; d < axes.size(); ++d)
        at[d + 2] = within(e, base[d + 2] + Expr(i[d]), axes[d].size, inside);
      t.open(inside.empty() ? Twine("") : "if (" + Twine(llvm::join(inside, " && ")) + ")");
      e.pushScope();
      Expr offset = local * out + e.x.linear(sizes, ArrayRef<Expr>(at).drop_front(2));
      SmallVector<std::string> elements =
          elementsOf(e, targets, at, std::to_string(flat(shape, i)));
      for (auto [target, array, element] : llvm::zip(targets, arrays, elements))
        t.line(array + "[" + offset.text() + "] = dk::as<" + storageName(target.buffer.element) +
               ">(" + element + ");");
      e.popScope();
      t.close();
    });
    t.line("__syncthreads();");
    for (auto [target, array] : llvm::zip(targets, arrays)) {
      frame.write(target.buffer.name);
      Expr first = number * (together * out);
      std::string width =
          std::to_string(widthOf(out, target.buffer.element, target.buffer.alignment));
      moveImages(e, first, out, widthOf(out, target.buffer.element, target.buffer.alignment),
                 [&](Expr from) {
                   t.line("dk::store<" + width + ">(" + target.buffer.name + " + " +
                          (first + from).text() + ", dk::load<" + width + ">(" + array + " + " +
                          from.text() + "));");
                 });
    }
    frame.finish({uint32_t(grid), 1, 1}, {uint32_t(together * tiles), 1, 1});
  }

  /// One block of results, of which `block` says the numbers.
  void writeBlock(Frame &frame, ArrayRef<Target> targets, Indices base, ArrayRef<Expr> block,
                  const std::string &known) {
    Emitter &e = frame.e;
    for (size_t d = 0; d < axes.size(); ++d)
      base[d + 2] = block[d] * axes[d].block;
    makeBlock(e, base, block, known);
    SmallVector<int64_t> shape = blockShape();
    ArrayRef<int64_t> outer = ArrayRef(shape).drop_back();
    each(outer, [&](ArrayRef<int64_t> i) {
      SmallVector<std::string> inside;
      Indices at = base;
      for (size_t d = 0; d < outer.size(); ++d)
        at[d + 2] = within(e, base[d + 2] + Expr(i[d]), axes[d].size, inside);
      storeLine(frame, targets, at, flat(outer, i) * shape.back(), inside);
    });
  }

  /// What a block's results are folded from, in `total`. Without weights, they are loaded.
  void makeBlock(Emitter &e, const Indices &base, ArrayRef<Expr> block, const std::string &known) {
    Text &t = e.t;
    SmallVector<int64_t> shape = blockShape();
    if (pools) {
      walkPool(e, base, block);
    } else {
      t.line(computeName(elementOf(op->getResult(0))) + " total[" +
             Twine(product(shape) * channels) + "] = {};");
      auto channel = [&](const Expr &input) {
        SmallVector<Expr> over{input};
        over.append(axes.size(), Expr(0));
        Indices image = e.readsOf(op, base, over)[0].at;
        image.resize(2);
        std::string weights = known.empty() ? loadWeights(e, base, input) : known;
        walkImage(e, sourceOf(op->getOperand(0)), image, block, [&](const Term &term) {
          t.line(
              multiplyAdd(slot("total", term.result), term.elements[0], slot(weights, term.place)));
        });
      };
      inputs == 1 ? channel(0) : e.loop("0", inputs, "1", channel);
    }
  }

  /// What a pool's results are folded from.
  void walkPool(Emitter &e, const Indices &base, ArrayRef<Expr> block) {
    Text &t = e.t;
    Type element = elementOf(op->getResult(0));
    std::string type = computeName(element);
    std::string count = std::to_string(product(blockShape()) * channels);
    Indices channel(base.begin(), base.begin() + 2);
    auto total = [&](const Term &term) { return slot("total", term.result); };
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
    bool largest = isa<MaxPoolOp, MaxPoolPositionsOp>(op);
    t.line("#pragma unroll");
    t.line("for (int i = 0; i < " + count +
           "; ++i) total[i] = " + (largest ? source.none : literal(element, 0.0)) +
           (positions ? ", place[i] = -1;" : ";"));
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
        std::string place = slot("place", term.result), v = term.elements[0];
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

  /// Where the target's element stands that the operation's result at `at` becomes.
  std::optional<Indices> indexOf(Emitter &e, Value target, const Indices &at) {
    Operation *def = target.getDefiningOp();
    if (def == op)
      return at;
    if (!def || plan.known.count(target))
      return std::nullopt;
    for (Value operand : def->getOperands()) {
      if (typeOf(operand).getNumElements() != typeOf(target).getNumElements())
        continue;
      auto from = indexOf(e, operand, at);
      if (!from)
        continue;
      if (auto transpose = dyn_cast<TransposeOp>(def)) {
        Indices turned;
        for (int64_t d : transpose.getPermutation())
          turned.push_back((*from)[d]);
        return turned;
      }
      return shapeOf(operand) == shapeOf(target)
                 ? *from
                 : e.x.reshape(shapeOf(operand), shapeOf(target), *from);
    }
    return std::nullopt;
  }

  /// Whether `width` elements from here on, of which `next` is the second one's offset, are a
  /// vector.
  static bool isVector(const Expr &first, const Expr &next, int64_t width) {
    return next - first == Expr(1) && first.constant % width == 0 &&
           llvm::all_of(first.terms, [&](auto term) { return term.second % width == 0; });
  }

  /// Stores the block's line that begins at `at`, of which `total` holds the elements from `first`
  /// on.
  void storeLine(Frame &frame, ArrayRef<Target> targets, const Indices &at, int64_t first,
                 ArrayRef<std::string> inside) {
    const Axis &along = axes.back();
    int64_t width = kMostAlong;
    for (const Target &target : targets)
      width = std::min(width, 32 / ref::elementBytes(target.buffer.element));
    width = std::min({evenPart(along.block, width), evenPart(along.size, width)});
    if (channelsLast)
      width = 1;
    for (int64_t x = 0; x < along.block; x += width) {
      SmallVector<std::string> conditions(inside);
      Indices from = at;
      from.back() = from.back() + Expr(x);
      if ((from.back() + Expr(width - 1)).high() >= along.size)
        conditions.push_back(from.back().text() + " < " + std::to_string(along.size));
      frame.t.open(conditions.empty() ? Twine("")
                                      : "if (" + Twine(llvm::join(conditions, " && ")) + ")");
      frame.e.pushScope();
      if (conditions.size() > inside.size())
        from.back() = frame.e.variable("s", from.back().text(), 0, along.size - width);
      storeVector(frame, targets, from, (first + x) * channels, channelsLast ? channels : width);
      frame.e.popScope();
      frame.t.close();
    }
  }

  /// The targets' elements that the operation's result at `at` becomes, which is the `number`th of
  /// the block.
  SmallVector<std::string> elementsOf(Emitter &e, ArrayRef<Target> targets, const Indices &at,
                                      const std::string &number) {
    Value result = op->getResult(0);
    Type element = elementOf(result);
    std::string text = "total[" + number + "]", place = "place[" + number + "]";
    if (Value bias = biasOf(op))
      text = Emitter::combine(ReduceKind::sum, element, text, e.eval(bias, {at[1]}));
    if (auto o = dyn_cast<AvgPoolOp>(op))
      text = "dk::average(" + text + ", (" + computeName(element) + ")(" + e.averaged(o, at) + "))";
    e.seedAll(result, e.let(computeName(element), text));
    if (op->getNumResults() > 1)
      e.seedAll(op->getResult(1),
                e.let("unsigned char", "(unsigned char)(" + place + " < 0 ? 0 : " + place + ")"));
    SmallVector<std::string> elements;
    for (const Target &target : targets)
      elements.push_back(e.eval(target.value, *indexOf(e, target.value, at)));
    return elements;
  }

  /// Stores neighbours, from `from` on: channels where these are last, else along the line.
  void storeVector(Frame &frame, ArrayRef<Target> targets, const Indices &from, int64_t first,
                   int64_t width) {
    Emitter &e = frame.e;
    Text &t = frame.t;
    auto neighbour = [&](const Expr &lane) {
      Indices at = from;
      Expr &moved = channelsLast ? at[1] : at.back();
      moved = moved + lane;
      return at;
    };
    auto offsetOf = [&](const Target &target, const Expr &lane) {
      return e.x.linear(shapeOf(target.value), *indexOf(e, target.value, neighbour(lane)));
    };
    SmallVector<std::string> vectors;
    for (const Target &target : targets) {
      vectors.push_back("");
      if (width == 1 || !isVector(offsetOf(target, 0), offsetOf(target, 1), width))
        continue;
      vectors.back() = t.fresh("y");
      t.line("dk::vec<" + storageName(target.buffer.element) + ", " + Twine(width) + "> " +
             vectors.back() + ";");
    }
    e.lanes(width, [&](Expr lane) {
      SmallVector<std::string> elements =
          elementsOf(e, targets, neighbour(lane), (lane + Expr(first)).text());
      for (auto [i, target] : llvm::enumerate(targets)) {
        if (vectors[i].empty())
          e.store(target.buffer, offsetOf(target, lane), elements[i]);
        else
          t.line(vectors[i] + ".e[" + lane.text() + "] = dk::as<" +
                 storageName(target.buffer.element) + ">(" + elements[i] + ");");
      }
    });
    for (auto [target, vector] : llvm::zip(targets, vectors)) {
      if (vector.empty())
        continue;
      Expr offset = offsetOf(target, 0);
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

  /// A block of threads for each pair of channels and part of the images; where channels are last,
  /// for several channels, with threads along them.
  void writeGradient(ArrayRef<Target> targets) {
    Value result = op->getResult(0), dy = op->getOperand(1);
    Type sum = elementOf(result);
    if (isFloat(sum) && !sum.isF64())
      sum = Float32Type::get(op->getContext());
    std::string type = computeName(sum);
    SmallVector<int64_t> units{images};
    for (const Axis &axis : axes)
      units.push_back(axis.blocks());
    const int64_t pairs = groups * outputs * inputs, results = pairs * places;
    const int64_t total = product(units), vectors = pairs / channels;
    const int64_t beside = channelsLast ? std::min<int64_t>(32, llvm::PowerOf2Ceil(vectors)) : 1;
    const int64_t rows = kThreads / beside, blocks = (vectors + beside - 1) / beside;
    int64_t parts = std::clamp<int64_t>(int64_t(plan.options.multiprocessors) * 8 / blocks, 1,
                                        std::max<int64_t>(1, total / (2 * rows)));
    parts = std::min<int64_t>(parts, 64);
    const int64_t chunk = (total + parts - 1) / parts;
    parts = (total + chunk - 1) / chunk;
    Buffer partial = plan.scratch(sum, results * parts);
    {
      Frame frame(plan);
      Emitter &e = frame.e;
      Text &t = frame.t;
      // Those past the end do the last one's work, and store nothing.
      std::string wanted = e.let(e.indexType, "blockIdx.x * " + std::to_string(beside) +
                                                  (beside > 1 ? " + threadIdx.x" : ""));
      const bool even = blocks * beside == vectors;
      Expr pair = e.variable("pair",
                             even ? wanted
                                  : "dk::smallest::of<" + e.indexType + ">(" + wanted + ", " +
                                        std::to_string(vectors - 1) + ")",
                             0, vectors - 1);
      Indices channelsAt = e.x.unravel({groups * outputs, inputs}, pair * channels);
      SmallVector<int64_t> shape = blockShape();
      std::string row = beside > 1 ? "threadIdx.y" : "threadIdx.x";
      t.line(type + " total[" + Twine(places * channels) + "] = {};");
      std::string begin =
          e.let(e.indexType, "(" + e.indexType + ")blockIdx.y * " + std::to_string(chunk));
      std::string end =
          e.let(e.indexType, "dk::smallest::of<" + e.indexType + ">(" + begin + " + " +
                                 std::to_string(chunk) + ", " + std::to_string(total) + ")");
      std::string name = t.fresh("r");
      t.open("for (" + e.indexType + " " + name + " = " + begin + " + (int)" + row + "; " + name +
             " < " + end + "; " + name + " += " + Twine(rows) + ")");
      e.pushScope();
      Indices where;
      for (auto [size, i] : llvm::zip(units, e.x.unravel(units, e.freshAtom(name, 0, total - 1))))
        where.push_back(e.variable("u", i.text(), 0, size - 1));
      ArrayRef<Expr> block = ArrayRef<Expr>(where).drop_front(1);
      SmallVector<Expr> over{where[0]};
      over.append(axes.size(), Expr(0));
      Indices index = channelsAt;
      index.append(axes.size(), Expr(0));
      auto reads = e.readsOf(op, index, over);
      Indices image = reads[0].at, gradient = reads[1].at;
      image.resize(2);
      gradient.resize(2);
      std::string news = t.fresh("dy");
      t.line(computeName(elementOf(dy)) + " " + news + "[" + Twine(product(shape) * channels) +
             "];");
      ArrayRef<int64_t> outer = ArrayRef(shape).drop_back();
      each(outer, [&](ArrayRef<int64_t> i) {
        SmallVector<std::string> inside;
        Indices at = gradient;
        for (size_t d = 0; d < outer.size(); ++d)
          at.push_back(placeInside(e, block[d] * axes[d].block + Expr(i[d]), axes[d].size, inside));
        readLine(e, sourceOf(dy), at, block.back() * shape.back(), shape.back(),
                 "(" + news + " + " + std::to_string(flat(outer, i) * shape.back() * channels) +
                     ")",
                 inside);
      });
      walkImage(e, sourceOf(op->getOperand(0)), image, block, [&](const Term &term) {
        t.line(slot("total", term.place) + " += " + term.elements[0] + " * " +
               slot(news, term.result) + ";");
      });
      e.popScope();
      t.close();
      Expr part = e.variable("part", "blockIdx.y", 0, parts - 1);
      t.line("__shared__ " + type + " shared[" + Twine(beside > 1 ? kThreads : kThreads / 32) +
             "];");
      for (int64_t k = 0; k < places; ++k)
        for (int64_t c = 0; c < channels; ++c) {
          std::string mine = "total[" + std::to_string(k * channels + c) + "]", whole;
          if (beside == 1) {
            whole = e.let(type, "dk::block_reduce<dk::sum, " + std::to_string(kThreads) + ">(" +
                                    mine + ", shared)");
          } else {
            whole = t.fresh("v");
            t.line("__syncthreads();");
            t.line("shared[threadIdx.y * " + Twine(beside) + " + threadIdx.x] = " + mine + ";");
            t.line("__syncthreads();");
            t.line(type + " " + whole + " = shared[threadIdx.x];");
            t.line("for (int y = 1; y < " + Twine(rows) + "; ++y) " + whole + " += shared[y * " +
                   Twine(beside) + " + threadIdx.x];");
          }
          t.open("if (" + Twine(row) + " == 0" +
                 (even ? "" : " && " + wanted + " < " + std::to_string(vectors)) + ")");
          e.store(partial, part * results + (pair * channels + Expr(c)) * places + Expr(k), whole);
          t.close();
        }
      if (beside > 1)
        frame.finish({uint32_t(blocks), uint32_t(parts), 1}, {uint32_t(beside), uint32_t(rows), 1});
      else
        frame.finish({uint32_t(blocks), uint32_t(parts), 1}, {uint32_t(kThreads), 1, 1});
    }
    partial.parts = parts;
    plan.known[result] = partial;
    launchMap(plan, targets);
  }

  Planner &plan;
  bool channelsLast = false;
  int64_t channels = 1; ///< of a thread
  int64_t together = 0; ///< images of a block that go through shared memory
  llvm::DenseMap<Value, Staged> staged;
};

} // namespace

bool isWindowed(Operation *op, bool channelsLast) {
  if (!isa<ConvOp, ConvTransposeOp, ConvWeightGradOp>(op))
    return false;
  Sizes sizes(op);
  return sizes.hasFewChannels() && (!channelsLast || sizes.hasOneChannel());
}

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
