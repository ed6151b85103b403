//===- WindowGradient.cpp - gradient of the weights of convolutions with few channels ---===//
//
// Threads iterate over the same blocks of results as in the forward computation (Windows.cpp). The
// blocks are summed in parts, in a fixed order.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/windows/WindowBlocks.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

class WindowGradientWriter : public WindowBlocks {
public:
  using WindowBlocks::WindowBlocks;

  /// Emits a kernel for the gradient of weights, with one thread block for each pair of channels
  /// and part of the images. In channels-last layouts, a thread block has several vectors of
  /// adjacent channels, one per threadIdx.x.
  void write(ArrayRef<LaunchOutput> targets) {
    Value result = op->getResult(0);
    Type sum = elementOf(result);
    if (isFloat(sum) && !sum.isF64())
      sum = Float32Type::get(op->getContext());
    GradientParts parts = chooseParts();
    Buffer partial = plan.scratch(sum, groups * outputs * inputs * places * parts.count);
    writePartialGradient(parts, partial);
    partial.parts = parts.count;
    plan.known[result] = partial;
    emitElementwiseKernel(plan, targets);
  }

private:
  /// Division of a gradient of weights among threads.
  struct GradientParts {
    SmallVector<int64_t> units; ///< number of result blocks along each dimension that is summed
    int64_t total;              ///< total number of result blocks
    int64_t vectors;            ///< number of vectors of adjacent channels
    int64_t columnThreads, rows;
    int64_t blocks;       ///< number of thread blocks needed for all vectors of channels
    int64_t count, chunk; ///< number of parts of the sum, and number of result blocks in each part
  };

  GradientParts chooseParts() const {
    GradientParts p;
    p.units.push_back(images);
    for (const WindowAxis &axis : axes)
      p.units.push_back(axis.blocks());
    p.total = multiplyDims(p.units);
    p.vectors = groups * outputs * inputs / channels;
    p.columnThreads = channelsLast ? std::min<int64_t>(32, llvm::PowerOf2Ceil(p.vectors)) : 1;
    p.rows = kThreads / p.columnThreads;
    p.blocks = (p.vectors + p.columnThreads - 1) / p.columnThreads;
    int64_t parts = std::clamp<int64_t>(int64_t(plan.options.multiprocessors) * 8 / p.blocks, 1,
                                        std::max<int64_t>(1, p.total / (2 * p.rows)));
    parts = std::min<int64_t>(parts, 64);
    p.chunk = (p.total + parts - 1) / parts;
    p.count = (p.total + p.chunk - 1) / p.chunk;
    return p;
  }

  void writePartialGradient(const GradientParts &parts, const Buffer &partial) {
    LaunchBuilder frame(plan);
    Emitter &e = frame.e;
    IndentedText &t = frame.t;
    const std::string columnThreads = std::to_string(parts.columnThreads);
    // Threads past the last pair of channels compute that pair again and store nothing.
    std::string wanted = e.let(e.indexType, "blockIdx.x * " + columnThreads +
                                                (parts.columnThreads > 1 ? " + threadIdx.x" : ""));
    const bool even = parts.blocks * parts.columnThreads == parts.vectors;
    Expr pair = e.variable("pair",
                           even ? wanted
                                : "dk::smallest::of<" + e.indexType + ">(" + wanted + ", " +
                                      std::to_string(parts.vectors - 1) + ")",
                           0, parts.vectors - 1);
    Indices channelsAt = e.x.unravel({groups * outputs, inputs}, pair * channels);
    std::string row = parts.columnThreads > 1 ? "threadIdx.y" : "threadIdx.x";
    t.line(getComputeTypeName(partial.element) + " total[" + Twine(places * channels) + "] = {};");
    std::string begin =
        e.let(e.indexType, "(" + e.indexType + ")blockIdx.y * " + std::to_string(parts.chunk));
    std::string end = e.let(e.indexType, "dk::smallest::of<" + e.indexType + ">(" + begin + " + " +
                                             std::to_string(parts.chunk) + ", " +
                                             std::to_string(parts.total) + ")");
    std::string name = t.fresh("r");
    t.open("for (" + e.indexType + " " + name + " = " + begin + " + (int)" + row + "; " + name +
           " < " + end + "; " + name + " += " + Twine(parts.rows) + ")");
    e.pushScope();
    Indices where;
    for (auto [size, i] :
         llvm::zip(parts.units, e.x.unravel(parts.units, e.freshAtom(name, 0, parts.total - 1))))
      where.push_back(e.variable("u", i.text(), 0, size - 1));
    addGradientTerms(e, channelsAt, where);
    e.popScope();
    t.close();
    std::string condition = row + " == 0";
    if (!even)
      condition += " && " + wanted + " < " + std::to_string(parts.vectors);
    storeGradientSums(e, parts, pair, condition, partial);
    if (parts.columnThreads > 1)
      frame.finish({uint32_t(parts.blocks), uint32_t(parts.count), 1},
                   {uint32_t(parts.columnThreads), uint32_t(parts.rows), 1});
    else
      frame.finish({uint32_t(parts.blocks), uint32_t(parts.count), 1}, {uint32_t(kThreads), 1, 1});
  }

  /// Emits the addition of the terms of a block of results, with index `where` (image and block),
  /// to the sums `total` of the weights of a pair of channels.
  void addGradientTerms(Emitter &e, const Indices &channelsAt, const Indices &where) {
    Value dy = op->getOperand(1);
    SmallVector<int64_t> shape = blockShape();
    ArrayRef<Expr> block = ArrayRef<Expr>(where).drop_front(1);
    SmallVector<Expr> over{where[0]};
    over.append(axes.size(), Expr(0));
    Indices index = channelsAt;
    index.append(axes.size(), Expr(0));
    auto reads = e.readsOf(op, index, over);
    Indices image = reads[0].at, gradient = reads[1].at;
    image.resize(2);
    gradient.resize(2);
    std::string news = e.t.fresh("dy");
    e.t.line(getComputeTypeName(elementOf(dy)) + " " + news + "[" +
             Twine(multiplyDims(shape) * channels) + "];");
    ArrayRef<int64_t> outer = ArrayRef(shape).drop_back();
    each(outer, [&](ArrayRef<int64_t> i) {
      SmallVector<std::string> inside;
      Indices at = gradient;
      for (size_t d = 0; d < outer.size(); ++d)
        at.push_back(placeInside(e, block[d] * axes[d].block + Expr(i[d]), axes[d].size, inside));
      readLine(e, sourceOf(dy), at, block.back() * shape.back(), shape.back(),
               "(" + news + " + " + std::to_string(flat(outer, i) * shape.back() * channels) + ")",
               inside);
    });
    walkImage(e, sourceOf(op->getOperand(0)), image, block, [&](const Term &term) {
      e.t.line(slot("total", term.place) + " += " + term.elements[0] + " * " +
               slot(news, term.result) + ";");
    });
  }

  /// Emits the sums over the threads of a block and, under `condition`, their stores.
  void storeGradientSums(Emitter &e, const GradientParts &parts, const Expr &pair,
                         const std::string &condition, const Buffer &partial) {
    IndentedText &t = e.t;
    const std::string type = getComputeTypeName(partial.element);
    const int64_t results = groups * outputs * inputs * places;
    Expr part = e.variable("part", "blockIdx.y", 0, parts.count - 1);
    t.line("__shared__ " + type + " shared[" +
           Twine(parts.columnThreads > 1 ? kThreads : kThreads / 32) + "];");
    for (int64_t k = 0; k < places; ++k)
      for (int64_t c = 0; c < channels; ++c) {
        std::string mine = "total[" + std::to_string(k * channels + c) + "]", whole;
        if (parts.columnThreads == 1) {
          whole = e.let(type, "dk::block_reduce<dk::sum, " + std::to_string(kThreads) + ">(" +
                                  mine + ", shared)");
        } else {
          whole = t.fresh("v");
          t.line("__syncthreads();");
          t.line("shared[threadIdx.y * " + Twine(parts.columnThreads) +
                 " + threadIdx.x] = " + mine + ";");
          t.line("__syncthreads();");
          t.line(type + " " + whole + " = shared[threadIdx.x];");
          t.line("for (int y = 1; y < " + Twine(parts.rows) + "; ++y) " + whole +
                 " += shared[y * " + Twine(parts.columnThreads) + " + threadIdx.x];");
        }
        t.open("if (" + Twine(condition) + ")");
        e.store(partial, part * results + (pair * channels + Expr(c)) * places + Expr(k), whole);
        t.close();
      }
  }
};

} // namespace

void emitWindowGradient(KernelGenerator &plan, Operation *op, ArrayRef<LaunchOutput> targets) {
  WindowGradientWriter writer(plan, op);
  writer.choose();
  writer.write(targets);
}

} // namespace dlc::cuda
