//===- Windows.cpp - pools, and convolutions with few channels, as windows in registers ---===//
//
// If a group has few channels (one in depthwise convolutions), the tiles of a tiled contraction
// would be nearly empty, and the operation is memory bound like a pool. A thread computes a block
// of adjacent results of one channel. It reads each line of the image that the block's windows
// cover once into registers and uses it for all windows that contain it. The code is unrolled, so
// the position of each element in each window is known at compile time. In channels-last layouts,
// a thread computes several adjacent channels. Small images whose lines are not whole vectors are
// read and written through shared memory, many at a time.
//===----------------------------------------------------------------------===//
#include "codegen/cuda/windows/WindowBlocks.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

class WindowWriter : public WindowBlocks {
public:
  using WindowBlocks::WindowBlocks;

  void write(ArrayRef<LaunchOutput> targets) {
    if (together > 0 && llvm::all_of(targets, [&](auto &target) { return isPlain(target); }))
      writeStaged(targets);
    else
      writeForward(targets);
  }

private:
  void writeForward(ArrayRef<LaunchOutput> targets) {
    LaunchBuilder frame(plan);
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    // Adjacent threads access adjacent memory. With channels last, the threads of a convolution
    // iterate down the image and keep the weights of their channels in registers.
    const size_t rank = axes.size(), across = rank - 2;
    int64_t strips = rank > 1 ? axes[across].blocks() : 1;
    SmallVector<int64_t> units{images};
    for (const WindowAxis &axis : axes)
      units.push_back(axis.blocks());
    units.insert(channelsLast ? units.end() : units.begin() + 1, groups * outputs / channels);
    if (channelsLast && rank > 1 && !pools) {
      int64_t rest = multiplyDims(units) / strips;
      strips = std::clamp<int64_t>((wanted() + rest - 1) / rest, 1, strips);
      units[across + 1] = strips;
    }
    int64_t total = multiplyDims(units);
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

  /// Emits a copy of the contiguous data of a thread block's images, one vector at a time. `move`
  /// gets the offset of the vector.
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

  /// Returns the number of elements per access to the contiguous data of a thread block's images,
  /// of `size` elements each.
  int64_t stagedWidth(int64_t size, Type element, int64_t alignment) const {
    int64_t width = alignment % 16 == 0 ? 16 / ref::elementBytes(element) : 1;
    return std::min(getPowerOfTwoDivisor(together * size, width),
                    getPowerOfTwoDivisor(images * groups * size, width));
  }

  /// Emits a kernel in which each thread block computes several images, which are staged through
  /// shared memory.
  void writeStaged(ArrayRef<LaunchOutput> targets) {
    LaunchBuilder frame(plan);
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    const int64_t count = images * groups, grid = (count + together - 1) / together;
    const int64_t tiles = blocksOfImage(), out = resultSize();
    Expr number = e.variable("block", "blockIdx.x", 0, grid - 1);
    std::string own = e.let("int", "threadIdx.x / " + std::to_string(tiles));
    Expr local = e.freshAtom(own, 0, together - 1), image = number * together + local;
    // Threads past the last image compute that image again and store nothing.
    Expr read = local;
    if (count % together != 0) {
      image = e.variable("image",
                         "dk::smallest::of<" + e.indexType + ">(" + image.text() + ", " +
                             std::to_string(count - 1) + ")",
                         0, count - 1);
      read = e.variable("read", (image - number * together).text(), 0, together - 1);
    }
    stageImages(e, number, read);
    SmallVector<int64_t> blocks;
    for (const WindowAxis &axis : axes)
      blocks.push_back(axis.blocks());
    Expr tile = tiles == 1
                    ? Expr(0)
                    : e.variable("tile", "threadIdx.x % " + std::to_string(tiles), 0, tiles - 1);
    Indices block = e.x.unravel(blocks, tile), base = e.x.unravel({images, groups}, image);
    for (size_t d = 0; d < axes.size(); ++d)
      base.push_back(block[d] * axes[d].block);
    makeBlock(e, base, block, "");
    staged.clear();
    SmallVector<std::string> arrays = stageResults(e, targets, base, local);
    for (auto [target, array] : llvm::zip(targets, arrays)) {
      frame.write(target.buffer.name);
      Expr first = number * (together * out);
      int64_t width = stagedWidth(out, target.buffer.element, target.buffer.alignment);
      moveImages(e, first, out, width, [&](Expr from) {
        t.line("dk::store<" + Twine(width) + ">(" + target.buffer.name + " + " +
               (first + from).text() + ", dk::load<" + Twine(width) + ">(" + array + " + " +
               from.text() + "));");
      });
    }
    frame.finish({uint32_t(grid), 1, 1}, {uint32_t(together * tiles), 1, 1});
  }

  /// Emits copies of the images of block `number` to shared memory. `read`: a thread's image.
  void stageImages(Emitter &e, const Expr &number, const Expr &read) {
    const int64_t in = imageSize();
    for (Value source : sources()) {
      std::string array = e.t.fresh("image"), type = getStorageTypeName(elementOf(source));
      e.t.line("__shared__ __align__(16) " + type + " " + array + "[" + Twine(together * in) +
               "];");
      Expr first = number * (together * in);
      int64_t width = stagedWidth(in, elementOf(source), 16);
      moveImages(e, first, in, width, [&](Expr from) {
        e.lanes(width, [&](Expr lane) {
          Indices at = e.x.unravel(shapeOf(source), first + from + lane);
          e.t.line(array + "[" + (from + lane).text() + "] = dk::as<" + type + ">(" +
                   e.eval(source, at) + ");");
        });
      });
      staged[source] = {array, read * in};
    }
    e.t.line("__syncthreads();");
  }

  /// Emits stores of a thread's block of results, which starts at `base`, to shared memory. Returns
  /// the names of the targets' arrays. `local`: a thread's image.
  SmallVector<std::string> stageResults(Emitter &e, ArrayRef<LaunchOutput> targets,
                                        const Indices &base, const Expr &local) {
    IndentedText &t = e.t;
    const int64_t out = resultSize();
    SmallVector<int64_t> sizes, shape = blockShape();
    for (const WindowAxis &axis : axes)
      sizes.push_back(axis.size);
    SmallVector<std::string> arrays;
    for (const LaunchOutput &target : targets) {
      arrays.push_back(t.fresh("result"));
      t.line("__shared__ __align__(16) " + getStorageTypeName(target.buffer.element) + " " +
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
        t.line(array + "[" + offset.text() + "] = dk::as<" +
               getStorageTypeName(target.buffer.element) + ">(" + element + ");");
      e.popScope();
      t.close();
    });
    t.line("__syncthreads();");
    return arrays;
  }

  /// Emits the computation and the stores of one block of results; `block` has its indices.
  void writeBlock(LaunchBuilder &frame, ArrayRef<LaunchOutput> targets, Indices base,
                  ArrayRef<Expr> block, const std::string &known) {
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

  /// Emits the computation of a block's results in the array `total`. `known` is the array of the
  /// weights; if it is empty, they are loaded.
  void makeBlock(Emitter &e, const Indices &base, ArrayRef<Expr> block, const std::string &known) {
    IndentedText &t = e.t;
    SmallVector<int64_t> shape = blockShape();
    if (pools) {
      walkPool(e, base, block);
    } else {
      t.line(getComputeTypeName(elementOf(op->getResult(0))) + " total[" +
             Twine(multiplyDims(shape) * channels) + "] = {};");
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

  /// Emits the computation of the results of a pool in the array `total`.
  void walkPool(Emitter &e, const Indices &base, ArrayRef<Expr> block) {
    IndentedText &t = e.t;
    Type element = elementOf(op->getResult(0));
    std::string type = getComputeTypeName(element);
    std::string count = std::to_string(multiplyDims(blockShape()) * channels);
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
           "; ++i) total[i] = " + (largest ? source.none : formatLiteral(element, 0.0)) +
           (positions ? ", place[i] = -1;" : ";"));
    if (isa<MaxPoolOp>(op)) {
      walkImage(e, source, channel, block, [&](const Term &term) {
        t.line("if (dk::replaces_best<true, false>(" + term.elements[0] + ", " + total(term) +
               ")) " + total(term) + " = " + term.elements[0] + ";");
      });
    } else if (positions) {
      // The result is the first position of the maximum. NaN is larger than all numbers.
      enum { Nothing, Perhaps, Something };
      SmallVector<int> found(multiplyDims(blockShape()), Nothing);
      walkImage(e, source, channel, block, [&](const Term &term) {
        std::string place = slot("place", term.result), v = term.elements[0];
        std::string better = "dk::replaces_best<true, false>(" + v + ", " + total(term) + ")";
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

  /// Returns a position with the value `place` and the range [0, size). If the position may be past
  /// the end, adds the condition that it is less than `size` to `inside`.
  static Expr within(Emitter &e, const Expr &place, int64_t size,
                     SmallVectorImpl<std::string> &inside) {
    if (place.isWithin(size))
      return place;
    Expr at = e.variable("s", place.text(), 0, size - 1);
    inside.push_back(at.text() + " < " + std::to_string(size));
    return at;
  }

  /// Returns whether the target's elements are stored in the same order as the elements of the
  /// operation's result.
  bool isPlain(const LaunchOutput &target) {
    IndentedText nowhere;
    Emitter probe(nowhere, plan.indexType);
    auto shape = shapeOf(op->getResult(0));
    Indices at = probe.x.variables("d", shape);
    auto index = indexInTarget(plan, probe, op, target.value, at);
    return index && probe.x.linear(shapeOf(target.value), *index) == probe.x.linear(shape, at);
  }

  /// Returns whether `width` elements from offset `first` on are an aligned vector. `next` is the
  /// offset of the second element.
  static bool isVector(const Expr &first, const Expr &next, int64_t width) {
    return next - first == Expr(1) && first.constant % width == 0 &&
           llvm::all_of(first.terms, [&](auto term) { return term.second % width == 0; });
  }

  /// Emits stores of the line of results that starts at index `at`. The line starts at element
  /// `first` of `total`.
  void storeLine(LaunchBuilder &frame, ArrayRef<LaunchOutput> targets, const Indices &at,
                 int64_t first, ArrayRef<std::string> inside) {
    const WindowAxis &along = axes.back();
    int64_t width = kMaxAlong;
    for (const LaunchOutput &target : targets)
      width = std::min(width, 32 / ref::elementBytes(target.buffer.element));
    width = std::min(
        {getPowerOfTwoDivisor(along.block, width), getPowerOfTwoDivisor(along.size, width)});
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

  /// Returns the texts of the targets' elements that are computed from the operation's result at
  /// index `at`, which is element `number` of the block.
  SmallVector<std::string> elementsOf(Emitter &e, ArrayRef<LaunchOutput> targets, const Indices &at,
                                      const std::string &number) {
    Value result = op->getResult(0);
    Type element = elementOf(result);
    std::string text = "total[" + number + "]", place = "place[" + number + "]";
    if (Value bias = biasOf(op))
      text = Emitter::combine(ReduceKind::sum, element, text, e.eval(bias, {at[1]}));
    if (auto o = dyn_cast<AvgPoolOp>(op))
      text = "dk::average(" + text + ", (" + getComputeTypeName(element) + ")(" +
             e.averaged(o, at) + "))";
    e.seedAll(result, e.rounded(result, e.let(getComputeTypeName(element), text)));
    if (op->getNumResults() > 1)
      e.seedAll(op->getResult(1),
                e.let("unsigned char", "(unsigned char)(" + place + " < 0 ? 0 : " + place + ")"));
    SmallVector<std::string> elements;
    for (const LaunchOutput &target : targets)
      elements.push_back(e.eval(target.value, *indexInTarget(plan, e, op, target.value, at)));
    return elements;
  }

  /// Emits stores of `width` adjacent elements that start at index `from`: adjacent channels in
  /// channels-last layouts, otherwise adjacent elements of a line.
  void storeVector(LaunchBuilder &frame, ArrayRef<LaunchOutput> targets, const Indices &from,
                   int64_t first, int64_t width) {
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    auto neighbour = [&](const Expr &lane) {
      Indices at = from;
      Expr &moved = channelsLast ? at[1] : at.back();
      moved = moved + lane;
      return at;
    };
    auto offsetOf = [&](const LaunchOutput &target, const Expr &lane) {
      return e.x.linear(shapeOf(target.value),
                        *indexInTarget(plan, e, op, target.value, neighbour(lane)));
    };
    SmallVector<std::string> vectors;
    for (const LaunchOutput &target : targets) {
      vectors.push_back("");
      if (width == 1 || !isVector(offsetOf(target, 0), offsetOf(target, 1), width))
        continue;
      vectors.back() = t.fresh("y");
      t.line("dk::vec<" + getStorageTypeName(target.buffer.element) + ", " + Twine(width) + "> " +
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
                 getStorageTypeName(target.buffer.element) + ">(" + elements[i] + ");");
      }
    });
    for (auto [target, vector] : llvm::zip(targets, vectors))
      if (!vector.empty())
        e.storeVector(target.buffer, offsetOf(target, 0), width, vector);
  }
};

} // namespace

bool hasWindowKernel(Operation *op, bool channelsLast) {
  if (!op->hasTrait<Convolutional>())
    return false;
  WindowSizes sizes(op);
  return sizes.hasFewChannels() && (!channelsLast || sizes.hasOneChannel());
}

bool usesWindowKernel(KernelGenerator &plan, Operation *op) {
  return (op->hasTrait<Convolutional>() || op->hasTrait<Pooling>()) &&
         WindowWriter(plan, op).choose();
}

void emitWindowKernel(KernelGenerator &plan, Operation *op, ArrayRef<LaunchOutput> targets) {
  if (isa<ConvWeightGradOp>(op))
    return emitWindowGradient(plan, op, targets);
  WindowWriter writer(plan, op);
  writer.choose();
  writer.write(targets);
}

} // namespace dlc::cuda
