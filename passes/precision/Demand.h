//===- Demand.h - values that matmuls and convolutions need in 16 bits ----===//
#ifndef DLC_PASSES_PRECISION_DEMAND_H
#define DLC_PASSES_PRECISION_DEMAND_H

#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"

namespace dlc::precision {

/// The requested precision of products, which are operations of class Product: matmuls,
/// convolutions and attention.
struct PrecisionRequest {
  /// 16-bit type of products. If null, products stay in f32, except those that an override names.
  mlir::FloatType narrow;
  PrecisionOverrides overrides;

  /// Return the numeric class of an operation, and the 16-bit type of a product's operands (null if
  /// they stay in f32). An override to f32 makes the class Full (f32 throughout).
  NumericClass classOf(mlir::Operation *op) const;
  mlir::FloatType typeOf(mlir::Operation *op) const;
};

/// Returns whether the value is a tensor of f32. Other element types were chosen by the model and
/// are not changed.
bool isF32Tensor(mlir::Value value);

/// Determines the values that are needed in a narrow (16-bit) type: those that a product (matmul,
/// convolution or attention) reads, and those from which such values are computed elementwise.
/// Small operands in between (means, scales, biases) are excluded, because their rounding error
/// would affect every element of the result.
class PrecisionDemand {
public:
  PrecisionDemand(mlir::Operation *root, const PrecisionRequest &request);

  /// Returns the 16-bit type in which the value is needed, or null if it is not needed in a 16-bit
  /// type.
  mlir::FloatType of(mlir::Value value) const { return wanted.lookup(value); }
  /// Returns whether the value is stored only in 16 bits, and not also in f32. False for values
  /// that leave their block (results, states).
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
