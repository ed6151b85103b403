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

  /// Imports the operations of a block at the insertion point and sets `results` to the operands of
  /// its terminator. `arguments` are the values of the block's arguments.
  bool block(mlir::Block &block, ArrayRef<Value> arguments, Values &results);
  /// Imports a call by inlining the body of the callee, and sets `results` to the values that the
  /// callee returns.
  bool call(StringRef callee, ArrayRef<Value> arguments, Values &results);
  /// Evaluates a region with scalar arguments on several samples at once. Element i of each
  /// argument tensor is the argument's value in sample i; the returned tensors have the same form.
  /// Returns nothing if the region contains operations that are not elementwise or uses values that
  /// are not constants.
  std::optional<std::vector<ref::Tensor>> evaluate(Region &region, ArrayRef<ref::Tensor> arguments);

private:
  bool operation(mlir::Operation &op);
  bool operands(mlir::Operation &op, Values &result);
  Value find(Value value);
  bool checkResults(Node &n);

  Build &b;
  mlir::ModuleOp source;
  /// Maps each StableHLO value to the dlc value that was imported for it.
  llvm::DenseMap<Value, Value> values;
  /// The call stack: functions whose bodies are being imported.
  llvm::SmallVector<mlir::func::FuncOp> active;
  /// Source line of the innermost enclosing call that has one. It locates operations without a
  /// source line, such as those of functions that JAX caches.
  std::string callLine;
  /// Set only while a region is evaluated: the importer of the operation that contains the region.
  Importer *outer = nullptr;
};

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_IMPORTER_H
