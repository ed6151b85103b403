//===- Distance.cpp - distances between all rows of two matrices --------------===//
#include "frontend/aten/Node.h"

#include <cmath>

using namespace mlir;

namespace dlc::aten {
namespace {

/// x1 [.., P, M] less x2 [.., R, M], as [.., P, R, M].
Value differences(Build &b, Value x1, Value x2) {
  return b.sub(b.expandDims(x1, b.rank(x1) - 1), b.expandDims(x2, b.rank(x2) - 2));
}

/// Of rows of many elements, by a product: |x|^2 + |y|^2 - 2 x y.
Value euclidean(Build &b, Value x1, Value x2) {
  auto squares = [&](Value x) {
    return b.reduce(ReduceKind::sum, b.mul(x, x), {b.rank(x) - 1}, true);
  };
  Value product = b.matmul(x1, x2, false, true);
  Value square = b.sub(b.add(squares(x1), b.swapLast(squares(x2))), b.mul(product, 2.0));
  return b.unary<SqrtOp>(b.max(square, b.like(square, 0)));
}

void distance(Node &n, Build &b) {
  constexpr int64_t kFew = 25;
  Value x1 = b.widen(n.tensor("x1")), x2 = b.widen(n.tensor("x2"));
  double p = n.real("p");
  int64_t mode = n.has("compute_mode") ? n.integer("compute_mode") : 0;
  if (!b.require(b.rank(x1) >= 2 && b.rank(x2) >= 2 && b.count(x1) > 0 && b.count(x2) > 0,
                 "required: two matrices that are not empty"))
    return;
  bool isLarge = b.dim(x1, -2) > kFew || b.dim(x2, -2) > kFew;
  if (p == 2 && (mode == 1 || (mode == 0 && isLarge)))
    return n.set(b.cast(euclidean(b, x1, x2), n.resultElement()));
  Value far = b.unary<AbsOp>(differences(b, x1, x2)), y;
  Dims last{b.rank(far) - 1};
  if (p == 0)
    y = b.reduce(ReduceKind::sum,
                 b.cast(b.compare(Predicate::ne, far, b.like(far, 0)), b.elem(far)), last, false);
  else if (std::isinf(p))
    y = b.reduce(ReduceKind::max, far, last, false);
  else if (p == 1)
    y = b.reduce(ReduceKind::sum, far, last, false);
  else if (p == 2)
    y = b.unary<SqrtOp>(b.reduce(ReduceKind::sum, b.mul(far, far), last, false));
  else
    y = b.pow(b.reduce(ReduceKind::sum, b.pow(far, b.like(far, p)), last, false),
              b.like(far, 1 / p));
  n.set(b.cast(y, n.resultElement()));
}

/// Where two rows are the same, there is no direction: the gradient is 0.
void distanceGradient(Node &n, Build &b) {
  Value x1 = b.widen(n.tensor("x1")), x2 = b.widen(n.tensor("x2"));
  double p = n.real("p");
  Value dy = b.widen(n.tensor("grad_output")), y = b.widen(n.tensor("cdist"));
  dy = b.expandDims(dy, b.rank(dy));
  y = b.expandDims(y, b.rank(y));
  if (!b.ok())
    return;
  if (p == 0)
    return n.set(b.splat(n.resultElement(), n.result().getShape(), 0));
  Value by = differences(b, x1, x2), zero = b.like(by, 0);
  Value far = b.unary<AbsOp>(by), sign = b.unary<SignOp>(by), dx;
  if (std::isinf(p))
    dx = b.select(b.compare(Predicate::eq, far, y), b.mul(sign, dy), zero);
  else if (p == 1)
    dx = b.mul(sign, dy);
  else if (p == 2)
    dx = b.mul(by, b.div(dy, y));
  else
    dx = b.mul(b.mul(sign, b.pow(far, b.like(far, p - 1))), b.div(dy, b.pow(y, b.like(y, p - 1))));
  if (p != 1 && !std::isinf(p))
    dx = b.select(b.compare(Predicate::eq, p < 1 ? far : y, b.like(y, 0)), zero, dx);
  n.set(b.cast(b.reduce(ReduceKind::sum, dx, {b.rank(dx) - 2}, false), n.resultElement()));
}

const Operator table[] = {
    {"_cdist_forward.default", distance},
    {"_cdist_backward.default", distanceGradient},
};

} // namespace

ArrayRef<Operator> distanceOperators() { return table; }

} // namespace dlc::aten
