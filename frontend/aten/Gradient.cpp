//===- Gradient.cpp - gradients of operators, detached values, custom gradients --===//
#include "frontend/aten/Gradient.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/CustomGradient.h"

using namespace mlir;

namespace dlc::aten {

void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds,
                  ArrayRef<Value> xs) {
  if (!b.ok())
    return;
  SmallVector<Value> wanted;
  SmallVector<size_t> places;
  for (auto [i, x] : llvm::enumerate(xs))
    if (n.hasResult(i)) {
      wanted.push_back(x);
      places.push_back(i);
    }
  if (wanted.empty())
    return;
  auto op = GradientOp::create(b.b, b.getLoc(), TypeRange(ValueRange(wanted)), ys, seeds, wanted,
                               /*allow_unused=*/true);
  for (auto [place, result] : llvm::zip_equal(places, op.getDxs()))
    n.set(place, result);
}

Value stopGradient(Build &b, Value x) {
  if (!b.ok() || !b.isFloat(x))
    return x;
  x = b.max(x, x);
  if (Operation *op = x ? x.getDefiningOp<MaxOp>() : nullptr)
    op->setAttr(kNoGradientAttr, b.b.getUnitAttr());
  return x;
}

Value attachGradient(Build &b, Value value, Value slope, Value x) {
  Value product = b.mul(stopGradient(b, slope), x);
  return b.add(value, b.sub(product, stopGradient(b, product)));
}

namespace {

void detach(Node &n, Build &b) { n.set(stopGradient(b, n.tensor("self"))); }

/// Imports the placeholder for the gradient of y.
/// tools/python/dlc/_training/custom_gradient.py traces it.
void cotangent(Node &n, Build &b) {
  if (Value y = n.tensor("y"))
    n.set(CotangentOp::create(b.b, b.getLoc(), y.getType(), y));
}

/// Imports a torch.autograd.Function: attaches the gradients that its backward function computes to
/// the results of its forward function.
void customGradient(Node &n, Build &b) {
  std::vector<Value> ys = n.tensors("ys"), cotangents = n.tensors("cotangents"),
                     xs = n.tensors("xs"), dxs = n.tensors("dxs");
  if (!b.ok())
    return;
  auto op =
      CustomGradientOp::create(b.b, b.getLoc(), TypeRange(ValueRange(ys)), ys, cotangents, xs, dxs);
  n.setAll(llvm::to_vector(ValueRange(op.getZs())));
}

const Operator table[] = {
    {"detach_copy.default", detach},
    {"dlc::cotangent.default", cotangent},
    {"dlc::custom_gradient.default", customGradient},
};

} // namespace

ArrayRef<Operator> gradientOperators() { return table; }

} // namespace dlc::aten
