//===- OnTiles.cpp - block-quantized weights on tiles: unpacking, sums and epilogue -===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has AMX (see
// tiles::isAvailable in TilesCall.cpp).
//
//===-----------------------------------------------------------------------------------===//
#include "runtime/library/blocks/OnTiles.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/EpilogueApplier.h"
#include "runtime/library/tiles/Sums.h"
#include "runtime/simd/arch/amx/Bf16.h"

#include <cstring>

namespace dlc::blocks {

namespace {

using tiles::kBlock;
using tiles::kDepth;
using tiles::kHalf;
using tiles::kPartBytes;
using tiles::kTile;

/// Returns the number of tile steps over k. Elements after the end of k are padding of 0.
int64_t stepsOf(const Shape &shape) { return (shape.k + kDepth - 1) / kDepth; }

/// Prefetch distance of the weights, in bytes.
constexpr int64_t kAhead = 4096;

int64_t panelBytes(const Shape &shape) { return shape.blocks * shape.record; }

/// Multiplies all rows by two panels of weights. Weights are unpacked for kStepsAtOnce steps at a
/// time, and stay in the L1 cache while all rows are multiplied.
template <int parts> class Pass {
public:
  Pass(const Shape &shape, const TileRows &rows, const uint8_t *weights, int64_t panel,
       const TileScratch &space)
      : shape(shape), rows(rows), weights(weights), panel(panel), space(space),
        panels(shape.panels - panel < kPair ? shape.panels - panel : kPair) {}

  void sum() {
    const int64_t steps = stepsOf(shape), all = (rows.count + kBlock - 1) / kBlock * kBlock;
    std::memset(space.sums, 0, size_t(all * kBlock) * sizeof(float));
    for (int64_t step = 0; step < steps; step += kStepsAtOnce) {
      const int64_t end = step + kStepsAtOnce < steps ? step + kStepsAtOnce : steps;
      for (int64_t p = 0; p < kPair; ++p)
        unpack(panel + p, step, end, space.right + p * kTile);
      tiles::publish(space.right);
      for (int64_t row = 0; row < rows.count; row += kBlock)
        if (rows.count - row > kHalf)
          piece<true>(row, step, end);
        else
          piece<false>(row, step, end);
    }
    add();
  }

  void end(float *to, int64_t toRow, const simd::Epilogue &epilogue) const {
    for (int64_t row = 0; row < rows.count; row += kBlock)
      for (int64_t p = 0; p < panels; ++p) {
        const int64_t column = (panel + p) * kPanel, columns = shape.n - column,
                      some = rows.count - row < kBlock ? rows.count - row : kBlock;
        simd::EpilogueApplier<kPanel>::finish(
            {space.sums + row * kBlock + p * kPanel, kBlock, some,
             columns < kPanel ? columns : kPanel},
            {to + row * toRow + column, toRow, rows.first + row, column}, &epilogue, false);
      }
  }

private:
  const uint8_t *panelAt(int64_t which) const { return weights + which * panelBytes(shape); }

  void unpack(int64_t which, int64_t step, int64_t end, char *to) const {
    const int64_t deep = shape.depth / kDepth, stepBytes = kPanel * kDepth * shape.bits / 8;
    const uint8_t *zeros =
        shape.hasZeros ? panelAt(shape.panels) + which * shape.blocks * kPanel : nullptr;
    for (; step < end; ++step, to += kPartBytes) {
      if (which >= shape.panels) {
        std::memset(to, 0, kTile);
        continue;
      }
      const int64_t block = step / deep;
      const uint8_t *at = panelAt(which) + block * shape.record + step % deep * stepBytes;
      for (int64_t line = 0; line < stepBytes; line += 64)
        simd::prefetch(reinterpret_cast<const char *>(at) + kAhead + line);
      // Value to add to the block's unsigned weights.
      const simd::Ints<16> shift = zeros ? simd::negateToWords(zeros + block * kPanel)
                                         : simd::splatWord(static_cast<int16_t>(shape.shift));
      if (shape.bits == 4)
        simd::unpackFourBits(at, shift, to);
      else
        simd::unpackEightBits(at, shift, to);
    }
  }

  /// Multiplies rows from `row` (up to 16, or 32 if `tall`) by the weights of the blocks of the
  /// reduction dimension from `step` to `end`. Each block has its own sums, which are multiplied by
  /// its scales before they are added.
  template <bool tall> void piece(int64_t row, int64_t step, int64_t end) {
    const char *left = rows.left + (row / kBlock * stepsOf(shape) + step) * parts * kPartBytes;
    const char *right = space.right;
    const int64_t deep = shape.depth / kDepth;
    while (step < end) {
      const int64_t block = step / deep, behind = (block + 1) * deep;
      tiles::zeroSums<tall>();
      for (; step < behind && step < end; ++step, right += kPartBytes) {
        tiles::loadRight(right);
        left += parts * kPartBytes;
        for (int p = 1; p <= parts; ++p) {
          tiles::loadLeft<tall>(left - p * kPartBytes);
          tiles::multiplyParts<tall>();
        }
      }
      add();
      tiles::storeSums<tall>(waiting[turn], kBlock);
      tiles::publish(waiting);
      pending = {waiting[turn], space.sums + row * kBlock, block, tall ? kBlock : kHalf};
      turn ^= 1;
    }
  }

  simd::Vec<16> scaleOf(int64_t p) const {
    if (p >= panels)
      return simd::Vec<16>{};
    return simd::load<16>(reinterpret_cast<const float *>(
        panelAt(panel + p) + (pending.block + 1) * shape.record - kPanel * int64_t(sizeof(float))));
  }

  /// Adds the pending sums of a block, multiplied by its scales, to the sums of the results, while
  /// the tiles multiply the next block.
  void add() {
    const simd::Vec<16> first = scaleOf(0), second = scaleOf(1);
    const float *from = pending.from;
    float *to = pending.to;
    for (int64_t i = 0; i < pending.rows; ++i, from += kBlock, to += kBlock) {
      const simd::Vec<16> x = simd::load<16>(to), y = simd::load<16>(to + kHalf);
      simd::store<16>(to, simd::multiplyAdd(simd::loadAligned(from), first, x));
      simd::store<16>(to + kHalf, simd::multiplyAdd(simd::loadAligned(from + kHalf), second, y));
    }
  }

  struct Pending {
    const float *from = nullptr;
    float *to = nullptr;
    int64_t block = 0, rows = 0;
  };

  const Shape &shape;
  const TileRows &rows;
  const uint8_t *weights;
  int64_t panel;
  TileScratch space;
  int64_t panels;
  alignas(64) float waiting[2][kBlock * kBlock];
  int turn = 0;
  Pending pending;
};

template <int parts>
void multiply(const Shape &shape, const TileRows &rows, const void *weights, int64_t panel,
              const TileScratch &space, float *to, int64_t toRow, const simd::Epilogue &epilogue) {
  Pass<parts> pass(shape, rows, static_cast<const uint8_t *>(weights), panel, space);
  pass.sum();
  pass.end(to, toRow, epilogue);
}

} // namespace

void multiplyOnTiles(const Shape &shape, const TileRows &rows, const void *weights, int64_t panel,
                     const TileScratch &space, float *to, int64_t toRow,
                     const simd::Epilogue &epilogue) {
  tiles::publish(rows.left);
  if (rows.parts == 1)
    multiply<1>(shape, rows, weights, panel, space, to, toRow, epilogue);
  else if (rows.parts == 2)
    multiply<2>(shape, rows, weights, panel, space, to, toRow, epilogue);
  else
    multiply<3>(shape, rows, weights, panel, space, to, toRow, epilogue);
}

} // namespace dlc::blocks

#else

namespace dlc::blocks {

void multiplyOnTiles(const Shape &, const TileRows &, const void *, int64_t, const TileScratch &,
                     float *, int64_t, const simd::Epilogue &) {}

} // namespace dlc::blocks

#endif
