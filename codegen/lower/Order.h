//===- Order.h - order of the commands that update state ------------------===//
#ifndef DLC_CODEGEN_LOWER_ORDER_H
#define DLC_CODEGEN_LOWER_ORDER_H

#include "codegen/lower/State.h"

namespace dlc::lower {

/// How one state is updated.
struct Update {
  enum class Kind {
    None,   ///< there is no new value, or it is the old one
    Direct, ///< the command that computes the new value writes it into the state's memory
    Copied, ///< the new value is copied to the state's memory before `copiedBefore`
  };
  Kind kind = Kind::None;
  mlir::Value value;
  mlir::Operation *copiedBefore = nullptr;
  /// Copies before the same operation run in the order of `turn`: one may read what another
  /// overwrites.
  unsigned turn = 0;
  /// Whether the new value is a part of an old value that is overwritten before it can be copied (a
  /// swap). It is then saved at the beginning of the program.
  bool saved = false;
};

/// Decides how each state is updated and reorders the operations of a program with state so that
/// - all reads of an old value precede the write that replaces it;
/// - updates run as soon as their operands are available, which ends live ranges of gradients
/// early;
/// - all other operations keep their order.
llvm::SmallVector<Update> orderUpdates(mlir::func::FuncOp function, llvm::ArrayRef<State> states,
                                       const OldValues &old, const CompileOptions &options);

} // namespace dlc::lower
#endif
