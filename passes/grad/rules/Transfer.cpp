//===- Transfer.cpp - gradients across devices and layouts ----------------===//
#include "passes/grad/Rules.h"

using namespace mlir;

namespace dlc::grad {

void addTransferGradients(GradientRules &rules) {
  // transfer: dx = dy, transferred to x's device
  rules.unary<TransferOp>([](Expr dy, Expr x, Expr) {
    return Expr(dy.builder(), dy.builder().make<TransferOp>(Value(x).getType(), Value(dy)));
  });
  // reorder: dx = dy, reordered to x's layout
  rules.unary<ReorderOp>([](Expr dy, Expr x, Expr) {
    return Expr(dy.builder(), dy.builder().make<ReorderOp>(Value(x).getType(), Value(dy)));
  });
}

} // namespace dlc::grad
