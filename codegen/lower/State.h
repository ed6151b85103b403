//===- State.h - how each state of @main is updated -----------------------===//
//
// A state is an argument with `dlc.state`; its new value is the result of the same name. Both are
// one buffer in the program. If possible, the new value is written directly into it. That requires
// that all reads of the old value precede the write, or that the writer itself reads the old value
// element by element. Otherwise, the new value is computed in another buffer and copied.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_LOWER_STATE_H
#define DLC_CODEGEN_LOWER_STATE_H

#include "codegen/options/Options.h"
#include "ir/dlc/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dlc::lower {

struct State {
  mlir::BlockArgument old;
  /// Index of the result that is the new value; unset if the state is never updated.
  std::optional<unsigned> result;
};

/// Returns the states in the order of their arguments.
llvm::SmallVector<State> statesOf(mlir::func::FuncOp function);

/// Part of a state's old value.
struct OldValuePart {
  unsigned state;
  int64_t offset; ///< in bytes
};

/// Maps the values of a block to the parts of old values that they are views of.
class OldValues {
public:
  OldValues(llvm::ArrayRef<State> states, mlir::Block &body);

  std::optional<OldValuePart> find(mlir::Value value) const {
    auto found = parts.find(value);
    return found == parts.end() ? std::nullopt : std::optional(found->second);
  }
  /// Returns the operations of the block that read the state's old value, themselves or in their
  /// regions. Views do not count as reads.
  llvm::ArrayRef<mlir::Operation *> readers(unsigned state) const { return reading[state]; }

private:
  llvm::DenseMap<mlir::Value, OldValuePart> parts;
  std::vector<llvm::SmallVector<mlir::Operation *>> reading;
};

/// Returns the value that a chain of reshapes is applied to.
mlir::Value throughReshapes(mlir::Value value);

/// Returns true if the operation's GPU kernel may write the result over these operands.
bool gpuMayReplace(mlir::Operation *op, unsigned result, llvm::ArrayRef<unsigned> operands,
                   const CompileOptions &options);

/// Returns true if the operation's result may be written over the state's old value, even if the
/// operation reads that value. Depends on the kernel that was selected for the operation.
bool mayReplace(mlir::OpResult result, unsigned state, const OldValues &old,
                const CompileOptions &options);

} // namespace dlc::lower
#endif
