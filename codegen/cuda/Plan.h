//===- Plan.h - splits a fusion into launches -----------------------------===//
//
// Most fusions are one launch. If many threads would recompute a value (a sum over a batch, or a
// matmul that is not the last operation), a separate launch stores it in scratch memory. Such a
// value is called kept. Launches are created level by level: the level of a kept value is one above
// the level of its operands.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CUDA_PLAN_H
#define DLC_CODEGEN_CUDA_PLAN_H

#include "codegen/cuda/Kernel.h"
#include "codegen/cuda/emit/Emitter.h"

namespace dlc::cuda {

/// Value that a launch writes, and the buffer to which it is written.
struct LaunchOutput {
  mlir::Value value;
  Buffer buffer;
};

class KernelGenerator {
public:
  KernelGenerator(FusionOp fusion, llvm::StringRef name, const KernelOptions &options);
  /// Returns the kernel's launches, and their text after the includes.
  mlir::FailureOr<Kernel> run();

  // The following members are used by the schedules.
  FusionOp fusion;
  std::string name;
  const KernelOptions &options;
  Kernel kernel;
  std::string indexType = "int";

  /// Makes the text include a file of codegen/cuda/kernels.
  void include(const std::string &file) { includes.insert(file); }
  /// Buffers of the fusion's arguments, and of values that previous launches have stored.
  llvm::DenseMap<mlir::Value, Buffer> known;
  Buffer scratch(mlir::Type element, int64_t elements);
  /// Returns the element type of buffers of indices, which have the CUDA type `indexType`.
  mlir::Type getIndexElement() {
    return mlir::IntegerType::get(fusion.getContext(), indexType == "int" ? 32 : 64);
  }
  /// Returns the buffer for a value that a launch stores for later ones (a kept value): the
  /// fusion's output if the value has no other use, otherwise scratch memory.
  Buffer place(mlir::Value value, mlir::Type element);
  struct Declared {
    LaunchArgument argument;
    mlir::Type element;
  };
  const Declared &declared(const std::string &bufferName) const { return buffers.at(bufferName); }

private:
  mlir::LogicalResult emit();
  void classify();
  void makeLevels();
  /// Extents (rows, columns) of a reduction over the innermost dimensions.
  using Row = std::pair<int64_t, int64_t>;
  /// Emits launches for the kept values of level `level` + 1. A value's level is the largest number
  /// of kept values on any path from the fusion's arguments to it.
  void launchKept(int level);
  void launchKeptRows(Row row, llvm::ArrayRef<ReduceOp> reductions);
  void launchKeptSplit(llvm::ArrayRef<ReduceOp> group);
  /// Emits launches for the results of the fusion that have this level, after the launches that
  /// store the values from which they are computed.
  void launchResults(int level);

  enum class How { Inline, Row, Split, Tile };
  std::optional<Row> rowOf(mlir::Operation *op) const;
  bool dependsOn(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> is) const;

  llvm::DenseMap<mlir::Operation *, How> how;
  llvm::DenseSet<mlir::Operation *> kept;
  llvm::DenseSet<mlir::Value> stored; ///< outputs whose launches have been emitted
  llvm::DenseMap<mlir::Value, int> levels;
  std::vector<LaunchOutput> outputs;
  std::map<std::string, Declared> buffers;
  std::set<std::string> includes;
};

/// Members of the struct with which a class template of codegen/cuda/kernels is instantiated.
class TemplateParameters {
public:
  explicit TemplateParameters(const std::string &indexType) { type("index", indexType); }
  void type(const llvm::Twine &name, const llvm::Twine &cudaType) {
    text += ("  typedef " + cudaType + " " + name + ";\n").str();
  }
  void number(const llvm::Twine &name, int64_t value) {
    text += ("  static constexpr index " + name + " = " + llvm::Twine(value) + ";\n").str();
  }
  void flag(const llvm::Twine &name, bool value) {
    text += ("  static constexpr bool " + name + " = " + (value ? "true" : "false") + ";\n").str();
  }
  /// Adds a function without arguments that returns the value of a CUDA expression.
  void function(const llvm::Twine &type, const llvm::Twine &name, const llvm::Twine &value) {
    text += ("  DK_INLINE " + type + " " + name + "() { return " + value + "; }\n").str();
  }

  std::string text;
};

/// One kernel launch under construction. The text of the kernel is emitted through `e`.
class LaunchBuilder {
public:
  LaunchBuilder(KernelGenerator &plan);
  /// Finishes the launch. `blocksTogether`: number of thread blocks that must fit on a
  /// multiprocessor at the same time, which limits the registers per thread; 0: no limit.
  void finish(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, uint32_t shared = 0,
              int64_t blocksTogether = 0);
  /// Declare that text that the emitter did not create reads (use) or writes (write) the buffer.
  void use(const std::string &bufferName) { e.used.insert(bufferName); }
  void write(const std::string &bufferName) { e.written.insert(bufferName), use(bufferName); }
  /// Includes a file of codegen/cuda/kernels and declares the parameters of a class template in it.
  /// Returns the text of its instance.
  std::string declare(llvm::StringRef file, llvm::StringRef classTemplate,
                      const TemplateParameters &parameters);
  /// Emits the call of the function `run` of a class template.
  void instantiate(llvm::StringRef file, llvm::StringRef kernel,
                   const TemplateParameters &parameters, llvm::ArrayRef<std::string> arguments,
                   bool usesMemory = false);
  /// Emits the call of the function `run` of a class template whose arguments are buffers: first
  /// those that it reads ("nullptr": none), then those that it writes. `usesMemory`: the last
  /// argument is the template's struct `memory`, in shared memory.
  void call(llvm::StringRef file, llvm::StringRef kernel, const TemplateParameters &parameters,
            llvm::ArrayRef<std::string> reads, llvm::ArrayRef<std::string> writes,
            bool usesMemory = false);

  IndentedText t;
  Emitter e;
  std::string function;

private:
  KernelGenerator &plan;
};

// Functions of the schedules; each one emits one or more launches.

/// Emits a launch in which each thread computes elements independently (elementwise). All targets
/// have the same number of elements.
void emitElementwiseKernel(KernelGenerator &plan, llvm::ArrayRef<LaunchOutput> targets);
/// Emits an elementwise launch that reads transposed operands in tiles through shared memory.
/// Returns false, without a launch, if the targets have different shapes or no large operand is
/// transposed.
bool emitTransposingKernel(KernelGenerator &plan, llvm::ArrayRef<LaunchOutput> targets);
/// Emits a launch in which each row is computed by a warp or a thread block. `reductions` are over
/// entire rows, in the order of their dependences.
void emitRowKernel(KernelGenerator &plan, llvm::ArrayRef<LaunchOutput> targets,
                   llvm::ArrayRef<ReduceOp> reductions, int64_t rows, int64_t columns);
/// Emits reductions of one shape over the same axes. They are split into parts that different
/// thread blocks reduce. Stores the buffer of each result in `plan.known`.
void emitSplitReduction(KernelGenerator &plan, llvm::ArrayRef<ReduceOp> reductions);
/// Emits a matmul or convolution in tiles, with its epilogue. All `targets` have the shape of its
/// result.
void emitTiledContraction(KernelGenerator &plan, mlir::Operation *contraction,
                          llvm::ArrayRef<LaunchOutput> targets);
/// Returns whether emitWindowKernel() supports the operation: a pool, a convolution with few
/// channels per group, or a gradient of these.
bool usesWindowKernel(KernelGenerator &plan, mlir::Operation *op);
void emitWindowKernel(KernelGenerator &plan, mlir::Operation *op,
                      llvm::ArrayRef<LaunchOutput> targets);
/// Emits an operation that has its own kernels: topk, nms, cumulative operations, scatters, grouped
/// matmuls.
bool emitStandaloneKernel(KernelGenerator &plan, mlir::Operation *op,
                          llvm::ArrayRef<LaunchOutput> targets);

/// Returns the index of the element of `target` that is computed from the result of `op` at `at` by
/// elementwise operations, transposes and reshapes. Returns nothing if there is no such element.
std::optional<Indices> indexInTarget(const KernelGenerator &plan, Emitter &e, mlir::Operation *op,
                                     mlir::Value target, const Indices &at);

/// Returns the number of multiply-adds of a contraction.
int64_t countMultiplyAdds(mlir::Operation *op);

} // namespace dlc::cuda
#endif
