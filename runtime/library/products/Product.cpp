//===- Product.cpp - parsing and creation of matrix product calls ---------===//
#include "runtime/library/products/Product.h"

#include "runtime/library/products/Operands.h"
#include "runtime/library/products/Schedules.h"

#include <algorithm>

namespace dlc::products {

MatmulDesc::MatmulDesc(const schema::Product &fields, const KernelConfig &config, bool strassen)
    : describe::MatmulDesc(describe::MatmulDesc::of(fields)), config(config), isStrassen(strassen) {
  const Epilogue &epilogue = posts.epilogue;
  for (const PostOp &post : std::span(epilogue.posts, size_t(epilogue.count)))
    if (post.kind == PostOpKind::Sum && k > kSummedDepth && (epilogue.count > 1 || post.alpha != 1))
      fields.complain("a sum must be the only prologue if k is more than ", kSummedDepth);
  if (change && change->changes() && !config.parts)
    fields.complain(
        "AMX tiles support prologues that change operands; vector kernels support only sums");
  if (isStrassen)
    checkStrassen(*this);
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

std::unique_ptr<runtime::LibraryCall> makeProduct(const schema::Product &desc,
                                                  const KernelConfig &config, bool strassen,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads) {
  Operands operands(MatmulDesc(desc, config, strassen), buffers);
  threads = chooseThreads(operands, threads);
  return operands.product.isStrassen ? makeStrassen(std::move(operands), threads)
                                     : makeBlocked(std::move(operands), threads);
}

} // namespace dlc::products
