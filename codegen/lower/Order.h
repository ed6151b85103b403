//===- Order.h - order of the commands that update state ------------------===//
#ifndef DLC_CODEGEN_LOWER_ORDER_H
#define DLC_CODEGEN_LOWER_ORDER_H

#include "codegen/lower/State.h"

namespace dlc::lower {

/// How the new value of one state is stored into the state's memory.
struct StateUpdatePlan {
  enum class Kind {
    None,   ///< the state has no new value, or its new value is its old value
    Direct, ///< the command that computes the new value writes it to the state's memory
    /// A copy command writes the new value to the state's memory, before the operation
    /// `copiedBefore`.
    Copied,
  };
  Kind kind = Kind::None;
  mlir::Value value;
  mlir::Operation *copiedBefore = nullptr;
  /// Position of the state's copy among all copies before the same operation. Their order matters
  /// because one copy may read the state that another one overwrites.
  unsigned turn = 0;
  /// Whether the new value is (a part of) an old value that is overwritten before it can be copied,
  /// as in a swap of two states. The value is then saved at the beginning of the program.
  bool saved = false;
};

/// Decides how each state is updated and reorders the operations of @main such that
/// - all reads of an old value precede the write that replaces it;
/// - updates of states run as soon as their operands are available, which ends live ranges of
///   gradients early;
/// - all other operations keep their order.
llvm::SmallVector<StateUpdatePlan> orderUpdates(mlir::func::FuncOp function,
                                                llvm::ArrayRef<ProgramState> states,
                                                const OldValues &old,
                                                const CompileOptions &options);

} // namespace dlc::lower
#endif
