//===- Strassen.cpp - a matrix product by one step of Strassen's algorithm -===//
//
// Both operands are split into halves of their lanes and of their depth. Blocks of lanes are packed
// into 7 slots each (vectors/Strassen.h), from the same positions of the four quarters, so that
// memory is read once. The same block of all four quarters of dst is computed together, while its
// sums are in the cache.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/products/Operands.h"
#include "runtime/library/products/Schedules.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstring>

namespace dlc::products {

using nlohmann::json;
using runtime::fail;

namespace {

/// Maximum sizes of the part of each half of an operand that is packed at a time: elements of the
/// reduction dimension, rows of the left operand (a slab), and columns of the right operand (a
/// panel).
constexpr int64_t kDepth = 384, kRows = 2048, kColumns = 128;

/// Size of an operand's first half: lanes and elements of the reduction dimension. The second half
/// may be smaller.
struct HalfSizes {
  int64_t lanes = 0, depth = 0;
};

HalfSizes leftHalves(int64_t m, int64_t k) { return {blocksOf(m, 2), blocksOf(k, 2)}; }
/// Returns the size of the right operand's first half. It is a multiple of the column block, so
/// that the second half of dst's columns begins with a full block.
HalfSizes computeRightHalves(const KernelConfig &config, int64_t k, int64_t n) {
  return {upTo(blocksOf(n, 2), config.columns), blocksOf(k, 2)};
}

/// Returns the number of steps in a pass: the reduction dimension is divided into passes of nearly
/// equal size.
int64_t stepsAtOnce(int64_t depth) { return blocksOf(depth, blocksOf(depth, kDepth)); }

/// Part of an operand that is packed at a time: the same range of lane blocks in both halves of the
/// lanes, and the same range of steps in both halves of the reduction dimension.
struct PackPiece {
  const Operand &whole;
  HalfSizes half;
  /// Lanes of a block; first lane and blocks of the first half.
  int64_t width = 0, first = 0, blocks = 0;
  int64_t step = 0, steps = 0; ///< depth blocks, counted in the first half of the depth
  float *sums = nullptr;       ///< sums of the lanes over the depth, or null
};

constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

/// Packs a piece into 7 slots per block. `near` is the number of bytes that stay in the core's
/// cache between packing the quarters and computing their sums.
void packPiece(const KernelConfig &config, const PackPiece &piece, bool isLeft, int64_t near,
               char *to) {
  const Operand &whole = piece.whole;
  const int64_t width = piece.width, slot = piece.steps * width * kFloat,
                between = kStrassenSlots * slot, some = std::max<int64_t>(1, near / between);
  for (int64_t done = 0; done < piece.blocks; done += some, to += some * between) {
    int64_t blocks = std::min(some, piece.blocks - done), first = piece.first + done * width;
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 2; ++j) {
        char *at = to + (isLeft ? kStrassenLeft : kStrassenRight)[i][j] * slot;
        int64_t lane = i * piece.half.lanes + first, depth = j * piece.half.depth + piece.step;
        int64_t lanes = std::min({blocks * width, piece.half.lanes - first, whole.lanes - lane}),
                depths = std::min(piece.steps, whole.depths - depth);
        if (lanes <= (blocks - 1) * width || depths < piece.steps)
          for (int64_t block = 0; block < blocks; ++block)
            std::memset(at + block * between, 0, static_cast<size_t>(slot));
        if (lanes <= 0 || depths <= 0)
          continue;
        auto *packed = reinterpret_cast<float *>(at);
        config.strassen->pack(whole.from + lane * whole.lane + depth * whole.depth, whole.lane,
                              whole.depth, lanes, depths, width, between / kFloat, packed);
        if (piece.sums)
          config.strassen->sums(packed, lanes, depths, width, between / kFloat,
                                j > 0 || piece.step > 0, piece.sums + lane);
      }
    for (int64_t block = 0; block < blocks; ++block)
      (isLeft ? config.strassen->left : config.strassen->right)(
          reinterpret_cast<float *>(to + block * between), slot / kFloat);
  }
}

class StrassenCall : public runtime::LibraryCall {
public:
  StrassenCall(Operands given, int threads);
  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override {
    return "strassen" + config.name.substr(config.name.find(':'));
  }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(shared + perThread * threads);
  }

private:
  /// Range that is multiplied at once: blocks of the first half's rows and steps of the first
  /// half's depth.
  struct Slab {
    const One &one;
    int64_t block = 0, blocks = 0, step = 0, steps = 0;
  };
  /// Unit of a thread's work: a range of column blocks of each half, and a range of the slab's row
  /// blocks.
  struct Unit {
    int64_t column = 0, columns = 0, row = 0, rows = 0;
  };
  template <typename Body>
  void forUnits(const Slab &slab, int64_t thread, int64_t team, const Body &body) const;
  void packRows(const Slab &slab, int64_t begin, int64_t end, char *to) const;
  void runUnit(const Slab &slab, const Unit &unit, const char *packed, char *own) const;

  Operands operands;
  const MatmulDesc &product;
  const KernelConfig &config;
  int threads = 1;
  bool isOfLeft = false; ///< the prologue's sums are over the left operand, not the right one
  HalfSizes left, right;
  int64_t rowsAtOnce = 0, columnsAtOnce = 0; ///< rows of a slab and columns of a panel, in blocks
  int64_t near = 0, shared = 0, perThread = 0;
};

StrassenCall::StrassenCall(Operands given, int threads)
    : operands(std::move(given)), product(operands.product), config(product.config),
      threads(std::max(1, threads)), isOfLeft(product.change && product.change->isOfLeft),
      left(leftHalves(product.m, product.k)),
      right(computeRightHalves(config, product.k, product.n)) {
  int64_t steps = stepsAtOnce(left.depth), rows = blocksOf(left.lanes, config.rows);
  // A panel's slots take half of a core's L2 cache.
  near = runtime::getPrivateCacheBytes() / 2;
  columnsAtOnce = std::clamp(near / (kStrassenSlots * steps * config.rightBytes), int64_t(1),
                             kColumns / config.columns);
  rowsAtOnce = std::min(rows, blocksOf(kRows, config.rows));
  shared = upTo(rowsAtOnce * kStrassenSlots * steps * config.leftBytes, 64);
  perThread = columnsAtOnce * kStrassenSlots * steps * config.rightBytes;
}

/// Calls `body` for the units of work of one thread. Each thread gets the same number of column
/// blocks. The remaining column blocks are divided by rows between threads if that shortens the
/// longest share.
template <typename Body>
void StrassenCall::forUnits(const Slab &slab, int64_t thread, int64_t team,
                            const Body &body) const {
  const int64_t all = blocksOf(right.lanes, config.columns), each = all / team, rest = all % team;
  for (int64_t done = 0; done < each; done += columnsAtOnce)
    body(Unit{thread * each + done, std::min(columnsAtOnce, each - done), 0, slab.blocks});
  int64_t parts = 1;
  constexpr int64_t kMaxParts = 4; // each part packs the columns again
  for (int64_t more = 2; more <= std::min(kMaxParts, slab.blocks); ++more)
    if (blocksOf(rest * more, team) * parts < blocksOf(rest * parts, team) * more)
      parts = more;
  for (int64_t unit = thread; unit < rest * parts; unit += team) {
    int64_t rows = blocksOf(slab.blocks, parts), row = unit % parts * rows;
    if (row < slab.blocks)
      body(Unit{team * each + unit / parts, 1, row, std::min(rows, slab.blocks - row)});
  }
}

void StrassenCall::packRows(const Slab &slab, int64_t begin, int64_t end, char *to) const {
  Operand whole{slab.one.a, product.aStrides[0], product.aStrides[1], product.m, product.k};
  // The last block has only as many rows as needed, since rows after the end of a half are not
  // multiplied.
  const int64_t full = left.lanes / config.rows;
  auto pack = [&](int64_t first, int64_t last, int64_t width) {
    if (first < last)
      packPiece(config,
                {whole, left, width, first * config.rows, last - first, slab.step, slab.steps,
                 isOfLeft ? slab.one.sums : nullptr},
                true, near,
                to + (first - slab.block) * kStrassenSlots * slab.steps * config.leftBytes);
  };
  begin += slab.block, end += slab.block;
  pack(begin, std::min(end, full), config.rows);
  pack(std::max(begin, full), end, std::max(left.lanes % config.rows, config.strassen->minRows));
}

void StrassenCall::runUnit(const Slab &slab, const Unit &unit, const char *packed,
                           char *own) const {
  const int64_t column = unit.column * config.columns;
  const int64_t firstRow = (slab.block + unit.row) * config.rows, dstRow = product.dstStrides[0];
  PanelArguments panel;
  panel.blockRows = config.rows;
  panel.steps = slab.steps;
  panel.leftStride = kStrassenSlots * slab.steps * config.leftBytes;
  panel.left = packed + unit.row * panel.leftStride;
  panel.rightStride = kStrassenSlots * slab.steps * config.rightBytes;
  panel.dstRow = dstRow;
  panel.isFirst = slab.step == 0;
  panel.isLast = slab.step + slab.steps == left.depth;
  panel.each = product.addsUp();
  Operand whole{slab.one.b, product.bStrides[1], product.bStrides[0], product.n, product.k};
  // Several units pack the same columns: only the first one computes the sums.
  float *sums = isOfLeft || slab.block + unit.row > 0 ? nullptr : slab.one.sums;
  packPiece(config,
            {whole, right, config.columns, column, unit.columns, slab.step, slab.steps, sums},
            false, near, own);
  panel.right = own;
  PanelArguments quarters[4];
  for (int64_t quarter = 0; quarter < 4; ++quarter) {
    PanelArguments &to = quarters[quarter] = panel;
    to.firstRow = quarter / 2 * left.lanes + firstRow;
    to.firstColumn = quarter % 2 * right.lanes + column;
    int64_t height = std::min(unit.rows * config.rows, left.lanes - firstRow);
    to.rows = std::min(height, product.m - to.firstRow);
    int64_t width = std::min(unit.columns * config.columns, right.lanes - column);
    to.columns = std::min(width, product.n - to.firstColumn);
    to.dst = slab.one.dst + to.firstRow * dstRow + to.firstColumn;
  }
  config.strassen->multiply(quarters, slab.one.epilogue);
}

void StrassenCall::execute(void *const *buffers, const runtime::CallContext &context) {
  auto *scratch = static_cast<char *>(context.scratch);
  One one = operands.at(0, buffers);
  int64_t steps = stepsAtOnce(left.depth), rows = blocksOf(left.lanes, config.rows);
  for (int64_t block = 0; block < rows; block += rowsAtOnce)
    for (int64_t step = 0; step < left.depth; step += steps) {
      Slab slab{one, block, std::min(rowsAtOnce, rows - block), step,
                std::min(steps, left.depth - step)};
      runtime::parallelFor(threads, slab.blocks, 1, [&](int64_t begin, int64_t end, int) {
        packRows(slab, begin, end, scratch);
      });
      // parallelFor may run with fewer threads than requested, so the shares are numbered by the
      // requested threads.
      runtime::parallelFor(threads, threads, 1, [&](int64_t begin, int64_t end, int thread) {
        for (int64_t share = begin; share < end; ++share)
          forUnits(slab, share, threads, [&](const Unit &unit) {
            runUnit(slab, unit, scratch, scratch + shared + thread * perThread);
          });
      });
    }
}

} // namespace

void checkStrassen(const MatmulDesc &product) {
  const KernelConfig &config = product.config;
  if (!config.strassen || !product.batch.empty() || product.isPacked)
    fail("product: Strassen's algorithm requires vector kernels, unpacked operands and no batch");
  // These limits make every half non-empty and give blocks of rows a size that has a kernel.
  int64_t half = computeRightHalves(config, product.k, product.n).lanes;
  if (product.m < kStrassenRows || product.n <= half || product.k < 2)
    fail("product: Strassen's algorithm requires at least ", kStrassenRows, " rows and ",
         config.columns + 1, " columns, and a depth of 2; found ", product.m, ", ", product.n, ", ",
         product.k);
}

std::unique_ptr<runtime::LibraryCall> makeStrassen(Operands operands, int threads) {
  return std::make_unique<StrassenCall>(std::move(operands), threads);
}

} // namespace dlc::products
