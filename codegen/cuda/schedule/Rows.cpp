//===- Rows.cpp - kernels whose warps or blocks process rows --------------===//
#include "codegen/cuda/Plan.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

namespace {

/// Maximum number of row elements, of all operands together, that a thread holds in registers.
/// kRegistersOfMost applies to 1024 threads per block, with which a thread has only 64 registers.
constexpr int64_t kRegisters = 64, kRegistersOfMost = 24;

struct RowShape {
  int64_t rows, columns;
  int64_t width;    ///< number of consecutive elements per memory access
  int64_t threads;  ///< number of threads that compute one row
  int64_t together; ///< number of rows that a thread block computes
  int64_t steps;    ///< number of memory accesses of each thread along a row
  bool even;        ///< whether no thread accesses elements past the row's end
};

RowShape chooseRowShape(KernelGenerator &plan, ArrayRef<LaunchOutput> targets, int64_t rows,
                        int64_t columns) {
  RowShape s{rows, columns, 1, 32, 1, 1, true};
  int64_t wide = 2;
  for (const LaunchOutput &target : targets)
    wide = std::max(wide, ref::elementBytes(target.buffer.element));
  for (auto &[value, buffer] : plan.known)
    if (typeOf(value).getNumElements() == rows * columns)
      wide = std::max(wide, ref::elementBytes(buffer.element));
  s.width = 16 / wide;
  while (columns % s.width != 0)
    s.width /= 2;
  int64_t vectors = columns / s.width;
  if (columns <= 1024) {
    s.threads = 8;
    while (s.threads < 32 && s.threads < vectors)
      s.threads *= 2;
    s.together = std::max<int64_t>(1, 256 / s.threads);
    while (s.together > 32 / s.threads && rows / s.together < 2 * plan.options.multiprocessors)
      s.together /= 2;
  } else {
    s.threads = 128;
    // With many rows, several thread blocks share a multiprocessor, so that one block computes
    // while another waits for memory.
    int64_t each = rows >= 8 * plan.options.multiprocessors ? 8 : 4;
    while (s.threads < 1024 && vectors > s.threads * each)
      s.threads *= 2;
  }
  s.steps = (vectors + s.threads - 1) / s.threads;
  s.even = s.steps * s.threads == vectors;
  return s;
}

class RowWriter {
public:
  RowWriter(KernelGenerator &plan, LaunchBuilder &frame, const RowShape &s,
            ArrayRef<LaunchOutput> targets)
      : plan(plan), e(frame.e), t(frame.t), s(s), targets(targets) {}

  void write(ArrayRef<ReduceOp> reductions) {
    bool alone = s.threads > 32;
    Expr zero = 0;
    thread = alone
                 ? e.variable("t", "threadIdx.x", 0, s.threads - 1)
                 : e.variable("t", "threadIdx.x % " + std::to_string(s.threads), 0, s.threads - 1);
    std::string first = alone ? "blockIdx.x"
                              : "blockIdx.x * " + std::to_string(s.together) + " + threadIdx.x / " +
                                    std::to_string(s.threads);
    if (s.threads >= 32) {
      e.loop(first, s.rows, "gridDim.x * " + std::to_string(s.together),
             [&](Expr at) { row(at, reductions); });
      return;
    }
    // Several rows share a warp, and all threads of the warp must execute the reductions. Threads
    // of rows past the end compute the last row again and do not store it.
    e.loop("blockIdx.x * " + std::to_string(s.together), s.rows,
           "gridDim.x * " + std::to_string(s.together), [&](Expr base) {
             std::string at = base.text() + " + (int)threadIdx.x / " + std::to_string(s.threads);
             if (s.rows % s.together != 0) {
               std::string wanted = e.let(e.indexType, at);
               stored = wanted + " < " + std::to_string(s.rows);
               at = stored + " ? " + wanted + " : " + std::to_string(s.rows - 1);
             }
             row(e.variable("row", at, 0, s.rows - 1), reductions);
           });
  }

private:
  void row(const Expr &at, ArrayRef<ReduceOp> reductions) {
    start = at * s.columns;
    keepInRegisters(reductions);
    SmallVector<ReduceOp> pending(reductions);
    while (!pending.empty()) {
      // Reductions that do not depend on other pending reductions are computed in one pass over the
      // row.
      SmallVector<ReduceOp> group, rest;
      for (ReduceOp op : pending)
        (needs(op.getX(), pending) ? rest : group).push_back(op);
      reduce(at, group);
      pending = rest;
    }
    SmallVector<LaunchOutput> wide, narrow;
    for (const LaunchOutput &target : targets)
      (typeOf(target.value).getNumElements() == s.rows * s.columns ? wide : narrow)
          .push_back(target);
    if (!stored.empty()) {
      t.open("if (" + Twine(stored) + ")");
      e.pushScope();
    }
    if (!wide.empty())
      storeWide(wide);
    if (!narrow.empty()) {
      t.open("if (" + thread.text() + " == 0)");
      e.pushScope();
      for (const LaunchOutput &target : narrow)
        e.store(target.buffer, at, e.eval(target.value, e.x.unravel(shapeOf(target.value), at)));
      e.popScope();
      t.close();
    }
    if (!stored.empty()) {
      e.popScope();
      t.close();
    }
  }

  static bool needs(Value value, ArrayRef<ReduceOp> pending) {
    llvm::DenseSet<Value> seen;
    SmallVector<Value> work{value};
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (!seen.insert(v).second)
        continue;
      if (Operation *op = v.getDefiningOp()) {
        if (llvm::any_of(pending, [&](ReduceOp r) { return r.getOperation() == op; }))
          return true;
        llvm::append_range(work, op->getOperands());
      }
    }
    return false;
  }

  /// Emits a loop over a thread's vectors of a row. `body` gets the vector's first column and its
  /// index among the thread's vectors.
  void walk(function_ref<void(Expr column, Expr step)> body) {
    int64_t vectors = s.columns / s.width;
    if (!unrolled) {
      e.loop(thread.text(), vectors, std::to_string(s.threads),
             [&](Expr vector) { body(vector * s.width, 0); });
      return;
    }
    auto one = [&](Expr step) {
      Expr vector = step * s.threads + thread;
      if (s.even) {
        body(vector * s.width, step);
        return;
      }
      t.open("if (" + vector.text() + " < " + Twine(vectors) + ")");
      e.pushScope();
      // Declares a new variable for the column, with the value range that the condition implies.
      body(e.variable("c", vector.text(), 0, vectors - 1) * s.width, step);
      e.popScope();
      t.close();
    };
    if (s.steps == 1)
      return one(0);
    e.loop("0", s.steps, "1", one, /*unroll=*/true);
  }

  /// Emits loads of the operands that have the row's shape into registers, if they fit. They are
  /// then read only once.
  void keepInRegisters(ArrayRef<ReduceOp> reductions) {
    SmallVector<Value> operands;
    for (BlockArgument argument : plan.fusion.getBody().getArguments())
      if (typeOf(argument).getNumElements() == s.rows * s.columns && !argument.use_empty())
        operands.push_back(argument);
    int64_t each = s.steps * s.width;
    unrolled = each <= 32;
    if (!unrolled ||
        each * int64_t(operands.size()) > (s.threads < 1024 ? kRegisters : kRegistersOfMost))
      operands.clear();
    // In an unrolled loop, loads would be hoisted and occupy registers as well. With 1024 threads
    // per block, a loop without operands in registers is therefore not unrolled.
    unrolled &= !operands.empty() || s.threads < 1024;
    for (Value operand : operands) {
      std::string name = t.fresh("kept");
      t.line(getComputeTypeName(plan.known[operand].element) + " " + name + "[" + Twine(each) +
             "];");
      registers.push_back({operand, name});
    }
    if (operands.empty())
      return;
    walk([&](Expr column, Expr step) {
      e.lanes(s.width, [&](Expr lane) {
        Expr at = start + column + lane;
        for (auto &[value, name] : registers)
          t.line(name + "[" + (step * s.width + lane).text() +
                 "] = " + e.eval(value, e.x.unravel(shapeOf(value), at)) + ";");
      });
    });
  }

  /// Makes the emitter read the operands' elements in a lane of a loop from registers.
  void recall(const Expr &column, const Expr &step, const Expr &lane) {
    for (auto &[value, name] : registers)
      e.seed(value, e.x.unravel(shapeOf(value), start + column + lane),
             name + "[" + (step * s.width + lane).text() + "]");
  }

  void reduce(const Expr &at, SmallVector<ReduceOp> group) {
    SmallVector<Emitter::Accumulator> gathered;
    for (ReduceOp op : group)
      gathered.push_back(
          e.gather(op.getKind(), Emitter::sumType(op), unrolled ? 1 : s.steps * s.width));
    walk([&](Expr column, Expr step) {
      e.lanes(s.width, [&](Expr lane) {
        recall(column, step, lane);
        for (auto [op, total] : llvm::zip(group, gathered)) {
          Value x = op.getX();
          Type sum = Emitter::sumType(op);
          std::string term = e.eval(x, e.x.unravel(shapeOf(x), start + column + lane));
          if (getComputeTypeName(sum) != getComputeTypeName(elementOf(x)))
            term = "(" + getComputeTypeName(sum) + ")" + term;
          e.gatherTerm(total, term);
        }
      });
    });
    for (auto [op, mine] : llvm::zip(group, gathered)) {
      std::string f = Emitter::functor(op.getKind()), type = getComputeTypeName(mine.sum);
      std::string threads = std::to_string(s.threads), total;
      if (s.threads <= 32) {
        total =
            e.let(type, "dk::warp_reduce<" + f + ", " + threads + ">(" + e.gathered(mine) + ")");
      } else {
        std::string scratch = t.fresh("shared");
        t.line("__shared__ " + type + " " + scratch + "[" + Twine(s.threads / 32) + "];");
        total = e.let(type, "dk::block_reduce<" + f + ", " + threads + ">(" + e.gathered(mine) +
                                ", " + scratch + ")");
      }
      e.seed(op.getY(), e.x.unravel(shapeOf(op.getY()), at), e.finishReduce(op, total));
    }
  }

  void storeWide(ArrayRef<LaunchOutput> wide) {
    walk([&](Expr column, Expr step) {
      SmallVector<std::string> results;
      for (const LaunchOutput &target : wide) {
        results.push_back(t.fresh("y"));
        t.line("dk::vec<" + getStorageTypeName(target.buffer.element) + ", " + Twine(s.width) +
               "> " + results.back() + ";");
      }
      e.lanes(s.width, [&](Expr lane) {
        recall(column, step, lane);
        for (auto [target, result] : llvm::zip(wide, results))
          t.line(result + ".e[" + lane.text() + "] = dk::as<" +
                 getStorageTypeName(target.buffer.element) + ">(" +
                 e.eval(target.value, e.x.unravel(shapeOf(target.value), start + column + lane)) +
                 ");");
      });
      for (auto [target, result] : llvm::zip(wide, results))
        e.storeVector(target.buffer, start + column, s.width, result);
    });
  }

  KernelGenerator &plan;
  Emitter &e;
  IndentedText &t;
  RowShape s;
  ArrayRef<LaunchOutput> targets;
  Expr thread, start;
  /// CUDA text of the condition under which a thread stores its row.
  std::string stored;
  bool unrolled = false;
  SmallVector<std::pair<Value, std::string>> registers;
};

} // namespace

void emitRowKernel(KernelGenerator &plan, ArrayRef<LaunchOutput> targets,
                   ArrayRef<ReduceOp> reductions, int64_t rows, int64_t columns) {
  RowShape s = chooseRowShape(plan, targets, rows, columns);
  LaunchBuilder frame(plan);
  RowWriter(plan, frame, s, targets).write(reductions);
  int64_t blocks = std::min<int64_t>((rows + s.together - 1) / s.together,
                                     int64_t(plan.options.multiprocessors) * 32);
  frame.finish({uint32_t(blocks), 1, 1}, {uint32_t(s.threads * s.together), 1, 1});
}

} // namespace dlc::cuda
