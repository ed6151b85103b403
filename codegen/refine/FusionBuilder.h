//===- FusionBuilder.h - builds one fusion from the bodies of several ------------===//
#ifndef DLC_CODEGEN_REFINE_FUSIONBUILDER_H
#define DLC_CODEGEN_REFINE_FUSIONBUILDER_H

#include "ir/dlc/Dialect.h"

#include "mlir/IR/IRMapping.h"

namespace dlc {

/// Returns the terminator of a fusion.
YieldOp terminatorOf(FusionOp fusion);
/// Returns the value that a chain of reshapes is applied to.
mlir::Value belowReshapes(mlir::Value v);

/// Builds a fusion that yields values of other fusions: clones the operations that compute them, as
/// far as needed, and adds the operands from outside of fusions.
class FusionBuilder {
public:
  FusionBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::TypeRange types);

  /// Replaces `inner`, a value in a fusion's body, by `value`, a value of another body or outside
  /// of fusions.
  void replaceValue(mlir::Value inner, mlir::Value value) { instead[inner] = value; }
  /// Clones reshapes of `value` outside of fusions into the fusion.
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
