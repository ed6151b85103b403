//===- InPlace.cpp - bf16 matmuls with matrices that are read in place ----===//
//
// Tiles need the elements of the left operand adjacent along the summed dimension, as in a matrix
// with contiguous columns. So that matrix is the tiles' left operand and the rows are their right
// operand, and the sums are transposed.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/tiles/Kernel.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/Narrow.h"
#include "runtime/library/tiles/Lanes.h"
#include "runtime/simd/arch/amx/Tiles.h"

namespace dlc::tiles {

namespace {

/// Prefetch distance of the columns, in steps. Each column is a separate stream of memory.
constexpr int64_t kStepsAhead = 12;

/// Computes the sums of up to 32 rows by 32 columns in tiles 0 to 3. Tiles 0 and 1 hold the first
/// 16 rows, tiles 0 and 2 the first 16 columns. `both` is set if there are more than 16 rows.
/// `ahead` is the next 32 columns to prefetch, or null if all columns are in the cache.
template <bool both>
void multiplyTileBlock(const char *left, const uint16_t *right, int64_t depth,
                       const uint16_t *ahead) {
  const int64_t bytes = depth * 2, steps = depth / kDepth;
  const char *column = reinterpret_cast<const char *>(right);
  simd::zeroTile<0>();
  simd::zeroTile<1>();
  simd::zeroTile<2>();
  simd::zeroTile<3>();
  for (int64_t step = 0; step < steps; ++step, left += kPartBytes, column += 2 * kDepth) {
    if (ahead) {
      const int64_t to = step + kStepsAhead;
      const char *line =
          to < steps ? column + kStepsAhead * 2 * kDepth
                     : reinterpret_cast<const char *>(ahead) + (to - steps) % steps * 2 * kDepth;
      for (int64_t i = 0; i < kBlock; ++i)
        simd::prefetch<simd::CacheLevel::L2>(line + i * bytes);
    }
    simd::loadTile<4>(column, bytes);
    simd::loadTile<5>(column + kHalf * bytes, bytes);
    simd::loadTile<6>(left, 64);
    simd::addTileProducts<0, 4, 6>();
    simd::addTileProducts<1, 5, 6>();
    if (both) {
      simd::loadTile<7>(left + kTile, 64);
      simd::addTileProducts<2, 4, 7>();
      simd::addTileProducts<3, 5, 7>();
    }
  }
}

/// Transposes the sums of 16 columns and up to 16 rows, rounds them to bf16 and stores them as
/// rows.
void storeTransposed(const float *sums, int64_t rows, uint16_t *to, int64_t toRow) {
  Ints lanes[16];
  for (int i = 0; i < 16; ++i)
    lanes[i] = simd::loadAlignedInts(sums + 16 * i);
  transpose(lanes);
  for (int64_t i = 0; i < 16 && i < rows; ++i) {
    const auto half = simd::roundToBf16<16>(Floats(lanes[i]));
    __builtin_memcpy(to + i * toRow, &half, sizeof half);
  }
}

} // namespace

void multiplyInPlace(const products::InPlaceMatmul &args) {
  asm volatile("" : : "r"(args.left), "r"(args.right) : "memory");
  alignas(64) float sums[4][kHalf * kHalf];
  for (int64_t column = 0; column < args.columns; column += kBlock)
    for (int64_t row = 0; row < args.rows; row += kBlock) {
      const uint16_t *right = args.right + column * args.depth;
      const char *left = args.left + row / kBlock * args.stride;
      const int64_t rows = args.rows - row;
      const uint16_t *ahead = row == 0 ? right + kBlock * args.depth : nullptr;
      if (rows > kHalf)
        multiplyTileBlock<true>(left, right, args.depth, ahead);
      else
        multiplyTileBlock<false>(left, right, args.depth, ahead);
      simd::storeTile<0>(sums[0], 64);
      simd::storeTile<1>(sums[1], 64);
      if (rows > kHalf) {
        simd::storeTile<2>(sums[2], 64);
        simd::storeTile<3>(sums[3], 64);
      }
      asm volatile("" : : "r"(sums) : "memory");
      uint16_t *dst = args.dst + row * args.dstRow + column;
      for (int i = 0; i < 4; ++i)
        storeTransposed(sums[i], rows - i / 2 * kHalf,
                        dst + i / 2 * kHalf * args.dstRow + i % 2 * kHalf, args.dstRow);
    }
}

} // namespace dlc::tiles

#else

namespace dlc::tiles {

void multiplyInPlace(const products::InPlaceMatmul &) {}

} // namespace dlc::tiles

#endif
