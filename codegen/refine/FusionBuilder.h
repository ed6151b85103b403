//===- FusionBuilder.h - builds one fusion from the bodies of several ------------===//
#ifndef DLC_CODEGEN_REFINE_FUSIONBUILDER_H
#define DLC_CODEGEN_REFINE_FUSIONBUILDER_H

#include "ir/dlc/Dialect.h"

#include "mlir/IR/IRMapping.h"

namespace dlc {

/// Returns the dlc.yield at the end of a fusion's body.
YieldOp getYield(FusionOp fusion);
/// Returns the source of a chain of reshapes: the value before the first reshape.
mlir::Value skipReshapes(mlir::Value v);

/// Builds a fusion that yields values of other fusions. Clones the operations that compute these
/// values into its body, and adds inputs for values from outside of fusions.
class FusionBuilder {
public:
  FusionBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::TypeRange types);

  /// In the fusion that is built, replaces operand `inner` of the cloned operations by `value`.
  /// `inner` is defined in the body of an existing fusion. `value` is defined in another fusion's
  /// body (then it is cloned) or outside of fusions (then it becomes an input).
  void replaceValue(mlir::Value inner, mlir::Value value) { instead[inner] = value; }
  /// Makes the built fusion contain reshapes of `value` that are outside of fusions, instead of
  /// using their results as inputs.
  void inlineReshapesOf(mlir::Value value) { opened = value; }

  FusionOp yield(mlir::ValueRange values);

private:
  mlir::Value get(mlir::Value v);

  FusionOp fusion;
  mlir::Block &body;
  mlir::IRMapping map;
  llvm::DenseMap<mlir::Value, mlir::Value> instead;
  mlir::Value opened;
};

} // namespace dlc
#endif
