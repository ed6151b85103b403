//===- Backward.h - one reverse pass over operations ----------------------===//
#ifndef DLC_PASSES_GRAD_BACKWARD_H
#define DLC_PASSES_GRAD_BACKWARD_H

#include "passes/grad/Activity.h"
#include "passes/grad/Expr.h"

namespace dlc::grad {

class Rules;

/// Where new operations of the backward pass go and what is asked.
struct Question {
  mlir::ValueRange ys, seeds, xs;
  /// Of whoever asks.
  mlir::Location location;
  /// Operations outside of this block are left alone; null: up to the function.
  mlir::Block *within = nullptr;
};

/// What a rule sees: the gradients of an operation's results, and where to add its operands'.
class Backward {
public:
  Backward(const Rules &rules, mlir::OpBuilder &builder) : rules(rules), builder(builder) {}

  /// Builds the backward pass at the builder's place. A null result is a gradient of 0.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> run(const Question &question);

  /// The gradient of a result; null when it is 0.
  Expr of(mlir::Value result);
  /// A value of the forward pass.
  Expr operator()(mlir::Value value) { return {*tensors, value}; }
  bool wants(mlir::Value operand) const { return activity->isActive(operand); }
  /// Adds to the gradient of an operand, if that is asked for; sums over what was stretched.
  void add(mlir::Value operand, llvm::function_ref<mlir::Value()> gradient);
  /// Adds to a part of the operand's gradient: parts that follow one another are joined.
  void addPart(mlir::Value operand, llvm::ArrayRef<int64_t> start,
               llvm::function_ref<mlir::Value()> gradient);

  /// The builder of the backward pass, at the location of the operation at hand.
  TensorBuilder &build() { return *tensors; }
  mlir::OpBuilder &place() { return builder; }
  mlir::Location location() const { return *where; }
  const Rules &allRules() const { return rules; }

  /// Puts other values in the place of a forward operation's results.
  void replace(mlir::Operation *op, mlir::ValueRange values);

private:
  struct Part {
    llvm::SmallVector<int64_t> start;
    mlir::Value gradient;
  };

  void moveTo(mlir::Location loc);
  llvm::SmallVector<mlir::Operation *> operations(mlir::Block *within) const;
  /// Opens what the rules want opened; says whether there was any.
  bool open(llvm::ArrayRef<mlir::Operation *> ops);
  llvm::LogicalResult apply(mlir::Operation *op);
  mlir::Value latest(mlir::Value value) const;
  void accumulate(mlir::Value value, mlir::Value gradient);
  Expr joined(mlir::Value value, llvm::SmallVector<Part> parts);

  const Rules &rules;
  mlir::OpBuilder &builder;
  std::optional<mlir::Location> where;
  std::optional<TensorBuilder> tensors;
  std::optional<Activity> activity;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients, replaced;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part>> partial;
  llvm::SmallVector<mlir::Operation *> dead;
};

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_BACKWARD_H
