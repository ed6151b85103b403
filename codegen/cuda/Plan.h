//===- Plan.h - splits a fusion into launches -----------------------------===//
//
// Most fusions are one launch. If many threads would recompute a value (a sum over a batch, a
// matmul that is not the last step), a separate launch stores it in scratch memory. Such a value is
// called kept. Launches are created level by level: the level of a kept value is one above the
// level of its operands.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CUDA_PLAN_H
#define DLC_CODEGEN_CUDA_PLAN_H

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/Kernel.h"

namespace dlc::cuda {

/// A value that a launch writes, and its buffer.
struct Target {
  mlir::Value value;
  Buffer buffer;
};

class Planner {
public:
  Planner(FusionOp fusion, llvm::StringRef name, const KernelOptions &options);
  mlir::FailureOr<Kernel> run();

  // Members that schedules use.
  FusionOp fusion;
  std::string name;
  const KernelOptions &options;
  Kernel kernel;
  std::string indexType = "int";

  /// Buffers of the arguments and of the values that have been kept so far.
  llvm::DenseMap<mlir::Value, Buffer> known;
  Buffer scratch(mlir::Type element, int64_t elements);
  /// Returns the buffer of a kept value: the fusion's output if the value has no other use, else
  /// scratch memory.
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

  struct Row { ///< extents of a reduction over rows
    int64_t rows = 0, columns = 0;
    bool operator==(const Row &o) const { return rows == o.rows && columns == o.columns; }
  };
  enum class How { Inline, Row, Split, Tile };
  std::optional<Row> rowOf(mlir::Operation *op) const;
  bool dependsOn(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> is) const;

  llvm::DenseMap<mlir::Operation *, How> how;
  llvm::DenseSet<mlir::Operation *> kept;
  llvm::DenseSet<mlir::Value> stored; ///< outputs that have been stored already
  llvm::DenseMap<mlir::Value, int> levels;
  std::vector<Target> outputs;
  std::map<std::string, Declared> buffers;
};

/// One launch under construction. The kernel's body is written through `e`.
class Frame {
public:
  Frame(Planner &plan);
  /// Finishes the launch. `blocksTogether`: number of blocks per multiprocessor for which the
  /// registers must suffice; 0: any.
  void finish(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, uint32_t shared = 0,
              int64_t blocksTogether = 0);
  /// Add a buffer that is read or written by text that the emitter did not create.
  void use(const std::string &bufferName) { e.used.insert(bufferName); }
  void write(const std::string &bufferName) { e.written.insert(bufferName), use(bufferName); }

  Text t;
  Emitter e;
  std::string function;

private:
  Planner &plan;
};

// The schedules. Each writes one or more launches.

/// Emits a kernel whose threads compute elements independently. All targets have the same number of
/// elements.
void launchMap(Planner &plan, llvm::ArrayRef<Target> targets);
/// Emits the same for targets of one shape, with tiles of transposed operands in shared memory.
/// Returns false if no operand is transposed.
bool launchTransposed(Planner &plan, llvm::ArrayRef<Target> targets);
/// Emits a kernel whose warps or blocks process rows. `reductions`, in order, are over whole rows.
void launchRows(Planner &plan, llvm::ArrayRef<Target> targets, llvm::ArrayRef<ReduceOp> reductions,
                int64_t rows, int64_t columns);
/// Emits reductions of one shape over the same axes, split into parts. Stores the buffer of each
/// result in `plan.known`.
void launchSplit(Planner &plan, llvm::ArrayRef<ReduceOp> reductions);
/// Emits a tiled contraction with its epilogue. All `targets` have the shape of the contraction.
void launchTiles(Planner &plan, mlir::Operation *contraction, llvm::ArrayRef<Target> targets);
/// Returns whether launchWindows emits the operation: a pool, a convolution with few channels per
/// group, or a gradient of these.
bool takesWindows(Planner &plan, mlir::Operation *op);
void launchWindows(Planner &plan, mlir::Operation *op, llvm::ArrayRef<Target> targets);
/// Emits an operation that is a kernel by itself: topk, nms, cumulative, scatters, grouped matmuls.
bool launchStandalone(Planner &plan, mlir::Operation *op, llvm::ArrayRef<Target> targets);

/// Returns the index in the target of the element that is computed from the result of `op` at `at`
/// by elementwise operations, transposes and reshapes. Returns nothing if there is none.
std::optional<Indices> indexInTarget(const Planner &plan, Emitter &e, mlir::Operation *op,
                                     mlir::Value target, const Indices &at);

/// Returns the number of multiply-adds of a contraction.
int64_t contractionWork(mlir::Operation *op);

} // namespace dlc::cuda
#endif
