//===- Contract.cpp - matmuls with fused operations -----------------------===//
#include "frontend/onnx/Families.h"
#include "frontend/onnx/contrib/Activation.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Moves the first dimension after the batch dimensions: [M, B.., K] becomes [B.., M, K].
Value moveBatchFirst(Build &b, Value x) {
  Dims order;
  for (int64_t i = 1; i + 1 < b.rank(x); ++i)
    order.push_back(i);
  order.insert(order.end(), {0, b.rank(x) - 1});
  return b.rank(x) > 2 ? b.transpose(x, order) : x;
}

/// FusedMatMul. transA and transB have no effect on vectors.
void fusedMatMul(Node &n, Build &b) {
  auto operand = [&](int64_t i, StringRef batch, StringRef last) {
    Value x = n.integer(batch, 0) ? moveBatchFirst(b, n.in(i)) : n.in(i);
    return n.integer(last, 0) && b.rank(x) > 1 ? b.swapLast(x) : x;
  };
  Value y =
      buildNumpyMatmul(b, operand(0, "transBatchA", "transA"), operand(1, "transBatchB", "transB"));
  double alpha = n.real("alpha", 1);
  n.set(0, alpha == 1 ? y : b.mul(y, alpha));
}

void fusedGemm(Node &n, Build &b) {
  std::vector<double> parameters;
  for (StringRef name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (n.hasAttr(name))
      parameters.push_back(n.real(name, 0));
  n.set(0, buildFusedActivation(b, buildGemm(n, b), n.string("activation", ""), parameters));
}

/// Inverse: Gauss-Jordan elimination of [x | 1], unrolled. The pivot of step k is the element of
/// column k with the maximum magnitude.
void inverse(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x);
  if (!b.require(rank >= 2 && b.dim(x, -1) == b.dim(x, -2), "required square matrices"))
    return;
  int64_t size = b.dim(x, -1);
  if (!b.require(size > 0 && size <= 64, "inverses of 1 to 64 rows are supported"))
    return;
  int64_t batch = b.count(x) / (size * size);
  Value row = b.iota(b.i64, {size, size}, 0), column = b.iota(b.i64, {size, size}, 1);
  Value unit = b.cast(b.compare(Predicate::eq, row, column), b.elem(x));
  Value m =
      b.concat({b.reshape(x, {batch, size, size}), b.broadcast(unit, {batch, size, size})}, 2);
  for (int64_t k = 0; k < size && b.ok(); ++k) {
    Value below = b.sliceAxis(b.at(m, 2, k), 1, k, size - k);
    Value pivot = b.op<ArgReduceOp>(
        {b.unary<AbsOp>(below)}, {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::max)),
                                  b.attr("axis", int64_t(1)), b.attrUnit("keepdims")});
    pivot = b.add(b.cast(pivot, b.i64), double(k));
    // Partial pivoting: swaps row k and the pivot row.
    Value rows = b.iota(b.i64, {batch, size}, 1), own = b.scalarInt(b.i64, k);
    Value swapped = b.select(b.compare(Predicate::eq, rows, own), pivot,
                             b.select(b.compare(Predicate::eq, rows, pivot), own, rows));
    Value place = b.broadcast(b.expandDims(swapped, 2), {batch, size, 2 * size});
    m = b.op<GatherElementsOp>({m, place}, {b.attr("axis", int64_t(1))});
    Value head = b.sliceAxis(m, 1, k, 1);
    head = b.div(head, b.sliceAxis(head, 2, k, 1));
    Value rest = b.sub(m, b.mul(b.sliceAxis(m, 2, k, 1), head));
    Value isRow = b.compare(Predicate::eq, b.iota(b.i64, {1, size, 1}, 1), own);
    m = b.select(isRow, head, rest);
  }
  n.set(0, b.reshape(b.sliceAxis(m, 2, size, size), b.shape(x)));
}

/// CDist: distances between each row of A and each row of B.
void cdist(Node &n, Build &b) {
  Value x = n.in(0), y = n.in(1);
  std::string metric = n.string("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    return n.unsupported("metric", metric, "sqeuclidean, euclidean");
  if (!b.require(b.rank(x) == 2 && b.rank(y) == 2 && b.dim(x, 1) == b.dim(y, 1),
                 "A and B must be matrices with rows of one length"))
    return;
  Value apart = b.sub(b.expandDims(x, 1), b.expandDims(y, 0));
  Value sum = b.reduce(ReduceKind::sum, b.mul(apart, apart), {2}, false);
  n.set(0, metric == "euclidean" ? b.unary<SqrtOp>(sum) : sum);
}

const Operator table[] = {
    {"CDist", 2, cdist, "metric"},
    {"FusedMatMul", 2, fusedMatMul, "alpha transA transB transBatchA transBatchB"},
    {"TransposeMatMul", 2, fusedMatMul, "alpha transA transB"},
    {"FusedGemm", 2, fusedGemm,
     "activation activation_alpha activation_beta activation_gamma alpha beta transA transB"},
    {"Inverse", 1, inverse},
};

} // namespace

ArrayRef<Operator> fusedContractOperators() { return table; }

} // namespace dlc::onnxfront
