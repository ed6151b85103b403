//===- State.h - how each state of @main gets its new value ---------------===//
//
// State is an argument with `dlc.state`; its new value is the result of the same name. Both are one
// buffer in the program, so what makes the new value writes straight into it where it can: where
// all that reads the old value comes before, or where the writer itself reads it element by
// element. Else the new value is made elsewhere and copied.
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
  /// Which result is the new value; nothing where there is none.
  std::optional<unsigned> result;
};

/// The states in the order of their arguments.
llvm::SmallVector<State> statesOf(mlir::func::FuncOp function);

/// A part of a state's old value.
struct OldPart {
  unsigned state;
  int64_t offset; ///< in bytes
};

/// What the values of a block are to the states: views of their old values.
class OldValues {
public:
  OldValues(llvm::ArrayRef<State> states, mlir::Block &body);

  std::optional<OldPart> find(mlir::Value value) const {
    auto found = parts.find(value);
    return found == parts.end() ? std::nullopt : std::optional(found->second);
  }
  /// Operations of the block that read the state's old value, themselves or in their regions; views
  /// are none.
  llvm::ArrayRef<mlir::Operation *> readers(unsigned state) const { return reading[state]; }

private:
  llvm::DenseMap<mlir::Value, OldPart> parts;
  std::vector<llvm::SmallVector<mlir::Operation *>> reading;
};

/// The value of a command that lies under views of it (reshapes).
mlir::Value throughReshapes(mlir::Value value);

/// Whether the GPU's kernel of the operation may write the result where these operands are.
bool gpuMayReplace(mlir::Operation *op, unsigned result, llvm::ArrayRef<unsigned> operands,
                   const CompileOptions &options);

/// Whether the operation's result may be written where the state's old value is, though the
/// operation reads that. Asks the kernel that was selected for it.
bool mayReplace(mlir::OpResult result, unsigned state, const OldValues &old,
                const CompileOptions &options);

} // namespace dlc::lower
#endif
