//===- Rules.h - gradient rules of operations -----------------------------===//
#ifndef DLC_PASSES_GRAD_RULES_H
#define DLC_PASSES_GRAD_RULES_H

#include "ir/dlc/Attributes.h"
#include "passes/grad/Backward.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace dlc::grad {

/// Registry of gradient rules and decompositions, by operation type.
class GradientRules {
public:
  using Rule = std::function<llvm::LogicalResult(mlir::Operation *, BackwardPass &)>;
  /// Decomposition: returns replacements for the results of an operation, or an empty list if the
  /// operation is not decomposed.
  using Opening = std::function<llvm::SmallVector<mlir::Value>(mlir::Operation *, TensorBuilder &)>;

  /// Registers a gradient rule for the operation type `Op`. `rule(op, backward)` adds to the
  /// gradients of the operands, given those of the results.
  template <typename Op, typename F> void add(F rule) {
    rules[mlir::TypeID::get<Op>()] = [rule](mlir::Operation *op, BackwardPass &g) {
      if constexpr (std::is_void_v<decltype(rule(llvm::cast<Op>(op), g))>) {
        rule(llvm::cast<Op>(op), g);
        return llvm::success();
      } else {
        return rule(llvm::cast<Op>(op), g);
      }
    };
  }
  /// Registers a gradient rule for the unary operation type `Op`: the rule returns dx from dy, x
  /// and y.
  template <typename Op, typename F> void unary(F derivative) {
    add<Op>([derivative](Op op, BackwardPass &g) {
      Expr dy = g.of(op->getResult(0)), x = g(op->getOperand(0)), y = g(op->getResult(0));
      g.add(x, [&] { return derivative(dy, x, y); });
    });
  }
  /// Registers a decomposition of the operation type `Op` into simpler operations, which is applied
  /// before differentiation.
  template <typename Op, typename F> void open(F opening) {
    openings[mlir::TypeID::get<Op>()] = [opening](mlir::Operation *op, TensorBuilder &b) {
      return opening(llvm::cast<Op>(op), b);
    };
  }

  const Rule *find(mlir::Operation *op) const { return lookup(rules, op); }
  const Opening *findOpening(mlir::Operation *op) const { return lookup(openings, op); }
  bool isConstant(mlir::Operation *op) const {
    return op->hasAttr(kNoGradientAttr) || op->hasTrait<NoGradient>();
  }

private:
  template <typename T>
  static const T *lookup(const llvm::DenseMap<mlir::TypeID, T> &map, mlir::Operation *op) {
    auto it = map.find(op->getName().getTypeID());
    return it == map.end() ? nullptr : &it->second;
  }
  llvm::DenseMap<mlir::TypeID, Rule> rules;
  llvm::DenseMap<mlir::TypeID, Opening> openings;
};

void addElementwiseGradients(GradientRules &rules);
void addShapeOpGradients(GradientRules &rules);
void addGatherGradients(GradientRules &rules);
void addReduceGradients(GradientRules &rules);
void addMatmulGradients(GradientRules &rules);
void addConvGradients(GradientRules &rules);
void addPoolGradients(GradientRules &rules);
void addNormGradients(GradientRules &rules);
void addAttentionGradients(GradientRules &rules);
void addRecurrentGradients(GradientRules &rules);
void addControlFlowGradients(GradientRules &rules);
void addTransferGradients(GradientRules &rules);
void addCollectiveGradients(GradientRules &rules);
void addCustomGradientRule(GradientRules &rules);

/// Replaces the results of all custom_gradient operations in `root` by the values whose gradients
/// they define.
void eraseCustomGradients(mlir::Operation *root);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RULES_H
