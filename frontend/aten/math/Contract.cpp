//===- Contract.cpp - matmuls of vectors, matrices, batches and groups ----===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// Returns beta * self + alpha * product, as in addmm. If a factor is 0, its term is omitted, even
/// if the term contains NaN.
Value addScaledSelf(Node &n, Build &b, Value product) {
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

void multiplyMatrices(Node &n, Build &b) {
  StringRef second = n.has("mat2") ? "mat2" : "other";
  n.set(b.matmul(n.tensor("self"), n.tensor(second)));
}

template <bool batched> void addMatmul(Node &n, Build &b) {
  n.set(addScaledSelf(
      n, b,
      b.matmul(n.tensor(batched ? "batch1" : "mat1"), n.tensor(batched ? "batch2" : "mat2"))));
}

/// Matmul that returns its accumulator type: f32 for 16-bit operands, or i32 for 8-bit integers.
void matmulWithWideResult(Node &n, Build &b) {
  Type element = n.resultElement();
  n.set(b.matmul(n.operand("self", element), n.operand("mat2", element)));
}

template <bool batched> void addMatmulWithWideResult(Node &n, Build &b) {
  Type element = n.resultElement();
  Value made = b.matmul(n.operand(batched ? "batch1" : "mat1", element),
                        n.operand(batched ? "batch2" : "mat2", element));
  n.set(addScaledSelf(n, b, made));
}

/// Computes addbmm, the sum of a batch of matmuls, as one matmul: the batch is concatenated along
/// the reduction (K) dimension.
void addBatchReducedMatmul(Node &n, Build &b) {
  Value x = n.tensor("batch1"), y = n.tensor("batch2");
  if (!b.require(b.rank(x) == 3 && b.rank(y) == 3, "required: batches of matrices"))
    return;
  int64_t inner = b.dim(x, 0) * b.dim(x, 2);
  n.set(addScaledSelf(n, b,
                      b.matmul(b.reshape(b.transpose(x, {1, 0, 2}), {b.dim(x, 1), inner}),
                               b.reshape(y, {inner, b.dim(y, 2)}))));
}

/// _trilinear: multiplies three tensors, each broadcast along the dimensions in its `expand` list,
/// and sums the product over the dimensions `sumdim`.
void trilinear(Node &n, Build &b) {
  static constexpr std::pair<StringRef, StringRef> operands[] = {
      {"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}};
  Value product;
  for (auto [tensor, expand] : operands) {
    Value x = b.widen(n.tensor(tensor));
    Dims missing = n.ints(expand);
    llvm::sort(missing);
    for (int64_t axis : missing)
      x = b.expandDims(x, axis);
    product = product ? b.mul(product, x) : x;
  }
  n.set(b.cast(b.reduce(ReduceKind::sum, product, n.ints("sumdim"), false), n.resultElement()));
}

Value multiplyMatrixVector(Build &b, Value matrix, Value vector) {
  Value y = b.matmul(matrix, b.reshape(vector, {b.count(vector), 1}));
  return b.reshape(y, {b.dim(matrix, 0)});
}

void matrixVector(Node &n, Build &b) {
  n.set(multiplyMatrixVector(b, n.tensor("self"), n.tensor("vec")));
}

void addMatrixVectorProduct(Node &n, Build &b) {
  n.set(addScaledSelf(n, b, multiplyMatrixVector(b, n.tensor("mat"), n.tensor("vec"))));
}

void dot(Node &n, Build &b) {
  Value x = n.tensor("self"), y = n.tensor("tensor");
  n.set(b.reshape(b.matmul(b.reshape(x, {1, b.count(x)}), b.reshape(y, {b.count(y), 1})), {}));
}

/// Matmul in which a vector operand is treated as a matrix of one row or column.
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

/// Grouped matmul: the rows, the columns or the reduction (K) dimension are split into groups.
/// `ends` contains the end index of each group (`offs`).
Value buildGroupedMatmul(Build &b, Value x, Value y, Value ends) {
  if (b.rank(x) == 3 && b.rank(y) == 3)
    return b.matmul(x, y);
  if (!b.require(b.rank(x) + b.rank(y) >= 4 && b.rank(x) <= 3 && b.rank(y) <= 3 && ends,
                 "required: matrices or batches of matrices, and the end of each group"))
    return {};
  if (b.rank(x) == 2 && b.rank(y) == 3)
    return b.op<GroupedMatmulOp>({x, y, ends});
  if (b.rank(x) == 2)
    return b.op<GroupedWeightGradOp>({b.swapLast(x), y, ends});
  // Groups of columns are computed as groups of rows of the transposed product.
  return b.swapLast(b.op<GroupedMatmulOp>({b.swapLast(y), b.swapLast(x), ends}));
}

void groupedMatmul(Node &n, Build &b) {
  if (!b.require(!n.has("bias"), "argument 'bias': required: none"))
    return;
  Value y = buildGroupedMatmul(b, n.tensor("self"), n.tensor("mat2"), n.tensor("offs"));
  n.set(b.cast(y, n.resultElement()));
}

/// Grouped matmul with groups of rows: a custom operator of the transformers library, which uses it
/// in cases that PyTorch does not compile.
void rowGroupedMatmul(Node &n, Build &b) {
  n.set(b.op<GroupedMatmulOp>({n.tensor("input"), n.tensor("weight"), n.tensor("offs")}));
}

void rowGroupedMatmulGradient(Node &n, Build &b) {
  Value x = n.tensor("input"), weight = n.tensor("weight"), ends = n.tensor("offs"),
        dy = n.tensor("grad_output");
  if (n.hasResult(0))
    n.set(0, b.op<GroupedMatmulOp>({dy, weight, ends}, {b.attrUnit("transpose_b")}));
  if (n.hasResult(1))
    n.set(1, b.op<GroupedWeightGradOp>({x, dy, ends}));
}

const Operator table[] = {
    {"mm.default", multiplyMatrices},
    {"bmm.default", multiplyMatrices},
    {"addmm.default", addMatmul<false>},
    {"baddbmm.default", addMatmul<true>},
    {"mm.dtype", matmulWithWideResult},
    {"bmm.dtype", matmulWithWideResult},
    {"_int_mm.default", matmulWithWideResult},
    {"addmm.dtype", addMatmulWithWideResult<false>},
    {"baddbmm.dtype", addMatmulWithWideResult<true>},
    {"addbmm.default", addBatchReducedMatmul},
    {"_trilinear.default", trilinear},
    {"mv.default", matrixVector},
    {"addmv.default", addMatrixVectorProduct},
    {"dot.default", dot},
    {"matmul.default", matmul},
    {"linear.default", linear},
    {"_grouped_mm.default", groupedMatmul},
    {"transformers::grouped_mm_fallback.default", rowGroupedMatmul},
    {"transformers::grouped_mm_fallback_backward.default", rowGroupedMatmulGradient},
};

} // namespace

ArrayRef<Operator> contractOperators() { return table; }

} // namespace dlc::aten
