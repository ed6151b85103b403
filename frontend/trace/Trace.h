//===- Trace.h - access to traced programs for the compiler ---------------===//
#ifndef DLC_FRONTEND_TRACE_TRACE_H
#define DLC_FRONTEND_TRACE_TRACE_H

#include "dlc/nn.hpp"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace dlc {

/// A traced module with its context. The context is destroyed last.
struct TracedModule {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

struct trace::Graph::Impl {
  TracedModule traced;
  std::vector<Parameter> parameters;
};

namespace trace {

/// Moves the module out of a traced graph, ready for compile(). The graph is empty afterwards.
TracedModule takeModule(Graph graph);

/// Traces a function on symbolic tensors into a module of a context that the caller owns.
/// `parameters` receives the parameters that became arguments of the module.
mlir::OwningOpRef<mlir::ModuleOp> traceInto(mlir::MLIRContext &context, const Function &function,
                                            const std::vector<Spec> &inputs,
                                            const TraceOptions &options = {},
                                            std::vector<Parameter> *parameters = nullptr,
                                            Location location = Location::current());

} // namespace trace
} // namespace dlc

#endif // DLC_FRONTEND_TRACE_TRACE_H
