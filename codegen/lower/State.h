//===- State.h - how each state of @main is updated -----------------------===//
//
// A state is an argument of @main with the attribute `dlc.state`. Its new value is the result with
// the same name. The program has one buffer for both. If possible, the new value is written
// directly into this buffer. Required: all reads of the old value precede the write, or the writer
// itself reads the old value element by element. Otherwise, the new value is computed in another
// buffer and copied.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_STATE_H
#define DLC_CODEGEN_LOWER_STATE_H

#include "codegen/options/Options.h"
#include "ir/dlc/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dlc::lower {

struct ProgramState {
  mlir::BlockArgument old;
  /// Index of the result of @main that is the new value; unset if the state is never updated.
  std::optional<unsigned> result;
};

/// Returns the states of @main in the order of its arguments.
llvm::SmallVector<ProgramState> collectStates(mlir::func::FuncOp function);

/// Contiguous part of a state's old value.
struct OldValuePart {
  unsigned state;
  int64_t offset; ///< offset of the part in the state, in bytes
};

/// Finds values that are views of states: maps each such value of a block to the part of the old
/// value.
class OldValues {
public:
  OldValues(llvm::ArrayRef<ProgramState> states, mlir::Block &body);

  std::optional<OldValuePart> find(mlir::Value value) const {
    auto found = parts.find(value);
    return found == parts.end() ? std::nullopt : std::optional(found->second);
  }
  /// Returns the operations in the block that read the state's old value. An operation that reads
  /// it only in its regions is included. An operation that creates a view of the old value is not a
  /// reader.
  llvm::ArrayRef<mlir::Operation *> readers(unsigned state) const { return reading[state]; }

private:
  llvm::DenseMap<mlir::Value, OldValuePart> parts;
  std::vector<llvm::SmallVector<mlir::Operation *>> reading;
};

/// Returns the source of a chain of reshapes: the value before the first reshape.
mlir::Value skipReshapes(mlir::Value value);

/// Returns true if the operation's generated GPU kernel may write `result` into the buffers of
/// `operands`.
bool gpuMayReplace(mlir::Operation *op, unsigned result, llvm::ArrayRef<unsigned> operands,
                   const CompileOptions &options);

/// Returns true if the operation's result may overwrite the state's old value even though the
/// operation reads it. The answer depends on the kernel that was selected for the operation.
bool mayReplace(mlir::OpResult result, unsigned state, const OldValues &old,
                const CompileOptions &options);

} // namespace dlc::lower
#endif
