//===- Product.cpp - parsing and creation of matrix product calls ---------===//
#include "runtime/library/products/Product.h"

#include "runtime/library/products/Operands.h"
#include "runtime/library/products/Schedules.h"

#include <algorithm>

namespace dlc::products {

using nlohmann::json;

MatmulDesc MatmulDesc::parse(const json &desc, const KernelConfig &config) {
  const describe::Fields fields(desc, "product");
  MatmulDesc product;
  static_cast<describe::MatmulDesc &>(product) = describe::MatmulDesc::read(fields);
  product.config = config;
  product.isStrassen = fields.flag("strassen");
  const Epilogue &epilogue = product.posts.epilogue;
  for (const PostOp &post : std::span(epilogue.posts, size_t(epilogue.count)))
    if (post.kind == PostOpKind::Sum && product.k > kSummedDepth &&
        (epilogue.count > 1 || post.alpha != 1))
      fields.complain("a sum must be the only prologue if k is more than ", kSummedDepth);
  if (product.change && product.change->changes() && !config.parts)
    fields.complain(
        "AMX tiles support prologues that change operands; vector kernels support only sums");
  if (product.isStrassen)
    checkStrassen(product);
  return product;
}

uint64_t KernelConfig::packedBytes(int64_t k, int64_t n) const {
  return static_cast<uint64_t>(blocksOf(k, depth) * blocksOf(n, columns) * rightBytes);
}

/// Returns the number of threads for which each thread's work outweighs the cost of
/// synchronization. For example, a time step of a small recurrent layer ends before a second thread
/// could start.
static int chooseThreads(const Operands &operands, int threads) {
  constexpr double kWork = 1 << 15; // minimum number of multiply-adds for each thread
  const MatmulDesc &product = operands.product;
  double ones = double(operands.count), weights = double(product.k) * double(product.n);
  double work = ones * weights * double(product.m);
  return int(std::clamp<double>(work / kWork, 1, threads));
}

std::unique_ptr<runtime::LibraryCall> makeProduct(const json &desc, const KernelConfig &config,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads) {
  Operands operands(MatmulDesc::parse(desc, config), buffers);
  threads = chooseThreads(operands, threads);
  return operands.product.isStrassen ? makeStrassen(std::move(operands), threads)
                                     : makeBlocked(std::move(operands), threads);
}

} // namespace dlc::products
