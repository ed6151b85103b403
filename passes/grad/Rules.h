//===- Rules.h - gradient rules of operations -----------------------------===//
#ifndef DLC_PASSES_GRAD_RULES_H
#define DLC_PASSES_GRAD_RULES_H

#include "ir/dlc/Attributes.h"
#include "passes/grad/Backward.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace dlc::grad {

/// Registry of gradient rules and decompositions, by operation type.
class Rules {
public:
  using Rule = std::function<llvm::LogicalResult(mlir::Operation *, Backward &)>;
  /// Decomposition: returns replacements for the results of an operation, or an empty list if the
  /// operation is not decomposed.
  using Opening = std::function<llvm::SmallVector<mlir::Value>(mlir::Operation *, TensorBuilder &)>;

  /// Registers a gradient rule for the operation type `Op`. `rule(op, backward)` adds to the
  /// gradients of the operands, given those of the results.
  template <typename Op, typename F> void add(F rule) {
    rules[mlir::TypeID::get<Op>()] = [rule](mlir::Operation *op, Backward &g) {
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
    add<Op>([derivative](Op op, Backward &g) {
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

void addElementwise(Rules &rules);
void addShape(Rules &rules);
void addGather(Rules &rules);
void addReduce(Rules &rules);
void addContract(Rules &rules);
void addConv(Rules &rules);
void addPool(Rules &rules);
void addNorm(Rules &rules);
void addAttention(Rules &rules);
void addRecurrent(Rules &rules);
void addControl(Rules &rules);
void addTransfer(Rules &rules);
void addCollective(Rules &rules);
void addCustomGradient(Rules &rules);

/// Replaces the results of all custom_gradient operations in `root` by the values whose gradients
/// they define.
void eraseCustomGradients(mlir::Operation *root);

} // namespace dlc::grad

#endif // DLC_PASSES_GRAD_RULES_H
