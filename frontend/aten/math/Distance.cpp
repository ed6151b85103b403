//===- Distance.cpp - distances between rows of matrices ----------------------===//
#include "frontend/aten/Gradient.h"

#include <cmath>

using namespace mlir;

namespace dlc::aten {
namespace {

/// Returns the pairwise differences of rows: x1 [.., P, M] - x2 [.., R, M] as [.., P, R, M].
Value pairwiseDifferences(Build &b, Value x1, Value x2) {
  return b.sub(b.expandDims(x1, b.rank(x1) - 1), b.expandDims(x2, b.rank(x2) - 2));
}

/// Euclidean distances between rows, computed by a matmul: |x|^2 + |y|^2 - 2 x y. Used for long
/// rows.
Value euclideanDistances(Build &b, Value x1, Value x2) {
  auto squares = [&](Value x) {
    return b.reduce(ReduceKind::sum, b.mul(x, x), {b.rank(x) - 1}, true);
  };
  Value product = b.matmul(x1, x2, false, true);
  Value square = b.sub(b.add(squares(x1), b.swapLast(squares(x2))), b.mul(product, 2.0));
  return b.unary<SqrtOp>(b.atLeast(square, b.like(square, 0)));
}

/// Returns the p-norm of the differences `far` over the last dimension.
Value computePNorm(Build &b, Value far, double p) {
  far = b.unary<AbsOp>(far);
  Dims last{b.rank(far) - 1};
  auto sum = [&](Value v) { return b.reduce(ReduceKind::sum, v, last, false); };
  if (p == 0)
    return sum(b.cast(b.compare(Predicate::ne, far, b.like(far, 0)), b.elem(far)));
  if (std::isinf(p)) {
    // If p is infinity, each element that is equal to the maximum gets the whole gradient (it is
    // not divided among them).
    Value y = stopGradient(b, b.reduce(ReduceKind::max, far, last, true)), none = b.like(far, 0);
    Value isFarthest = b.both(b.compare(Predicate::eq, far, y), b.negate(b.unary<IsInfOp>(far)));
    Value change = sum(b.select(isFarthest, b.sub(far, y), none));
    return b.add(b.reshape(y, b.dims(change)), change);
  }
  if (p == 1)
    return sum(far);
  if (p == 2)
    return b.unary<SqrtOp>(sum(b.mul(far, far)));
  return b.pow(sum(b.pow(far, b.like(far, p))), b.like(far, 1 / p));
}

/// Gradient of the p-norm y with respect to the differences `by`, where dy is the gradient of y. If
/// two rows are equal, the gradient is 0.
Value pNormGradient(Build &b, Value by, Value y, Value dy, double p) {
  y = b.expandDims(y, b.rank(y));
  dy = b.expandDims(dy, b.rank(dy));
  Value zero = b.like(by, 0);
  if (p == 0)
    return b.broadcast(zero, b.shape(by));
  Value far = b.unary<AbsOp>(by), sign = b.unary<SignOp>(by), dx;
  if (std::isinf(p))
    return b.select(b.compare(Predicate::eq, far, y), b.mul(sign, dy), zero);
  if (p == 1)
    return b.mul(sign, dy);
  if (p == 2)
    dx = b.mul(by, b.div(dy, y));
  else
    dx = b.mul(b.mul(sign, b.pow(far, b.like(far, p - 1))), b.div(dy, b.pow(y, b.like(y, p - 1))));
  return b.select(b.compare(Predicate::eq, p < 1 ? far : y, b.like(y, 0)), zero, dx);
}

void pairwiseDistances(Node &n, Build &b) {
  constexpr int64_t kFew = 25;
  Value x1 = b.widen(n.tensor("x1")), x2 = b.widen(n.tensor("x2"));
  double p = n.real("p");
  int64_t mode = n.has("compute_mode") ? n.integer("compute_mode") : 0;
  if (!b.require(b.rank(x1) >= 2 && b.rank(x2) >= 2 && b.count(x1) > 0 && b.count(x2) > 0,
                 "required: two matrices that are not empty"))
    return;
  bool isLarge = b.dim(x1, -2) > kFew || b.dim(x2, -2) > kFew;
  Value y = p == 2 && (mode == 1 || (mode == 0 && isLarge))
                ? euclideanDistances(b, x1, x2)
                : computePNorm(b, pairwiseDifferences(b, x1, x2), p);
  n.set(b.cast(y, n.resultElement()));
}

void pairwiseDistancesGradient(Node &n, Build &b) {
  Value by = pairwiseDifferences(b, b.widen(n.tensor("x1")), b.widen(n.tensor("x2")));
  Value dx = pNormGradient(b, by, b.widen(n.tensor("cdist")), b.widen(n.tensor("grad_output")),
                           n.real("p"));
  n.set(b.cast(b.reduce(ReduceKind::sum, dx, {b.rank(by) - 2}, false), n.resultElement()));
}

/// Returns whether there are at least two rows with at least one element. Otherwise there are no
/// distances, or all distances are 0.
bool hasDistances(Build &b, Value x) { return b.dim(x, 0) > 1 && b.dim(x, 1) > 0; }

/// Row indices of each pair of rows, in the order in which pdist returns the distances.
struct RowPairs {
  Dims first, second;

  explicit RowPairs(int64_t rows) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = i + 1; j < rows; ++j) {
        first.push_back(i);
        second.push_back(j);
      }
  }
};

bool checkMatrix(Build &b, Value x) {
  return b.require(b.rank(x) == 2 && b.dim(x, 0) * b.dim(x, 0) <= Build::needLimit,
                   "required: a matrix with fewer rows");
}

void condensedPairDistances(Node &n, Build &b) {
  Value x = b.widen(n.tensor("self"));
  if (!checkMatrix(b, x))
    return;
  int64_t rows = b.dim(x, 0);
  if (!hasDistances(b, x))
    return n.set(b.splat(n.resultElement(), {rows * (rows - 1) / 2}, 0));
  RowPairs pairs(rows);
  Value by = b.sub(b.gather(x, b.ints(pairs.first), 0), b.gather(x, b.ints(pairs.second), 0));
  n.set(b.cast(computePNorm(b, by, n.real("p")), n.resultElement()));
}

/// Gradient of pdist. Expands the distances to a symmetric matrix, so that each pair contributes to
/// the gradient of both of its rows.
void condensedPairDistancesGradient(Node &n, Build &b) {
  Value x = b.widen(n.tensor("self"));
  if (!checkMatrix(b, x))
    return;
  if (!hasDistances(b, x))
    return n.set(b.splat(n.resultElement(), b.shape(x), 0));
  int64_t rows = b.dim(x, 0);
  RowPairs pairs(rows);
  Dims place(size_t(rows * rows), 0);
  for (auto [k, both] : llvm::enumerate(llvm::zip(pairs.first, pairs.second))) {
    auto [i, j] = both;
    place[size_t(i * rows + j)] = place[size_t(j * rows + i)] = int64_t(k);
  }
  Value where = b.ints(place, {rows, rows}, b.i64);
  auto matrix = [&](StringRef name) { return b.gather(b.widen(n.tensor(name)), where, 0); };
  Value dx = pNormGradient(b, pairwiseDifferences(b, x, x), matrix("pdist"), matrix("grad_output"),
                           n.real("p"));
  n.set(b.cast(b.reduce(ReduceKind::sum, dx, {1}, false), n.resultElement()));
}

const Operator table[] = {
    {"_cdist_forward.default", pairwiseDistances},
    {"_cdist_backward.default", pairwiseDistancesGradient},
    {"_pdist_forward.default", condensedPairDistances},
    {"_pdist_backward.default", condensedPairDistancesGradient},
};

} // namespace

ArrayRef<Operator> distanceOperators() { return table; }

} // namespace dlc::aten
