//===- Operands.cpp - a product's buffers, checked, and what lies where in them --===//
#include "runtime/library/products/Operands.h"

#include "runtime/library/products/Parse.h"
#include "runtime/program/Message.h"

#include <numeric>

namespace dlc::products {

using runtime::fail;

Operands::Operands(Product described, std::span<const runtime::BufferInfo> buffers)
    : product(std::move(described)) {
  if (!product.form.isHere())
    fail(product.form.name, ": this processor has no such instructions");
  for (int64_t size : product.batch)
    count *= size;
  size_t expected = 3 + (product.hasBias ? 1 : 0) + product.operandStrides.size();
  if (const auto &change = product.change)
    expected += size_t(change->hasShift) + change->hasFactor + change->hasHot + change->hasSums;
  if (buffers.size() != expected)
    fail("product: a product with ", product.operandStrides.size(), " binary post-ops takes ",
         expected, " buffers, ", buffers.size(), " given");
  auto check = [&](size_t buffer, uint64_t needed, const char *name, bool written) {
    if (buffers[buffer].bytes < needed)
      fail("product: buffer ", buffer, " ('", name, "') has ", buffers[buffer].bytes, " bytes, ",
           needed, " needed");
    if (written && !buffers[buffer].writable)
      fail("product: buffer ", buffer, " ('", name,
           "') is written but lies in a constant or an input");
  };
  auto extent = [&](const std::vector<int64_t> &strides, int64_t rows, int64_t columns) {
    size_t rank = product.batch.size();
    __int128 last = __int128(rows - 1) * strides[rank] + __int128(columns - 1) * strides[rank + 1];
    for (size_t d = 0; d < rank; ++d)
      last += __int128(product.batch[d] - 1) * strides[d];
    if (last > (__int128(1) << 60))
      fail("product: strides reach too far");
    return static_cast<uint64_t>(last + 1) * sizeof(float);
  };
  check(0, extent(product.aStrides, product.m, product.k), "a", false);
  check(1,
        product.isPacked ? product.form.packedBytes(product.k, product.n)
                         : extent(product.bStrides, product.k, product.n),
        "b", false);
  size_t next = 2;
  if (product.hasBias)
    check(next++, static_cast<uint64_t>(product.n) * sizeof(float), "bias", false);
  check(next++, extent(product.dstStrides, product.m, product.n), "dst", true);
  for (const auto &strides : product.operandStrides)
    check(next++, extent(strides, product.m, product.n), "post_ops", false);
  if (const auto &change = product.change) {
    const auto &strides = change->isOfLeft ? product.aStrides : product.bStrides;
    int64_t lanes = change->isOfLeft ? product.m : product.n;
    auto rows = static_cast<uint64_t>(change->across ? product.k : lanes);
    for (size_t d = 0; d < product.batch.size(); ++d)
      rows += static_cast<uint64_t>((product.batch[d] - 1) * (strides[d] / change->row));
    if (change->hasShift)
      check(next++, (change->prologue.shiftStep ? rows : 1) * sizeof(float), "shift", false);
    if (change->hasFactor)
      check(next++, (change->prologue.factorStep ? rows : 1) * sizeof(float), "factor", false);
    if (change->hasHot)
      check(next++, rows * sizeof(int64_t), "hot", false);
    if (change->hasSums)
      check(next++, static_cast<uint64_t>(lanes) * sizeof(float), "sums", true);
  }
}

One Operands::at(int64_t index, void *const *buffers) const {
  std::vector<int64_t> position(product.batch.size());
  for (size_t d = product.batch.size(); d-- > 0; index /= product.batch[d])
    position[d] = index % product.batch[d];
  auto start = [&](const std::vector<int64_t> &strides) {
    return std::inner_product(position.begin(), position.end(), strides.begin(), int64_t(0));
  };
  One one;
  one.a = static_cast<const float *>(buffers[0]) + start(product.aStrides);
  one.b = static_cast<const float *>(buffers[1]);
  if (!product.isPacked)
    one.b += start(product.bStrides);
  size_t next = 2;
  one.epilogue = product.epilogue;
  if (product.hasBias)
    one.epilogue.bias = static_cast<const float *>(buffers[next++]);
  one.dst = static_cast<float *>(buffers[next++]) + start(product.dstStrides);
  size_t operand = 0;
  for (int i = 0; i < one.epilogue.count; ++i)
    if (hasOperand(one.epilogue.posts[i]))
      one.epilogue.posts[i].operand.data =
          static_cast<const float *>(buffers[next++]) + start(product.operandStrides[operand++]);
  if (const auto &change = product.change) {
    one.row = start(change->isOfLeft ? product.aStrides : product.bStrides) / change->row;
    one.prologue = change->prologue;
    if (change->hasShift)
      one.prologue.shift = static_cast<const float *>(buffers[next++]);
    if (change->hasFactor)
      one.prologue.factor = static_cast<const float *>(buffers[next++]);
    if (change->hasHot)
      one.prologue.hot = static_cast<const int64_t *>(buffers[next++]);
    if (change->hasSums)
      one.sums = static_cast<float *>(buffers[next++]);
  }
  return one;
}

} // namespace dlc::products
