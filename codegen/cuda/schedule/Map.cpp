//===- Map.cpp - kernels whose threads compute elements independently -----===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

constexpr int64_t kThreads = 256;

/// Returns the number of consecutive elements that a thread computes: 16 bytes of the narrowest
/// element type, but at most 32 bytes of the widest.
int64_t chooseElementsPerThread(KernelGenerator &plan, ArrayRef<LaunchOutput> targets,
                                int64_t total) {
  int64_t narrow = 8, wide = 1, operations = 0;
  auto count = [&](Type element) {
    narrow = std::min(narrow, ref::elementBytes(element));
    wide = std::max(wide, ref::elementBytes(element));
  };
  for (const LaunchOutput &target : targets)
    count(target.buffer.element);
  for (Operation &op : plan.fusion.getBody().front().without_terminator()) {
    if ((op.hasTrait<ElementLoop>() || isa<ConcatOp, PadOp>(op)) &&
        !plan.known.count(op.getResult(0)))
      return 1;
    ++operations;
  }
  for (auto &[value, buffer] : plan.known)
    if (typeOf(value).getNumElements() == total) {
      // Each thread computes one element if it reads partial results: they are read sequentially,
      // and many threads hide the latency.
      if (buffer.parts > 1)
        return 1;
      count(buffer.element);
    }
  int64_t width = std::min<int64_t>({8, 16 / narrow, 32 / wide});
  if (operations > 24)
    width = std::min<int64_t>(width, 4);
  while (width > 1 && total / width < 1024)
    width /= 2;
  return width;
}

} // namespace

void emitElementwiseKernel(KernelGenerator &plan, ArrayRef<LaunchOutput> targets) {
  if (emitTransposingKernel(plan, targets))
    return;
  int64_t total = typeOf(targets.front().value).getNumElements();
  int64_t width = chooseElementsPerThread(plan, targets, total);
  bool flat =
      llvm::all_of(targets, [](const LaunchOutput &t) { return typeOf(t.value).getRank() <= 1; });
  // Elements after the last full vector (the tail) need separate code, which is emitted only for
  // 1-D tensors. For others, the vectors are made shorter.
  if (total % width != 0 && !flat)
    while (total % width != 0)
      width /= 2;
  int64_t vectors = total / width, tail = total % width;
  int64_t blocks = std::min<int64_t>((std::max<int64_t>(vectors, 1) + kThreads - 1) / kThreads,
                                     int64_t(plan.options.multiprocessors) * 16);
  LaunchBuilder frame(plan);
  Emitter &e = frame.e;
  IndentedText &t = frame.t;
  auto element = [&](const Expr &offset, int64_t lanes) {
    std::vector<std::string> results;
    if (lanes > 1)
      for (const LaunchOutput &target : targets) {
        results.push_back(t.fresh("y"));
        t.line("dk::vec<" + getStorageTypeName(target.buffer.element) + ", " + Twine(lanes) + "> " +
               results.back() + ";");
      }
    e.lanes(lanes, [&](Expr lane) {
      Expr at = offset + lane;
      // All elements are evaluated before the first one is stored, because an output may share an
      // input's buffer.
      SmallVector<std::string> elements;
      for (const LaunchOutput &target : targets)
        elements.push_back(e.eval(target.value, e.x.unravel(shapeOf(target.value), at)));
      for (auto [i, target] : llvm::enumerate(targets)) {
        if (lanes == 1)
          e.store(target.buffer, at, elements[i]);
        else
          t.line(results[i] + ".e[" + lane.text() + "] = dk::as<" +
                 getStorageTypeName(target.buffer.element) + ">(" + elements[i] + ");");
      }
    });
    if (lanes > 1)
      for (auto [target, result] : llvm::zip(targets, results))
        e.storeVector(target.buffer, offset, lanes, result);
  };
  std::string thread = "blockIdx.x * " + std::to_string(kThreads) + " + threadIdx.x";
  if (plan.indexType != "int")
    thread = "(" + plan.indexType + ")" + thread;
  auto walk = [&](int64_t count, function_ref<void(Expr)> body) {
    e.loop(thread, count, "gridDim.x * " + std::to_string(kThreads), body);
  };
  if (vectors > 0)
    walk(vectors, [&](Expr i) { element(i * width, width); });
  if (tail > 0) {
    t.open("if (blockIdx.x == 0 && threadIdx.x < " + Twine(tail) + ")");
    e.pushScope();
    Expr i = e.variable("e", "threadIdx.x", 0, tail - 1);
    element(i + Expr(vectors * width), 1);
    e.popScope();
    t.close();
  }
  frame.finish({uint32_t(blocks), 1, 1}, {uint32_t(kThreads), 1, 1});
}

} // namespace dlc::cuda
