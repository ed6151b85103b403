//===- WindowBlocks.h - blocks of results per thread, and how their windows are read ---===//
#ifndef DLC_CODEGEN_CUDA_WINDOWS_WINDOWBLOCKS_H
#define DLC_CODEGEN_CUDA_WINDOWS_WINDOWBLOCKS_H

#include "codegen/cuda/windows/WindowShape.h"

namespace dlc::cuda {

class WindowBlocks : protected WindowSizes {
public:
  WindowBlocks(KernelGenerator &plan, mlir::Operation *op) : WindowSizes(op), plan(plan) {
    channelsLast = areChannelsLast();
    if (channelsLast)
      channels =
          getPowerOfTwoDivisor(groups, !pools && places > kFewPlaces ? kChannels / 2 : kChannels);
  }

  /// Chooses the sizes of the block of results that a thread computes. Returns false if this
  /// schedule does not support the operation.
  bool choose() {
    if (!hasFewChannels() || multiplyDims(shapeOf(op->getResult(0))) == 0 ||
        multiplyDims(shapeOf(op->getOperand(0))) == 0 || (channelsLast && !hasOneChannel()))
      return false;
    for (WindowAxis &axis : axes)
      axis.setBlock(axis.transposed ? axis.stride : 1);
    WindowAxis &along = axes.back();
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

protected:
  int64_t wanted() const { return int64_t(plan.options.multiprocessors) * 1024; }

  /// Returns whether a thread's block fits in registers and its unrolled text is short enough.
  bool fits() const {
    int64_t results = channels, terms = 1;
    for (const WindowAxis &axis : axes)
      results *= axis.block, terms *= axis.terms();
    // The gradient of weights also needs registers for its own sums.
    return results <= (gradient ? 32 : 64) && terms <= kMaxTerms;
  }

  /// Returns the operands from which the windows read.
  llvm::SmallVector<mlir::Value> sources() const {
    llvm::SmallVector<mlir::Value> list{op->getOperand(0)};
    if (auto o = llvm::dyn_cast<MaxPoolGradOp>(op))
      list.push_back(o.getPosition());
    return list;
  }
  int64_t imageSize() const {
    int64_t size = 1;
    for (const WindowAxis &axis : axes)
      size *= axis.image;
    return size;
  }
  int64_t resultSize() const {
    int64_t size = 1;
    for (const WindowAxis &axis : axes)
      size *= axis.size;
    return size;
  }
  int64_t blocksOfImage() const {
    int64_t count = 1;
    for (const WindowAxis &axis : axes)
      count *= axis.blocks();
    return count;
  }

  /// Returns whether small images are read through shared memory. Sets `together`, the number of
  /// images per thread block.
  bool chooseStaged() {
    together = 0;
    const int64_t count = images * groups;
    if (channelsLast || gradient || inputs > 1 || outputs > 1 || imageSize() > kSmallImage ||
        resultSize() > kSmallImage || count < 4 * plan.options.multiprocessors ||
        (axes.back().image % 4 == 0 && axes.back().size % 4 == 0))
      return false;
    std::vector<WindowAxis> before(axes.begin(), axes.end());
    if (axes.size() > 1) {
      WindowAxis &across = axes[axes.size() - 2];
      const int64_t unit = across.block;
      across.setBlock(chooseAlong(across));
      while (!fits() && across.block > unit)
        across.setBlock(std::max(unit, across.block / 2 / unit * unit));
    }
    int64_t bytes = 0;
    for (mlir::Value image : sources())
      bytes += imageSize() * ref::elementBytes(elementOf(image));
    for (mlir::Value result : op->getResults())
      bytes += resultSize() * std::max<int64_t>(4, ref::elementBytes(elementOf(result)));
    // With a multiple of 8 images, each group of images starts at a vector boundary.
    together = std::min(kThreads / blocksOfImage(), kSharedBytes / bytes) / 8 * 8;
    const int64_t least = (kMinThreads / blocksOfImage() + 7) / 8 * 8;
    while (together > least && count / together < 2 * plan.options.multiprocessors)
      together = std::max(least, together / 2 / 8 * 8);
    if (fits() && together > 0 && together * blocksOfImage() >= kMinThreads)
      return true;
    together = 0;
    llvm::copy(before, axes.begin());
    return false;
  }

  /// Chooses how many lines of the image a thread computes, if there are enough threads: all lines
  /// of a short image, so that none is out of range; otherwise four; or two for max pools and for
  /// channels-last layouts.
  void chooseAcross(WindowAxis &across) {
    const int64_t unit = across.block, all = (across.size + unit - 1) / unit * unit;
    const bool compared = llvm::isa<MaxPoolOp, MaxPoolPositionsOp>(op);
    auto take = [&](int64_t block, int64_t most) {
      WindowAxis before = across;
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
    for (const WindowAxis &axis : axes)
      count *= axis.blocks();
    return count;
  }

  /// Returns the number of adjacent results of a thread along an axis: preferably with the fewest
  /// results past the end of the axis, then with full vectors, then the maximum.
  int64_t chooseAlong(const WindowAxis &axis) const {
    const int64_t longest = channelsLast ? kMaxAlong / 2 : kMaxAlong;
    int64_t unit = axis.transposed ? axis.stride : 1, best = 0;
    auto better = [&](int64_t a, int64_t b) {
      auto waste = [&](int64_t block) { return (axis.size + block - 1) / block * block; };
      if (waste(a) != waste(b))
        return waste(a) < waste(b);
      int64_t row = getPowerOfTwoDivisor(axis.size, kMaxAlong);
      int64_t x = std::min(getPowerOfTwoDivisor(a, kMaxAlong), row),
              y = std::min(getPowerOfTwoDivisor(b, kMaxAlong), row);
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

  /// Returns whether adjacent channels of the input image are contiguous in memory (channels last).
  bool areChannelsLast() {
    IndentedText nowhere;
    Emitter probe(nowhere, plan.indexType);
    for (auto &[value, buffer] : plan.known)
      probe.bind(value, buffer);
    mlir::Value image = op->getOperand(0);
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

  /// Returns whether the value is in memory, or is computed from values in memory only by
  /// elementwise operations and operations that move elements.
  bool isInMemory(mlir::Value value) const {
    if (plan.known.count(value))
      return true;
    mlir::Operation *op = value.getDefiningOp();
    return op &&
           (op->hasTrait<Elementwise>() || llvm::isa<TransposeOp, ReshapeOp, BroadcastOp>(op)) &&
           llvm::all_of(op->getOperands(),
                        [&](mlir::Value operand) { return isInMemory(operand); });
  }

  /// Calls `body` with all multi-dimensional indices less than `extents`, in row-major order.
  static void each(llvm::ArrayRef<int64_t> extents,
                   llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body) {
    llvm::SmallVector<int64_t> at(extents.size(), 0);
    for (int64_t i = 0, n = multiplyDims(extents); i < n; ++i) {
      int64_t rest = i;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        at[d] = rest % extents[d];
      body(at);
    }
  }

  llvm::SmallVector<int64_t> windowShape() const {
    llvm::SmallVector<int64_t> shape;
    for (const WindowAxis &axis : axes)
      shape.push_back(axis.window);
    return shape;
  }

  /// Returns an input position, clamped to the image if it may be outside. In that case, adds the
  /// condition that the position is inside the image to `inside`.
  Expr placeInside(Emitter &e, const Expr &place, int64_t size,
                   llvm::SmallVectorImpl<std::string> &inside) {
    if (place.isWithin(size))
      return place;
    std::string at = e.let(e.indexType, place.text());
    std::string limit = std::to_string(size);
    inside.push_back(e.let("bool", at + " >= 0 && " + at + " < " + limit));
    return e.variable("p", "dk::clamp<" + e.indexType + ">(" + at + ", " + limit + ")", 0,
                      size - 1);
  }

  using Conditions = llvm::SmallVector<std::string>;

  /// Operand that windows read. `element` converts the text of an element, and `none` is the value
  /// of elements outside the image.
  struct Source {
    mlir::Value value;
    std::string type, none;
    std::function<std::string(const Indices &, const std::string &)> element = {};
  };

  /// Buffer in shared memory that contains images.
  struct Staged {
    std::string array;
    Expr from;
  };

  static Source sourceOf(mlir::Value value) {
    return {value, getComputeTypeName(elementOf(value)), formatLiteral(elementOf(value), 0.0)};
  }

  /// Emits reads of `count` elements along the last dimension, which starts at position `from`,
  /// into `array[0]`, ... `inside` are the conditions under which the line is inside the image.
  /// Returns the conditions under which each element is inside the image.
  std::vector<Conditions> readLine(Emitter &e, const Source &source, Indices at, const Expr &from,
                                   int64_t count, const std::string &array,
                                   llvm::ArrayRef<std::string> inside) {
    std::vector<Conditions> all(count, Conditions(inside));
    if (channelsLast)
      return readPlaces(e, source, at, from, count, array, inside);
    if (auto found = staged.find(source.value); found != staged.end())
      return readStaged(e, source, found->second, at, from, count, array, inside);
    mlir::Value value = source.value;
    mlir::Type element = elementOf(value);
    int64_t size = shapeOf(value).back();
    auto put = [&](const Expr &place, llvm::ArrayRef<std::string> conditions) {
      std::string text = e.eval(value, at);
      if (source.element)
        text = source.element(at, text);
      if (!conditions.empty())
        text = llvm::join(conditions, " && ") + " ? " + text + " : " + source.none;
      e.t.line(array + "[" + place.text() + "] = " + text + ";");
    };
    int64_t most = std::min<int64_t>(kMaxAlong, 16 / ref::elementBytes(element));
    at.push_back(0);
    for (int64_t i = 0; i < count;) {
      int64_t width = 1;
      // A vector must start at a multiple of its width in memory.
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

  /// Emits reads of `count` elements of a line from shared memory into `array`. The parameters and
  /// the result are those of readLine().
  std::vector<Conditions> readStaged(Emitter &e, const Source &source, const Staged &from,
                                     Indices at, const Expr &first, int64_t count,
                                     const std::string &array, llvm::ArrayRef<std::string> inside) {
    std::vector<Conditions> all(count, Conditions(inside));
    auto shape = shapeOf(source.value).drop_front(2);
    at.push_back(0);
    for (int64_t i = 0; i < count; ++i) {
      at.back() = placeInside(e, first + Expr(i), shape.back(), all[i]);
      Expr offset = from.from + e.x.linear(shape, llvm::ArrayRef<Expr>(at).drop_front(2));
      std::string text = e.let(getComputeTypeName(elementOf(source.value)),
                               "dk::load(" + from.array + "[" + offset.text() + "])");
      if (source.element)
        text = source.element(at, text);
      if (!all[i].empty())
        text = llvm::join(all[i], " && ") + " ? " + text + " : " + source.none;
      e.t.line(array + "[" + llvm::Twine(i) + "] = " + text + ";");
    }
    return all;
  }

  /// Emits reads of `count` elements of a line in a channels-last layout, in which each position
  /// has a vector of channels. The parameters and the result are those of readLine().
  std::vector<Conditions> readPlaces(Emitter &e, const Source &source, Indices at, const Expr &from,
                                     int64_t count, const std::string &array,
                                     llvm::ArrayRef<std::string> inside) {
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

  /// Returns the text of element i of an array that has an element for each of the thread's
  /// channels. It is valid inside forChannels().
  std::string slot(const std::string &array, int64_t i) const {
    return channels == 1 ? array + "[" + std::to_string(i) + "]"
                         : array + "[" + std::to_string(i * channels) + " + ch]";
  }
  void forChannels(IndentedText &t, llvm::function_ref<void()> body) const {
    if (channels == 1)
      return body();
    t.line("#pragma unroll");
    t.open("for (int ch = 0; ch < " + llvm::Twine(channels) + "; ++ch)");
    body();
    t.close();
  }

  /// Pair of a result in a thread's block and an element of its window, both as row-major offsets.
  /// `elements`: texts of the input elements that are read, one per source.
  struct Term {
    int64_t result, place;
    llvm::SmallVector<std::string> elements;
    Conditions inside;
  };

  /// Emits reads of the image, line by line, for the block of results with the indices `block`.
  /// Calls `use` for each pair of a result and a window element.
  void walkImage(Emitter &e, llvm::ArrayRef<Source> sources, const Indices &channel,
                 llvm::ArrayRef<Expr> block, llvm::function_ref<void(const Term &)> use) {
    llvm::SmallVector<int64_t> blockOf = blockShape(), windowOf = windowShape();
    const WindowAxis &along = axes.back();
    llvm::ArrayRef<WindowAxis> outer = llvm::ArrayRef(axes).drop_back();
    llvm::SmallVector<int64_t> lines, results, places;
    for (const WindowAxis &axis : outer) {
      lines.push_back(axis.last - axis.first + 1);
      results.push_back(axis.block);
      places.push_back(axis.window);
    }
    each(lines, [&](llvm::ArrayRef<int64_t> line) {
      // Finds the results whose windows contain this line, and the line's position in these
      // windows.
      std::vector<std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>>> takers;
      each(results, [&](llvm::ArrayRef<int64_t> i) {
        each(places, [&](llvm::ArrayRef<int64_t> k) {
          for (size_t d = 0; d < outer.size(); ++d)
            if (outer[d].place(i[d], k[d]) != std::optional(outer[d].first + line[d]))
              return;
          takers.push_back({llvm::SmallVector<int64_t>(i), llvm::SmallVector<int64_t>(k)});
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
      llvm::SmallVector<std::string> arrays;
      std::vector<Conditions> conditions;
      for (const Source &source : sources) {
        arrays.push_back(e.t.fresh("line"));
        e.t.line(source.type + " " + arrays.back() + "[" + llvm::Twine(count * channels) + "];");
        conditions = readLine(e, source, at, block.back() * along.step() + Expr(along.first), count,
                              arrays.back(), inside);
      }
      forChannels(e.t, [&] {
        for (auto &[i, k] : takers)
          for (int64_t x = 0; x < along.block; ++x)
            for (int64_t w = 0; w < along.window; ++w)
              if (auto place = along.place(x, w)) {
                llvm::SmallVector<int64_t> result(i), window(k);
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

  static int64_t flat(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> at) {
    int64_t offset = 0;
    for (auto [size, i] : llvm::zip(shape, at))
      offset = offset * size + i;
    return offset;
  }

  llvm::SmallVector<int64_t> blockShape() const {
    llvm::SmallVector<int64_t> shape;
    for (const WindowAxis &axis : axes)
      shape.push_back(axis.block);
    return shape;
  }

  std::string multiplyAdd(const std::string &total, const std::string &a, const std::string &b) {
    return total + (isFloat(elementOf(op->getResult(0)))
                        ? " += " + a + " * " + b + ";"
                        : " = dk::add(" + total + ", dk::mul(" + a + ", " + b + "));");
  }

  /// Emits loads of the weights of a thread's channels, for one input channel of their group, into
  /// registers. Returns the name of the array.
  std::string loadWeights(Emitter &e, const Indices &base, const Expr &input) {
    std::string weights = e.t.fresh("w");
    llvm::SmallVector<int64_t> window = windowShape();
    e.t.line(getComputeTypeName(elementOf(op->getResult(0))) + " " + weights + "[" +
             llvm::Twine(places * channels) + "];");
    llvm::SmallVector<Expr> over{input};
    over.append(axes.size(), Expr(0));
    each(window, [&](llvm::ArrayRef<int64_t> k) {
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

  KernelGenerator &plan;
  bool channelsLast = false;
  int64_t channels = 1; ///< number of adjacent channels that a thread computes
  int64_t together = 0; ///< number of images that a thread block reads through shared memory
  llvm::DenseMap<mlir::Value, Staged> staged;
};

/// Emits the gradient of the weights of a convolution.
void emitWindowGradient(KernelGenerator &plan, mlir::Operation *op,
                        llvm::ArrayRef<LaunchOutput> targets);

} // namespace dlc::cuda
#endif
