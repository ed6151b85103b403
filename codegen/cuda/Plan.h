//===- Plan.h - one launch after the other: what each computes -------------===//
//
// Most fusions are one launch. Where a value would be computed again by many threads (a sum over a
// batch, a product that is not the last step), a launch of its own leaves it in scratch memory:
// such a value is called kept. Launches are made level by level: a kept value's level is one above
// that of what it needs.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CUDA_PLAN_H
#define DLC_CODEGEN_CUDA_PLAN_H

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/Kernel.h"

namespace dlc::cuda {

/// A value that a launch writes, and where.
struct Target {
  mlir::Value value;
  Buffer buffer;
};

class Planner {
public:
  Planner(FusionOp fusion, llvm::StringRef name, const KernelOptions &options);
  mlir::FailureOr<Kernel> run();

  // What schedules use.
  FusionOp fusion;
  std::string name;
  const KernelOptions &options;
  Kernel kernel;
  std::string indexType = "int";

  /// Buffers of arguments and of what has been kept so far.
  llvm::DenseMap<mlir::Value, Buffer> known;
  Buffer scratch(mlir::Type element, int64_t elements);
  /// Where a kept value is written: scratch memory, or where it goes when nobody else reads it.
  Buffer place(mlir::Value value, mlir::Type element);
  struct Declared {
    LaunchArgument argument;
    mlir::Type element;
  };
  const Declared &declared(const std::string &bufferName) const { return buffers.at(bufferName); }

private:
  void classify();
  void makeLevels();
  mlir::LogicalResult launchLevel(int level);

  struct Row { ///< what a reduction over a row walks
    int64_t rows = 0, columns = 0;
    bool operator==(const Row &o) const { return rows == o.rows && columns == o.columns; }
  };
  enum class How { Inline, Row, Split, Tile };
  std::optional<Row> rowOf(mlir::Operation *op) const;
  bool dependsOn(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> is) const;

  llvm::DenseMap<mlir::Operation *, How> how;
  llvm::DenseSet<mlir::Operation *> kept;
  llvm::DenseSet<mlir::Value> stored; ///< outputs that are there already
  llvm::DenseMap<mlir::Value, int> levels;
  std::vector<Target> outputs;
  std::map<std::string, Declared> buffers;
};

/// One launch under construction: the kernel's body is written through `e`.
class Frame {
public:
  Frame(Planner &plan);
  /// `blocksTogether`: of these on a multiprocessor, where registers must suffice for several.
  void finish(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, uint32_t shared = 0,
              int64_t blocksTogether = 0);
  /// Also read or written, by other means than the emitter's.
  void use(const std::string &bufferName) { e.used.insert(bufferName); }
  void write(const std::string &bufferName) { e.written.insert(bufferName), use(bufferName); }

  Text t;
  Emitter e;
  std::string function;

private:
  Planner &plan;
};

// The schedules. Each writes one or more launches.

/// Each thread computes elements by itself: all targets have the same number of elements.
void launchMap(Planner &plan, llvm::ArrayRef<Target> targets);
/// The same for targets of one shape, through tiles in shared memory; false where no operand is
/// read across its neighbours.
bool launchTurned(Planner &plan, llvm::ArrayRef<Target> targets);
/// Warps or blocks walk rows; `reductions`, in order, are over whole rows.
void launchRows(Planner &plan, llvm::ArrayRef<Target> targets, llvm::ArrayRef<ReduceOp> reductions,
                int64_t rows, int64_t columns);
/// Reductions of one shape over the same axes, cut into parts; returns where each is kept.
void launchSplit(Planner &plan, llvm::ArrayRef<ReduceOp> reductions);
/// A product in tiles, and what is computed of its elements. `targets` all have its shape.
void launchTiles(Planner &plan, mlir::Operation *contraction, llvm::ArrayRef<Target> targets);
/// A pool, a convolution of few channels in a group, or a gradient of these, and what is computed
/// of its elements; of others nothing takes windows.
bool takesWindows(Planner &plan, mlir::Operation *op);
void launchWindows(Planner &plan, mlir::Operation *op, llvm::ArrayRef<Target> targets);
/// topk, nms, cumulative, scatters, products of groups: an operation by itself.
bool launchWhole(Planner &plan, mlir::Operation *op, llvm::ArrayRef<Target> targets);

/// Where the target's element stands that the result of `op` at `at` becomes: through elementwise
/// operations, transpositions and reshapes. Nothing where it becomes none.
std::optional<Indices> indexInTarget(const Planner &plan, Emitter &e, mlir::Operation *op,
                                     mlir::Value target, const Indices &at);

/// Multiply-adds of a contraction.
int64_t contractionWork(mlir::Operation *op);

} // namespace dlc::cuda
#endif
