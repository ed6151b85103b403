//===- Lowering.h - one module on its way to commands ---------------------===//
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

/// Lower.cpp: values and their buffers; LowerKernels.cpp: what computes; LowerControl.cpp: branches
/// and loops.
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
  /// Zeros are what state begins with: nothing has to hold them.
  static bool isZero(mlir::ElementsAttr value);
  /// Both buffers of each state, and what is written straight into the new one.
  void prepareStates(mlir::ArrayRef<State> states, mlir::ArrayRef<Update> updates);
  void copyOld(OldPart part, mlir::ArrayRef<State> states, mlir::Value value, mlir::Value to);

  /// Makes `value` be written at `offset` of `parent`, where some command makes it and nobody has
  /// claimed it before. Views and concatenations pass the claim on to what they are made of.
  bool claim(mlir::Value value, mlir::Value parent, int64_t offset);
  /// Concatenations that lie in one run: what makes their parts writes them in place.
  void claimParts(mlir::Block &block);
  /// Where a concatenation lies, its parts having been claimed for a longer one.
  std::optional<std::pair<mlir::Value, int64_t>> placeOfAll(ConcatOp concat);

  /// With a step, it moves on by so many bytes with each iteration of the loop around who uses it.
  mlir::Value view(mlir::Location loc, mlir::Value buffer, int64_t offset, int64_t bytes,
                   int64_t step = 0);
  exec::BufferType bufferType(mlir::Value value);
  /// On the device of the command that is being lowered.
  mlir::Value allocate(mlir::Location loc, int64_t bytes);
  void copy(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t bytes);
  /// The buffer that a command's result goes to.
  mlir::Value resultBuffer(mlir::Value value);
  /// Where the value lies, for commands on the device that is being lowered for: 0-d scalars come
  /// from anywhere.
  mlir::Value bufferOf(mlir::Value value);
  /// Where the value lies, on whatever device.
  mlir::Value home(mlir::Value value);
  mlir::Value constantOn(ConstantOp constant, mlir::StringRef where);

  mlir::LogicalResult command(mlir::Operation &op);
  /// Operands are written straight into the result, which the pre-pass has claimed for them; the
  /// rest is copied.
  mlir::LogicalResult concatenate(ConcatOp concat);

  mlir::LogicalResult launch(FusionOp fusion, const Provider &provider);
  /// Launches a normalised fusion, which it takes over, on buffers.
  mlir::FailureOr<exec::LaunchOp> launchNormal(FusionOp normal, const Schedule &schedule,
                                               mlir::ArrayRef<mlir::Value> inputs,
                                               mlir::ArrayRef<mlir::Value> outputs,
                                               mlir::ArrayRef<int64_t> inplace);
  /// One kernel leaves partial results, another combines them.
  mlir::FailureOr<exec::LaunchOp> launchParts(FusionOp normal, const Schedule &schedule,
                                              mlir::ArrayRef<mlir::Value> inputs,
                                              mlir::ArrayRef<mlir::Value> outputs);
  /// Launches a normalised fusion's kernel, which it makes unless there is one of the same text.
  /// The last `written` of the buffers are written.
  exec::LaunchOp launchKernel(FusionOp normal, const Schedule &schedule,
                              mlir::ArrayRef<mlir::Value> list, size_t written,
                              mlir::ArrayRef<int64_t> inplace);
  /// What tells kernels apart: the body's text, without where it comes from. Operands' names do not
  /// matter.
  std::string meaningOf(FusionOp normal);
  /// A kernel stands alone: its fusion, which it takes over, reads placeholders.
  exec::KernelOp makeKernel(mlir::StringAttr symbol, FusionOp normal);
  /// A fusion or other operation as launches of a GPU, one after another, with memory for what they
  /// hand on.
  mlir::LogicalResult launchOnGpu(mlir::Operation &op);
  /// What stood for election goes along, for who inspects the program.
  void tellCandidates(mlir::Operation *from, mlir::Operation *to);
  std::string kernelName(FusionOp fusion);
  mlir::LogicalResult library(mlir::Operation &op, LibraryCall &call);
  /// A call that adds to its result finds there what it adds to: a state's new value where the old
  /// one lies, as it is.
  void start(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t bytes);
  mlir::Value packed(mlir::Location loc, std::shared_ptr<void> data, int64_t bytes,
                     mlir::StringRef layout);

  /// Lowers a region's commands and copies what it yields into `targets` (in order, after skipping
  /// the first ones).
  mlir::LogicalResult region(mlir::Block &block, mlir::ArrayRef<mlir::Value> targets);
  mlir::LogicalResult lowerIf(IfOp op);
  /// Where a loop's values lie while it runs.
  struct LoopPlaces {
    mlir::SmallVector<mlir::Value> carried; ///< before an iteration
    mlir::SmallVector<mlir::Value> next;    ///< after it: the same, or the next row of a stack
    mlir::SmallVector<mlir::Value> stacked; ///< this iteration's row
  };
  mlir::LogicalResult lowerLoop(LoopOp op);
  static bool isSamePlace(mlir::Value a, mlir::Value b);
  void copyUnlessThere(mlir::Location loc, mlir::Value from, mlir::Value to);
  /// Gives a loop's values their places: carried ones a buffer from before the loop to after it,
  /// and what is stacked its row. A carried value that is stacked too lives in the stack, and moves
  /// on from row to row. What computes a value writes it where it goes, where it can.
  LoopPlaces placeLoop(LoopOp op);
  static bool turnsRound(mlir::Value stack);
  /// Whether nobody reads the carried value when, or after, its next one is made.
  bool isFreeBefore(mlir::Value next, mlir::BlockArgument argument);
  /// Whether the kernel that makes the value reads the other one element by element.
  bool mayWriteOver(mlir::Value next, mlir::Value other);

  /// While it lives, commands are those of a loop's or branch's body.
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
  std::string device = exec::kHost.str(); ///< of the command that is being lowered
  mlir::Operation *outermost = nullptr;   ///< the loop or branch around it that stands in no other
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> moved,
      constants; ///< by device
  exec::ProgramOp program;
  PackedWeights packedWeights;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  mlir::SmallVector<mlir::Value> newStates; ///< their buffers; null where a state has no new value
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>> destinations;
  llvm::DenseSet<std::pair<mlir::Operation *, size_t>>
      placed; ///< parts of concatenations that need no copy
  std::map<std::string, mlir::StringAttr> kernels;
  llvm::DenseMap<mlir::StringAttr, cuda::Kernel> gpuKernels; ///< by symbol
};

} // namespace dlc::lower
#endif
