//===- Contract.cpp - matrix products -------------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// beta * self + alpha * product; a factor of 0 leaves its part out, whatever is in it.
Value summed(Node &n, Build &b, Value product) {
  Value self = n.tensor("self");
  double beta = n.real("beta", 1), alpha = n.real("alpha", 1);
  if (!product || !self)
    return {};
  if (alpha != 1)
    product = b.mul(product, n.operand("alpha", b.elem(product)));
  if (beta == 0)
    return product;
  if (beta != 1)
    self = b.mul(self, n.operand("beta", b.elem(self)));
  return b.add(product, self);
}

void product(Node &n, Build &b) {
  StringRef second = n.has("mat2") ? "mat2" : "other";
  n.set(b.matmul(n.tensor("self"), n.tensor(second)));
}

template <bool batched> void addProduct(Node &n, Build &b) {
  n.set(summed(
      n, b,
      b.matmul(n.tensor(batched ? "batch1" : "mat1"), n.tensor(batched ? "batch2" : "mat2"))));
}

Value timesVector(Build &b, Value matrix, Value vector) {
  Value y = b.matmul(matrix, b.reshape(vector, {b.count(vector), 1}));
  return b.reshape(y, {b.dim(matrix, 0)});
}

void matrixVector(Node &n, Build &b) { n.set(timesVector(b, n.tensor("self"), n.tensor("vec"))); }

void addMatrixVector(Node &n, Build &b) {
  n.set(summed(n, b, timesVector(b, n.tensor("mat"), n.tensor("vec"))));
}

void dot(Node &n, Build &b) {
  Value x = n.tensor("self"), y = n.tensor("tensor");
  n.set(b.reshape(b.matmul(b.reshape(x, {1, b.count(x)}), b.reshape(y, {b.count(y), 1})), {}));
}

/// Vectors count as matrices of one row or column.
void matmul(Node &n, Build &b) {
  Value x = n.tensor("self"), y = n.tensor("other");
  if (!b.require(b.rank(x) > 0 && b.rank(y) > 0, "required: one dimension or more"))
    return;
  bool row = b.rank(x) == 1, column = b.rank(y) == 1;
  Value z = b.matmul(row ? b.expandDims(x, 0) : x, column ? b.expandDims(y, 1) : y);
  Dims shape = b.dims(z);
  if (column && !shape.empty())
    shape.pop_back();
  if (row && !shape.empty())
    shape.erase(shape.end() - (column ? 1 : 2));
  n.set(b.reshape(z, shape));
}

void linear(Node &n, Build &b) {
  StringRef input = n.has("input") ? "input" : "self";
  Value x = n.tensor(input), w = n.tensor("weight"), bias = n.tensor("bias");
  bool row = b.rank(x) == 1;
  Value y = b.matmul(row ? b.expandDims(x, 0) : x, w, false, /*transposeB=*/true);
  if (row)
    y = b.reshape(y, {b.dim(y, 1)});
  n.set(bias ? b.add(y, bias) : y);
}

const Operator table[] = {
    {"mm.default", product},
    {"bmm.default", product},
    {"addmm.default", addProduct<false>},
    {"baddbmm.default", addProduct<true>},
    {"mv.default", matrixVector},
    {"addmv.default", addMatrixVector},
    {"dot.default", dot},
    {"matmul.default", matmul},
    {"linear.default", linear},
};

} // namespace

ArrayRef<Operator> contractOperators() { return table; }

} // namespace dlc::aten
