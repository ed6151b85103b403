//===- Order.h - in which order commands update state ---------------------===//
#ifndef DLC_CODEGEN_LOWER_ORDER_H
#define DLC_CODEGEN_LOWER_ORDER_H

#include "codegen/lower/State.h"

namespace dlc::lower {

/// What is to be done for one state.
struct Update {
  enum class Kind {
    None,   ///< it has no new value, or the old one is the new one
    Direct, ///< what makes the new value writes it into the state's memory
    Copied, ///< the new value is copied there before `copiedBefore`
  };
  Kind kind = Kind::None;
  mlir::Value value;
  mlir::Operation *copiedBefore = nullptr;
  /// Copies before one operation come in the order of their turns: one may read what another writes
  /// over.
  unsigned turn = 0;
  /// The new value is a part of an old one that is written over before it can be copied (a swap):
  /// it is saved at the beginning.
  bool saved = false;
};

/// Decides how each state is updated and puts the operations of a program with state into an order
/// in which
/// - all that reads an old value comes before what writes over it;
/// - updates come as soon as all they need is there, so that gradients die early;
/// - everything else stays where it was.
llvm::SmallVector<Update> orderUpdates(mlir::func::FuncOp function, llvm::ArrayRef<State> states,
                                       const OldValues &old, const CompileOptions &options);

} // namespace dlc::lower
#endif
