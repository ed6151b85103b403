//===- Product.cpp - a matrix product, described and run -------------------------===//
//===---------------------------------------------------------------------------===//
#include "runtime/library/products/Product.h"

#include "runtime/library/products/Operands.h"
#include "runtime/library/products/Parse.h"
#include "runtime/library/products/Schedules.h"
#include "runtime/program/Message.h"

namespace dlc::products {

using nlohmann::json;
using runtime::fail;

namespace {

Product::Change changeOf(const json &desc, const Product &product) {
  Product::Change change;
  std::string of = desc.value("of", "");
  if (of != "a" && of != "b")
    fail("product: a prologue is 'of' a or b, found '", of, "'");
  change.isOfLeft = of == "a";
  if (!change.isOfLeft && product.isPacked)
    fail("product: a prologue of what is packed already");
  change.row = sizeOf(desc, "row");
  change.prologue.exponential = desc.value("exp", false);
  auto step = [&](const char *name, bool &has, int64_t &step) {
    has = desc.contains(name);
    step = has ? desc[name].get<int64_t>() : 0;
    if (step != 0 && step != 1)
      fail("product: a prologue's '", name, "' steps by 0 or 1, found ", step);
  };
  step("shift", change.hasShift, change.prologue.shiftStep);
  step("factor", change.hasFactor, change.prologue.factorStep);
  change.hasHot = desc.contains("hot");
  change.prologue.value = desc.value("hot", 0.0f);
  const auto &strides = change.isOfLeft ? product.aStrides : product.bStrides;
  size_t rank = strides.size();
  int64_t lane = strides[change.isOfLeft ? rank - 2 : rank - 1],
          depth = strides[change.isOfLeft ? rank - 1 : rank - 2];
  change.across = lane == 1 && depth == change.row;
  bool rows = change.across || (depth == 1 && lane == change.row);
  for (size_t d = 0; d + 2 < rank; ++d)
    rows &= strides[d] % change.row == 0;
  int64_t columns = !change.across ? product.k : change.isOfLeft ? product.m : product.n;
  if (!rows || columns > change.row)
    fail("product: a prologue's operand must lie in rows of ", change.row);
  change.hasSums = desc.value("sums", false);
  if (change.hasSums && (!change.across || !product.batch.empty()))
    fail("product: a prologue's sums are over rows that the product sums over, without a batch");
  return change;
}

} // namespace

Product Product::parse(const json &desc, const Form &form) {
  try {
    Product product;
    product.form = form;
    if (desc.value("kind", "") != "product")
      fail("product: unknown kind '", desc.value("kind", ""), "': product or convolution expected");
    product.m = sizeOf(desc, "m");
    product.n = sizeOf(desc, "n");
    product.k = sizeOf(desc, "k");
    product.isStrassen = desc.value("strassen", false);
    if (desc.contains("batch"))
      for (const json &size : desc["batch"])
        product.batch.push_back(sizeOf({{"batch", size}}, "batch"));
    size_t rank = product.batch.size() + 2;
    product.aStrides = stridesOf(desc.at("a"), rank, "a");
    product.isPacked = desc.at("b") == "packed";
    if (!product.isPacked)
      product.bStrides = stridesOf(desc["b"], rank, "b");
    product.dstStrides = stridesOf(desc.at("dst"), rank, "dst");
    if (product.dstStrides.back() != 1 ||
        (product.m > 1 && product.dstStrides[rank - 2] < product.n))
      fail("product: 'dst' must lie row by row, found ", desc["dst"].dump());
    product.hasBias = desc.value("bias", false);
    Posts posts = postsOf(desc, rank, product.k);
    product.epilogue = posts.epilogue;
    product.operandStrides = std::move(posts.operandStrides);
    if (desc.contains("prologue"))
      product.change = changeOf(desc["prologue"], product);
    if (product.change && product.change->changes() && !product.form.parts)
      fail("product: only tiles change operands as they are packed, vectors sum them up");
    if (product.isStrassen)
      checkStrassen(product);
    return product;
  } catch (const json::exception &error) {
    fail("product: wrong description: ", error.what());
  }
}

uint64_t Form::packedBytes(int64_t k, int64_t n) const {
  return static_cast<uint64_t>(blocksOf(k, depth) * blocksOf(n, columns) * rightBytes);
}

bool Product::addsUp() const {
  return epilogue.count == 1 && epilogue.posts[0].kind == PostKind::Sum && !hasBias;
}

std::unique_ptr<runtime::LibraryCall> makeProduct(const json &desc, const Form &form,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads) {
  Operands operands(Product::parse(desc, form), buffers);
  return operands.product.isStrassen ? makeStrassen(std::move(operands), threads)
                                     : makeBlocked(std::move(operands), threads);
}

} // namespace dlc::products
