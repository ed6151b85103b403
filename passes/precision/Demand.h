//===- Demand.h - values that matmuls and convolutions need in 16 bits ----===//
#ifndef DLC_PASSES_PRECISION_DEMAND_H
#define DLC_PASSES_PRECISION_DEMAND_H

#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"

namespace dlc::precision {

/// The requested precision of products (operations of class Product: matmuls, convolutions and
/// attention).
struct PrecisionRequest {
  /// Type of products. If null, products stay in f32, except those that an override names.
  mlir::FloatType narrow;
  Overrides overrides;

  /// Numeric class of an operation, and the type of its products. An override to f32 makes the
  /// class Full.
  NumericClass classOf(mlir::Operation *op) const;
  mlir::FloatType typeOf(mlir::Operation *op) const;
};

/// Whether the value is a tensor of f32. Other types were chosen by the model and stay.
bool isWide(mlir::Value value);

/// Determines the values that are needed in a narrow type: those that a product (matmul,
/// convolution or attention) reads, and those from which such values are computed elementwise.
/// Small operands in between (means, scales, biases) are excluded, because their rounding error
/// would affect every element of the result.
class Demand {
public:
  Demand(mlir::Operation *root, const PrecisionRequest &request);

  /// The type in which the value is needed. Null if it is not needed in a narrow type.
  mlir::FloatType of(mlir::Value value) const { return wanted.lookup(value); }
  /// Whether only the narrow value is stored. False for values that leave their block (results,
  /// states).
  bool isStored(mlir::Value value) const;

private:
  mlir::FloatType wantedBy(mlir::OpOperand &use) const;
  void decide(mlir::Value value);
  void visit(mlir::Block &block);

  const PrecisionRequest &request;
  llvm::DenseMap<mlir::Value, mlir::FloatType> wanted;
};

} // namespace dlc::precision

#endif // DLC_PASSES_PRECISION_DEMAND_H
