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

/// Lowers @main to an exec.program. Lower.cpp implements values and their buffers, LowerKernels.cpp
/// kernel launches and library calls, LowerControl.cpp branches and loops.
class Lowering {
public:
  Lowering(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target)
      : module(module), options(options), target(target), b(module.getContext()) {}
  mlir::LogicalResult run();

private:
  /// Creates the program with the descriptions of its inputs, outputs and states, and sets the
  /// insertion point to the beginning of its command list.
  void createProgram(mlir::func::FuncOp main, mlir::ArrayRef<ProgramState> states);
  /// Creates the buffers of the caller. Returns those of the outputs, one for each result of @main.
  /// The buffer is null for a result that is the new value of a state.
  mlir::SmallVector<mlir::Value> createCallerBuffers(mlir::func::FuncOp main);
  /// Makes the command that computes an output write directly into the caller's buffer. Returns
  /// false if that is not possible, so that the output must be copied at the end.
  bool placeOutput(mlir::Value value, mlir::Value buffer, mlir::ArrayRef<ProgramState> states,
                   const OldValues &old);
  mlir::DictionaryAttr describe(mlir::DictionaryAttr attrs, mlir::Type type, mlir::StringRef word,
                                size_t i);
  mlir::DictionaryAttr describeOutput(mlir::func::FuncOp main, unsigned result, mlir::Type type);
  mlir::DictionaryAttr describeState(mlir::func::FuncOp main, const ProgramState &state);
  /// Returns true if all elements are zero. Such an initial value of a state is omitted, because
  /// states are zero-initialized by default.
  static bool isZero(mlir::ElementsAttr value);
  /// Creates the buffers of each state's old and new value. New values that their producers can
  /// write directly into the state's buffer are claimed for it.
  void prepareStates(mlir::ArrayRef<ProgramState> states, mlir::ArrayRef<StateUpdatePlan> updates);
  void copyOld(OldValuePart part, mlir::ArrayRef<ProgramState> states, mlir::Value value,
               mlir::Value to);

  /// Makes the command that computes `value` write the result at `offset` in `parent` instead of in
  /// its own buffer. Returns false if `value` already has such a destination, or if no command on
  /// the device of `parent` computes it. If `value` is a view, the viewed value is claimed instead.
  bool claim(mlir::Value value, mlir::Value parent, int64_t offset);
  /// Makes commands write their results directly into the buffer of the contiguous concatenation
  /// that uses them.
  void claimParts(mlir::Block &block);
  /// Returns the buffer and offset of a concatenation's result if its operands were already
  /// claimed, one after the other, for a longer concatenation.
  std::optional<std::pair<mlir::Value, int64_t>> placeOfAll(ConcatOp concat);

  /// Returns a view of a buffer. If `step` is not 0, the view advances by `step` bytes in each
  /// iteration of the loop around the view's user.
  mlir::Value view(mlir::Location loc, mlir::Value buffer, int64_t offset, int64_t bytes,
                   int64_t step = 0);
  exec::BufferType bufferType(mlir::Value value);
  /// Allocates a buffer of `bytes` bytes on the device of the command that is being lowered.
  mlir::Value allocate(mlir::Location loc, int64_t bytes);
  void copy(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t bytes);
  /// Returns the buffer for the result of a command: its destination if the value was claimed, else
  /// a new allocation.
  mlir::Value resultBuffer(mlir::Value value);
  /// Returns a buffer that holds the value on the device of the command that is being lowered. If
  /// the value is stored on another device (such as a 0-d scalar), emits a copy.
  mlir::Value bufferOf(mlir::Value value);
  /// Returns the buffer that holds the value on the device that computes it.
  mlir::Value home(mlir::Value value);
  mlir::Value constantOn(ConstantOp constant, mlir::StringRef where);

  mlir::LogicalResult command(mlir::Operation &op);
  /// Lowers a concatenation. Copies those operands that their producers did not write in place (see
  /// claimParts).
  mlir::LogicalResult concatenate(ConcatOp concat);

  mlir::LogicalResult launch(FusionOp fusion, const Provider &provider);
  /// Launches the kernel of a normalized fusion on the given buffers. Takes ownership of the
  /// fusion.
  mlir::FailureOr<exec::LaunchOp> launchNormal(FusionOp normal, const Schedule &schedule,
                                               mlir::ArrayRef<mlir::Value> inputs,
                                               mlir::ArrayRef<mlir::Value> outputs,
                                               mlir::ArrayRef<int64_t> inplace);
  /// Launches a split reduction: one kernel computes partial results, and a second kernel combines
  /// them.
  mlir::FailureOr<exec::LaunchOp> launchParts(FusionOp normal, const Schedule &schedule,
                                              mlir::ArrayRef<mlir::Value> inputs,
                                              mlir::ArrayRef<mlir::Value> outputs);
  /// Launches the kernel of a normalized fusion. Takes ownership of the fusion. Uses an existing
  /// kernel with the same text if there is one, and otherwise creates a kernel. The kernel writes
  /// the last `written` buffers of `list` and reads the others.
  exec::LaunchOp launchKernel(FusionOp normal, const Schedule &schedule,
                              mlir::ArrayRef<mlir::Value> list, size_t written,
                              mlir::ArrayRef<int64_t> inplace);
  /// Returns the text that identifies a kernel: the fusion's body without locations and without
  /// names of operands.
  std::string textOf(FusionOp normal);
  /// Creates an exec.kernel whose fusion reads placeholders instead of the values of the program.
  /// Takes ownership of the fusion.
  exec::KernelOp makeKernel(mlir::StringAttr symbol, FusionOp normal);
  /// Lowers a fusion or other operation to a sequence of GPU launches, with scratch buffers for
  /// intermediate results.
  mlir::LogicalResult launchOnGpu(mlir::Operation &op);
  /// Copies the descriptions of all candidate kernels from an operation to its command, for tools
  /// that inspect the program.
  void copyCandidates(mlir::Operation *from, mlir::Operation *to);
  std::string kernelName(FusionOp fusion);
  mlir::LogicalResult library(mlir::Operation &op, LibraryCall &call);
  /// Copies the old value `from` into `to`, the result of a library call that accumulates into its
  /// result. Emits no copy if both are the old and new value of one state, which share their
  /// memory.
  void start(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t bytes);
  mlir::Value packed(mlir::Location loc, std::shared_ptr<void> data, int64_t bytes,
                     mlir::StringRef layout);

  /// Lowers the operations of a block to commands and copies each value that its terminator yields
  /// into the corresponding buffer of `targets`. Null targets are skipped.
  mlir::LogicalResult region(mlir::Block &block, mlir::ArrayRef<mlir::Value> targets);
  mlir::LogicalResult lowerIf(IfOp op);
  /// Buffers of a loop's values in one iteration.
  struct LoopBuffers {
    /// Buffers of the loop-carried values before the iteration.
    mlir::SmallVector<mlir::Value> carried;
    /// Buffers of the loop-carried values after the iteration: the same buffers, or the next rows
    /// of stacked results.
    mlir::SmallVector<mlir::Value> next;
    mlir::SmallVector<mlir::Value> stacked; ///< buffer of one row of each stacked result
  };
  mlir::LogicalResult lowerLoop(LoopOp op);
  static bool isSamePlace(mlir::Value a, mlir::Value b);
  void copyUnlessThere(mlir::Location loc, mlir::Value from, mlir::Value to);
  /// Assigns buffers to the values of a loop. A loop-carried value has one buffer for the whole
  /// loop. A stacked result has one row for each iteration. A loop-carried value that is also
  /// stacked is stored in the stack and advances from row to row. If possible, the body's commands
  /// write directly to these buffers.
  LoopBuffers placeLoop(LoopOp op);
  static bool isReversed(mlir::Value stack);
  /// Returns true if `next` may be computed in the buffer of the loop-carried value `argument`: all
  /// reads of `argument` precede the computation of `next`, or the kernel that computes `next` may
  /// overwrite its operand.
  bool isFreeBefore(mlir::Value next, mlir::BlockArgument argument);
  /// Returns true if the kernel that computes `next` reads `other` only element by element, so that
  /// both may share a buffer.
  bool mayWriteOver(mlir::Value next, mlir::Value other);

  /// RAII scope for lowering the commands in the body of a loop or branch `op`. In the scope,
  /// `Lowering::outermost` is the outermost loop or branch around the commands.
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
  /// Outermost loop or branch around the command that is being lowered.
  mlir::Operation *outermost = nullptr;
  /// Copies of values on other devices, and buffers of constants, by value and device.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> moved, constants;
  exec::ProgramOp program;
  PackedWeightCache packedWeights;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  mlir::SmallVector<mlir::Value> newStates; ///< buffer of each state's new value, or null
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>> destinations;
  /// Operands (concatenation, operand index) that their producers write in place.
  llvm::DenseSet<std::pair<mlir::Operation *, size_t>> placed;
  std::map<std::string, mlir::StringAttr> kernels;
  llvm::DenseMap<mlir::StringAttr, cuda::Kernel> gpuKernels; ///< generated GPU kernels by symbol
};

} // namespace dlc::lower
#endif
