//===- Lowering.h - lowers a module to commands ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_LOWERING_H
#define DLC_CODEGEN_LOWER_LOWERING_H

#include "codegen/cpu/Schedule.h"
#include "codegen/cuda/Generate.h"
#include "codegen/lower/Order.h"
#include "codegen/lower/Packed.h"
#include "codegen/providers/Provider.h"
#include "ir/exec/Exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace dlc::lower {

/// Lower.cpp implements values and their buffers, LowerKernels.cpp kernel launches and library
/// calls, LowerControl.cpp branches and loops.
class Lowering {
public:
  Lowering(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target)
      : module(module), options(options), target(target), b(module.getContext()) {}
  mlir::LogicalResult run();

private:
  mlir::DictionaryAttr describe(mlir::DictionaryAttr attrs, mlir::Type type, mlir::StringRef word,
                                size_t i);
  mlir::DictionaryAttr describeOutput(mlir::func::FuncOp main, unsigned result, mlir::Type type);
  mlir::DictionaryAttr describeState(mlir::func::FuncOp main, const State &state);
  /// Returns true for an all-zero value: states are zero-initialized by default.
  static bool isZero(mlir::ElementsAttr value);
  /// Creates the old and new buffer of each state, and claims the new buffer for values that are
  /// written into it directly.
  void prepareStates(mlir::ArrayRef<State> states, mlir::ArrayRef<Update> updates);
  void copyOld(OldValuePart part, mlir::ArrayRef<State> states, mlir::Value value, mlir::Value to);

  /// Makes the command that computes `value` write it at `offset` of `parent`. Returns false if no
  /// command on that buffer's device computes the value, or if it was claimed before. Views pass
  /// the claim on to the value they view.
  bool claim(mlir::Value value, mlir::Value parent, int64_t offset);
  /// Lets the commands that compute the parts of contiguous concatenations write them in place.
  void claimParts(mlir::Block &block);
  /// Returns the location of a concatenation whose parts were already claimed, one after the other,
  /// for a longer concatenation.
  std::optional<std::pair<mlir::Value, int64_t>> placeOfAll(ConcatOp concat);

  /// Returns a view of a buffer. If `step` is not 0, the view advances by that many bytes with each
  /// iteration of the loop around its user.
  mlir::Value view(mlir::Location loc, mlir::Value buffer, int64_t offset, int64_t bytes,
                   int64_t step = 0);
  exec::BufferType bufferType(mlir::Value value);
  /// Allocates a buffer on the device of the command that is being lowered.
  mlir::Value allocate(mlir::Location loc, int64_t bytes);
  void copy(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t bytes);
  /// Returns the buffer for a command's result: the claimed location, or a new allocation.
  mlir::Value resultBuffer(mlir::Value value);
  /// Returns the value's buffer on the device of the command that is being lowered. A value of
  /// another device, such as a 0-d scalar, is copied there.
  mlir::Value bufferOf(mlir::Value value);
  /// Returns the value's buffer on its own device.
  mlir::Value home(mlir::Value value);
  mlir::Value constantOn(ConstantOp constant, mlir::StringRef where);

  mlir::LogicalResult command(mlir::Operation &op);
  /// Lowers a concatenation. Claimed parts are already written in place; the others are copied.
  mlir::LogicalResult concatenate(ConcatOp concat);

  mlir::LogicalResult launch(FusionOp fusion, const Provider &provider);
  /// Launches the kernel of a normalized fusion, of which it takes ownership, on the given buffers.
  mlir::FailureOr<exec::LaunchOp> launchNormal(FusionOp normal, const Schedule &schedule,
                                               mlir::ArrayRef<mlir::Value> inputs,
                                               mlir::ArrayRef<mlir::Value> outputs,
                                               mlir::ArrayRef<int64_t> inplace);
  /// Launches a split reduction: one kernel computes partial results, another combines them.
  mlir::FailureOr<exec::LaunchOp> launchParts(FusionOp normal, const Schedule &schedule,
                                              mlir::ArrayRef<mlir::Value> inputs,
                                              mlir::ArrayRef<mlir::Value> outputs);
  /// Launches the kernel of a normalized fusion, of which it takes ownership. Reuses a kernel with
  /// the same text, and creates one otherwise. The kernel writes the last `written` buffers.
  exec::LaunchOp launchKernel(FusionOp normal, const Schedule &schedule,
                              mlir::ArrayRef<mlir::Value> list, size_t written,
                              mlir::ArrayRef<int64_t> inplace);
  /// Returns the text that identifies a kernel: its body without locations. Operand names are
  /// irrelevant.
  std::string textOf(FusionOp normal);
  /// Creates a self-contained kernel: its fusion, of which it takes ownership, reads placeholders.
  exec::KernelOp makeKernel(mlir::StringAttr symbol, FusionOp normal);
  /// Lowers a fusion or other operation to a sequence of GPU launches, with scratch buffers for
  /// intermediate results.
  mlir::LogicalResult launchOnGpu(mlir::Operation &op);
  /// Copies the descriptions of all candidates to the command, for tools that inspect the program.
  void copyCandidates(mlir::Operation *from, mlir::Operation *to);
  std::string kernelName(FusionOp fusion);
  mlir::LogicalResult library(mlir::Operation &op, LibraryCall &call);
  /// Initializes the result of a call that adds to it with the old value. Nothing is copied if both
  /// are one state, whose old and new values share their memory.
  void start(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t bytes);
  mlir::Value packed(mlir::Location loc, std::shared_ptr<void> data, int64_t bytes,
                     mlir::StringRef layout);

  /// Lowers a region's commands and copies the values that it yields into `targets`, in order. Null
  /// targets are skipped.
  mlir::LogicalResult region(mlir::Block &block, mlir::ArrayRef<mlir::Value> targets);
  mlir::LogicalResult lowerIf(IfOp op);
  /// Buffers of a loop's values during an iteration.
  struct LoopBuffers {
    mlir::SmallVector<mlir::Value> carried; ///< carried values before an iteration
    mlir::SmallVector<mlir::Value> next;    ///< carried values afterwards: same buffer or next row
    mlir::SmallVector<mlir::Value> stacked; ///< row of each stacked value
  };
  mlir::LogicalResult lowerLoop(LoopOp op);
  static bool isSamePlace(mlir::Value a, mlir::Value b);
  void copyUnlessThere(mlir::Location loc, mlir::Value from, mlir::Value to);
  /// Assigns buffers to a loop's values: carried values get one buffer for the whole loop, and each
  /// stacked value gets a row per iteration. A carried value that is also stacked is stored in the
  /// stack and advances from row to row. If possible, values are written directly to these buffers.
  LoopBuffers placeLoop(LoopOp op);
  static bool isReversed(mlir::Value stack);
  /// Returns true if all reads of the carried value precede the computation of its next value, or
  /// if the kernel that computes the next value may overwrite it.
  bool isFreeBefore(mlir::Value next, mlir::BlockArgument argument);
  /// Returns true if the kernel that computes `next` reads `other` element by element only.
  bool mayWriteOver(mlir::Value next, mlir::Value other);

  /// While an object of this class exists, commands belong to the body of a loop or branch.
  struct Enclosing {
    Enclosing(Lowering &lowering, mlir::Operation *op)
        : lowering(lowering), before(lowering.outermost) {
      if (!before)
        lowering.outermost = op;
    }
    ~Enclosing() { lowering.outermost = before; }
    Lowering &lowering;
    mlir::Operation *before;
  };

  mlir::ModuleOp module;
  const CompileOptions &options;
  const cpu::Target &target;
  mlir::OpBuilder b;
  std::string device = exec::kHost.str(); ///< device of the command that is being lowered
  mlir::Operation *outermost = nullptr;   ///< outermost loop or branch around the command
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> moved,
      constants; ///< copied values and constants, by device
  exec::ProgramOp program;
  PackedWeights packedWeights;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  mlir::SmallVector<mlir::Value> newStates; ///< buffers of the new values; null if a state has none
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>> destinations;
  llvm::DenseSet<std::pair<mlir::Operation *, size_t>>
      placed; ///< parts of concatenations that are written in place
  std::map<std::string, mlir::StringAttr> kernels;
  llvm::DenseMap<mlir::StringAttr, cuda::Kernel> gpuKernels; ///< by symbol
};

} // namespace dlc::lower
#endif
