//===- Inline.h - a function of another front end inside a trace ----------===//
#ifndef DLC_FRONTEND_TRACE_INLINE_H
#define DLC_FRONTEND_TRACE_INLINE_H

#include "dlc/nn.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace dlc::trace {

/// The context of the trace in progress, into which modules for it must be made.
mlir::MLIRContext &currentContext();

/// A module's @main, to be called while a trace with state is in progress. Its state arguments
/// become parameters and variables of the trace, under their names, with their start; new values of
/// them are assigned. Its state `step` is the trace's step_count(). Locations stay.
class InlinedModule {
public:
  /// The function moves into the traced module, so that it goes with it whatever happens;
  /// eraseInlined() takes it away when the trace has ended.
  explicit InlinedModule(mlir::OwningOpRef<mlir::ModuleOp> module);

  /// What @main takes and gives beside its state. Random numbers of each call are others.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 Location location = Location::current());

private:
  mlir::func::FuncOp function;
  std::map<std::string, Parameter> state;
};

void eraseInlined(mlir::ModuleOp traced);

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_INLINE_H
