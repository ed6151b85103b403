//===- Operands.cpp - checked buffers and operand addresses of a matrix product -===//
#include "runtime/library/products/Operands.h"

#include "runtime/program/Message.h"

#include <numeric>

namespace dlc::products {

using runtime::fail;

Operands::Operands(MatmulDesc described, std::span<const runtime::BufferInfo> buffers)
    : product(std::move(described)) {
  if (!product.config.isHere())
    fail(product.config.name, ": this processor lacks the instructions that this kernel uses");
  for (int64_t size : product.batch)
    count *= size;
  describe::BufferChecker given(buffers, "product");
  product.check(given, product.config.packedBytes(product.k, product.n));
  given.end();
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
  one.epilogue = product.posts.epilogue;
  if (product.hasBias)
    one.epilogue.bias = static_cast<const float *>(buffers[next++]);
  one.dst = static_cast<float *>(buffers[next++]) + start(product.dstStrides);
  size_t operand = 0;
  for (int i = 0; i < one.epilogue.count; ++i)
    if (describe::hasOperand(one.epilogue.posts[i]))
      one.epilogue.posts[i].operand.data = static_cast<const float *>(buffers[next++]) +
                                           start(product.posts.operandStrides[operand++]);
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
