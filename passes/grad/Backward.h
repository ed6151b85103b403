//===- Backward.h - one reverse-mode pass over operations -----------------===//
#ifndef DLC_PASSES_GRAD_BACKWARD_H
#define DLC_PASSES_GRAD_BACKWARD_H

#include "passes/grad/Activity.h"
#include "passes/grad/Expr.h"

namespace dlc::grad {

class GradientRules;

/// Inputs of a reverse-mode pass: the gradients of `xs` are computed from the gradients `seeds` of
/// `ys`.
struct GradientRequest {
  mlir::ValueRange ys, seeds, xs;
  /// Location of the dlc.gradient operation that requests the gradients.
  mlir::Location location;
  /// Block to which the reverse-mode pass is limited. If null, the pass also covers the enclosing
  /// blocks, up to the function.
  mlir::Block *within = nullptr;
};

/// A reverse-mode pass (backpropagation). Gradient rules use it to read the gradients of an
/// operation's results and to add to those of its operands.
class BackwardPass {
public:
  BackwardPass(const GradientRules &rules, mlir::OpBuilder &builder)
      : rules(rules), builder(builder) {}

  /// Builds the backward pass at the insertion point of the builder, and returns the gradients of
  /// the xs. A null gradient represents 0.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> run(const GradientRequest &question);

  /// Returns the gradient of a forward operation's result. Null represents a gradient of 0.
  Expr of(mlir::Value result);
  /// Returns a value of the forward pass as an expression.
  Expr operator()(mlir::Value value) { return {*tensors, value}; }
  bool needsGradient(mlir::Value operand) const { return activity->isActive(operand); }
  /// Adds `gradient` to the gradient of an operand if this gradient is needed. Sums over dimensions
  /// in which the operand was broadcast.
  void add(mlir::Value operand, llvm::function_ref<mlir::Value()> gradient);
  /// Adds `gradient` to the slice of an operand's gradient that begins at `start`. Adjacent slices
  /// are concatenated.
  void addPart(mlir::Value operand, llvm::ArrayRef<int64_t> start,
               llvm::function_ref<mlir::Value()> gradient);

  /// Returns the builder of the backward pass, at the location of the current operation.
  TensorBuilder &build() { return *tensors; }
  mlir::OpBuilder &place() { return builder; }
  mlir::Location location() const { return *where; }
  const GradientRules &allRules() const { return rules; }

  /// Replaces the results of a forward operation by the given values.
  void replace(mlir::Operation *op, mlir::ValueRange values);

private:
  struct Part {
    llvm::SmallVector<int64_t> start;
    mlir::Value gradient;
  };

  void moveTo(mlir::Location loc);
  llvm::SmallVector<mlir::Operation *> operations(mlir::Block *within) const;
  /// Decomposes the active operations whose type has a registered decomposition into simpler
  /// operations, before they are differentiated. Returns whether there were any.
  bool open(llvm::ArrayRef<mlir::Operation *> ops);
  llvm::LogicalResult apply(mlir::Operation *op);
  mlir::Value latest(mlir::Value value) const;
  void accumulate(mlir::Value value, mlir::Value gradient);
  Expr joined(mlir::Value value, llvm::SmallVector<Part> parts);

  const GradientRules &rules;
  mlir::OpBuilder &builder;
  std::optional<mlir::Location> where;
  std::optional<TensorBuilder> tensors;
  std::optional<ActivityAnalysis> activity;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients, replaced;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part>> partial;
  llvm::SmallVector<mlir::Operation *> dead;
};

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_BACKWARD_H
