//===- Product.cpp - parsed description of a matrix product ---------------===//
#include "runtime/library/describe/Product.h"

namespace dlc::describe {

void MatmulDesc::setChange(const schema::Prologue &fields) {
  OperandPrologue &c = change.emplace();
  c.isOfLeft = fields.of == schema::Side::Left;
  if (!c.isOfLeft && isPacked)
    fields.complain("a prologue of a prepacked operand is not supported");
  c.row = fields.row;
  c.prologue.exponential = fields.exponential;
  c.hasShift = fields.shift.has_value();
  c.prologue.shiftStep = fields.shift.value_or(0);
  c.hasFactor = fields.factor.has_value();
  c.prologue.factorStep = fields.factor.value_or(0);
  c.hasHot = fields.hot.has_value();
  c.prologue.value = static_cast<float>(fields.hot.value_or(0));
  const auto &strides = c.isOfLeft ? aStrides : bStrides;
  size_t rank = strides.size();
  int64_t lane = strides[c.isOfLeft ? rank - 2 : rank - 1],
          depth = strides[c.isOfLeft ? rank - 1 : rank - 2];
  c.across = lane == 1 && depth == c.row;
  bool rows = c.across || (depth == 1 && lane == c.row);
  for (size_t d = 0; d + 2 < rank; ++d)
    rows &= strides[d] % c.row == 0;
  int64_t columns = !c.across ? k : c.isOfLeft ? m : n;
  if (!rows || columns > c.row)
    fields.complain("a prologue's operand must be stored in rows of ", c.row);
  c.hasSums = fields.sums;
  if (c.hasSums && (!c.across || !batch.empty()))
    fields.complain(
        "a prologue's sums require a product without a batch that contracts the same rows");
}

MatmulDesc MatmulDesc::of(const schema::Product &fields) {
  MatmulDesc p;
  p.m = fields.m, p.n = fields.n, p.k = fields.k;
  p.batch = fields.batch;
  const size_t rank = p.batch.size() + 2;
  auto strides = [&](const char *name, const schema::Integers &values) -> std::vector<int64_t> {
    if (values.size() != rank)
      fields.complain("'", name, "' must be ", rank,
                      " integers; found: ", runtime::formatList(values));
    return values;
  };
  p.aStrides = strides("a", fields.a);
  p.isPacked = fields.b.isPacked;
  if (!p.isPacked)
    p.bStrides = strides("b", fields.b.strides);
  p.dstStrides = strides("dst", fields.dst);
  if (p.dstStrides.back() != 1 || (p.m > 1 && p.dstStrides[rank - 2] < p.n))
    fields.complain("'dst' must be row-major; found strides ", runtime::formatList(p.dstStrides));
  p.hasBias = fields.bias;
  p.posts = PostOps::of(fields, fields.postOps.value_or(std::vector<schema::PostOp>()),
                        fields.scale.value_or(1), rank);
  if (fields.prologue)
    p.setChange(*fields.prologue);
  return p;
}

bool MatmulDesc::addsUp() const {
  const simd::Epilogue &epilogue = posts.epilogue;
  return epilogue.count == 1 && epilogue.posts[0].kind == simd::PostOpKind::Sum && !hasBias;
}

void MatmulDesc::check(BufferChecker &given, uint64_t packedBytes) const {
  auto matrix = [&](const char *name, const std::vector<int64_t> &strides, int64_t rows,
                    int64_t columns, bool written) {
    std::vector<int64_t> dims = batch;
    dims.insert(dims.end(), {rows, columns});
    given.need(name, computeExtent(dims, strides), sizeof(float), written);
  };
  matrix("a", aStrides, m, k, false);
  if (isPacked)
    given.need("b", 1, packedBytes);
  else
    matrix("b", bStrides, k, n, false);
  if (hasBias)
    given.need("bias", n, sizeof(float));
  matrix("dst", dstStrides, m, n, true);
  for (const auto &strides : posts.operandStrides)
    matrix("post_ops", strides, m, n, false);
  if (!change)
    return;
  const auto &strides = change->isOfLeft ? aStrides : bStrides;
  int64_t lanes = change->isOfLeft ? m : n, rows = change->across ? k : lanes;
  for (size_t d = 0; d < batch.size(); ++d)
    rows += (batch[d] - 1) * (strides[d] / change->row);
  if (change->hasShift)
    given.need("shift", change->prologue.shiftStep ? rows : 1, sizeof(float));
  if (change->hasFactor)
    given.need("factor", change->prologue.factorStep ? rows : 1, sizeof(float));
  if (change->hasHot)
    given.need("hot", rows, sizeof(int64_t));
  if (change->hasSums)
    given.need("sums", lanes, sizeof(float), true);
}

} // namespace dlc::describe
