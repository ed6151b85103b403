//===- Inline.h - calls of a function from another front end inside a trace --===//
#ifndef DLC_FRONTEND_TRACE_INLINE_H
#define DLC_FRONTEND_TRACE_INLINE_H

#include "dlc/nn.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace dlc::trace {

/// Returns the MLIR context of the trace in progress. Modules that are inlined into the trace must
/// be created in this context.
mlir::MLIRContext &currentContext();

/// A module whose @main can be called while a trace with state is in progress. The state arguments
/// of @main become parameters and variables of the trace, with the same names and initial values,
/// and their new values are assigned. The state `step` becomes the trace's step_count(). Operations
/// keep their locations.
class InlinedModule {
public:
  /// Moves the function into the traced module, which then owns it. eraseInlinedFunctions() removes
  /// it when the trace has ended.
  explicit InlinedModule(mlir::OwningOpRef<mlir::ModuleOp> module);

  /// Clones the body of @main into the trace. `inputs` and the returned tensors are the arguments
  /// and results of @main without its state. Each call draws different random numbers.
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs,
                                 Location location = Location::current());

private:
  mlir::func::FuncOp function;
  std::map<std::string, Parameter> state;
};

void eraseInlinedFunctions(mlir::ModuleOp traced);

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_INLINE_H
