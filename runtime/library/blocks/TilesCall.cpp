//===- TilesCall.cpp - call of a matmul with block-quantized weights on tiles -===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/blocks/Describe.h"
#include "runtime/library/blocks/OnTiles.h"
#include "runtime/library/products/Operands.h"
#include "runtime/library/tiles/Describe.h"

#include <algorithm>

namespace dlc::blocks {

using products::blocksOf;
using products::MatmulDesc;
using products::One;
using products::Operands;
using products::upTo;
using runtime::parallelFor;
using tiles::kBlock;
using tiles::kDepth;
using tiles::kPartBytes;

namespace {

/// Maximum size in bytes of the packed rows, so that they stay in the L2 cache.
constexpr int64_t kRowBytes = 1 << 20;
/// Number of steps, of kDepth elements of k each, that a thread packs at a time for a block of
/// rows.
constexpr int64_t kPackedSteps = 16;

class TilesBlockMatmulCall : public runtime::LibraryCall {
public:
  TilesBlockMatmulCall(const schema::Product &desc, const schema::BlocksKernel &kernel,
                       std::span<const runtime::BufferInfo> buffers, int threads)
      : shape(makeShape(kernel, desc.n, desc.k)), parts(int(*kernel.parts)),
        operands(MatmulDesc(desc, makeKernelConfig(shape, kPanel)), buffers),
        threads(std::max(1, threads)), steps(blocksOf(shape.k, kDepth)),
        rowsAtOnce(std::min(countRowsOnTiles(shape.k, parts), upTo(operands.product.m, kBlock))) {
    if (!tiles::isAvailable())
      kernel.complain(
          "this processor has no AMX tiles for bf16; compile the model on this machine");
    checkProduct(operands.product);
    if (kernel.lanes != kPanel)
      kernel.complain("'lanes' must be ", kPanel, "; found: ", kernel.lanes);
    if (shape.depth % kDepth)
      kernel.complain("'block' must be a multiple of ", kDepth, "; found: ", shape.depth);
  }

  std::string implementation() const override { return kTilesName; }

  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(leftBytes() + threads * (kRightBytes + sumBytes()));
  }

  void execute(void *const *buffers, const runtime::CallContext &context) override {
    const int team = std::min(threads, std::max(1, context.threads));
    for (int64_t i = 0; i < operands.count; ++i)
      one(operands.at(i, buffers), static_cast<char *>(context.scratch), team);
  }

private:
  int64_t leftBytes() const { return rowsAtOnce / kBlock * steps * parts * kPartBytes; }
  static constexpr int64_t kRightBytes = kStepsAtOnce * kPartBytes;
  int64_t sumBytes() const { return rowsAtOnce * kBlock * int64_t(sizeof(float)); }

  void one(const One &given, char *scratch, int team) const {
    const MatmulDesc &product = operands.product;
    const int64_t dstRow = product.dstStrides[product.dstStrides.size() - 2];
    for (int64_t row = 0; row < product.m; row += rowsAtOnce) {
      const int64_t count = std::min(rowsAtOnce, product.m - row);
      packRows(given.a, row, count, scratch, team);
      const TileRows rows{scratch, count, row, parts};
      parallelFor(team, blocksOf(shape.panels, kPair), 1,
                  [&](int64_t begin, int64_t end, int thread) {
                    char *own = scratch + leftBytes() + thread * (kRightBytes + sumBytes());
                    const TileScratch space{own, reinterpret_cast<float *>(own + kRightBytes)};
                    tiles::configureTiles();
                    for (int64_t panel = begin * kPair; panel < end * kPair; panel += kPair)
                      multiplyOnTiles(shape, rows, given.b, panel, space, given.dst + row * dstRow,
                                      dstRow, given.epilogue);
                    tiles::releaseTiles();
                  });
    }
  }

  void packRows(const float *from, int64_t first, int64_t count, char *to, int team) const {
    const auto &strides = operands.product.aStrides;
    const int64_t row = strides[strides.size() - 2], depth = strides.back();
    const int64_t each = blocksOf(steps, kPackedSteps);
    parallelFor(team, blocksOf(count, kBlock) * each, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t lane = unit / each * kBlock, step = unit % each * kPackedSteps;
        const int64_t k = step * kDepth, depths = std::min(kPackedSteps * kDepth, shape.k - k);
        tiles::packLeft(from + (first + lane) * row + k * depth, row, depth,
                        std::min(kBlock, count - lane), depths, parts,
                        to + (lane / kBlock * steps + step) * parts * kPartBytes);
      }
    });
  }

  Shape shape;
  int parts;
  Operands operands;
  int threads;
  int64_t steps, rowsAtOnce;
};

} // namespace

int64_t countRowsOnTiles(int64_t k, int64_t parts) {
  return std::max<int64_t>(1, kRowBytes / (blocksOf(k, kDepth) * parts * kPartBytes)) * kBlock;
}

std::unique_ptr<runtime::LibraryCall> makeTilesCall(const schema::Product &desc,
                                                    const schema::BlocksKernel &kernel,
                                                    std::span<const runtime::BufferInfo> buffers,
                                                    int threads) {
  return std::make_unique<TilesBlockMatmulCall>(desc, kernel, buffers, threads);
}

} // namespace dlc::blocks
