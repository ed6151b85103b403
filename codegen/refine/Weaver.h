//===- Weaver.h - one kernel of what several compute ------------------------------===//
#ifndef DLC_CODEGEN_REFINE_WEAVER_H
#define DLC_CODEGEN_REFINE_WEAVER_H

#include "ir/dlc/Dialect.h"

#include "mlir/IR/IRMapping.h"

namespace dlc {

/// What a fusion yields.
YieldOp endOf(FusionOp fusion);
/// The value behind reshapes.
mlir::Value behindReshapes(mlir::Value v);

/// A kernel of values that others compute: their operations, as far as they are needed, and what
/// comes from outside.
class Weaver {
public:
  Weaver(mlir::OpBuilder &b, mlir::Location loc, mlir::TypeRange types);

  /// `inner`, of another kernel's body, is `value`: of yet another one's, or from outside.
  void stands(mlir::Value inner, mlir::Value value) { instead[inner] = value; }
  /// Reshapes of `value` outside are made within.
  void opens(mlir::Value value) { opened = value; }

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
