//===- Gradient.cpp - operators that are gradients of others ----------------===//
#include "frontend/aten/Gradient.h"

using namespace mlir;

namespace dlc::aten {

Value detached(Build &b, Value x) {
  if (!b.isFloat(x))
    return x;
  Value y = b.max(x, x);
  if (Operation *op = y ? y.getDefiningOp<MaxOp>() : nullptr)
    op->setAttr("dlc.no_gradient", b.b.getUnitAttr());
  return y;
}

Value withSlope(Build &b, Value value, Value slope, Value x) {
  Value product = b.mul(detached(b, slope), x);
  return b.add(value, b.sub(product, detached(b, product)));
}

void setGradients(Node &n, Build &b, ArrayRef<Value> ys, ArrayRef<Value> seeds,
                  ArrayRef<Value> xs) {
  if (!b.ok())
    return;
  SmallVector<Value> wanted;
  SmallVector<size_t> places;
  for (auto [i, x] : llvm::enumerate(xs))
    if (n.wants(i)) {
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

} // namespace dlc::aten
