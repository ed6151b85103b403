//===- Importer.h - imports blocks and calls of StableHLO modules --------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_IMPORTER_H
#define DLC_FRONTEND_MLIR_STABLEHLO_IMPORTER_H

#include "frontend/mlir/stablehlo/Node.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::stablehlo {

class Importer {
public:
  Importer(Build &b, mlir::ModuleOp source) : b(b), source(source) {}

  /// Imports the operations of a block at the insertion point, and returns the operands of its
  /// terminator. `arguments` are the values of the block's arguments.
  bool block(mlir::Block &block, ArrayRef<Value> arguments, Values &results);
  /// Imports the body of a function, as a call does.
  bool call(StringRef callee, ArrayRef<Value> arguments, Values &results);
  /// Evaluates a region of scalar arguments for several samples at once. Element i of each tensor
  /// is the argument's value in sample i. Returns the results in the same form; nothing if the
  /// region has operations that are not elementwise, or uses values that are not constants.
  std::optional<std::vector<ref::Tensor>> evaluate(Region &region, ArrayRef<ref::Tensor> arguments);

private:
  bool operation(mlir::Operation &op);
  bool operands(mlir::Operation &op, Values &result);
  Value find(Value value);
  bool checkResults(Node &n);

  Build &b;
  mlir::ModuleOp source;
  /// The dlc values of StableHLO values.
  llvm::DenseMap<Value, Value> values;
  /// The functions whose bodies are being imported.
  llvm::SmallVector<mlir::func::FuncOp> active;
  /// Source line of the innermost call that has one. JAX gives none to operations of functions that
  /// it caches.
  std::string callLine;
  /// Set while a region is evaluated: the importer of the operation that has the region.
  Importer *outer = nullptr;
};

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_IMPORTER_H
