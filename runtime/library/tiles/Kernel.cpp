//===- Kernel.cpp - matmul and convolution kernels on AMX tiles -----------===//
#include "runtime/library/tiles/Kernel.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/Activations.h"
#include "runtime/library/tiles/Sums.h"

#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::tiles {

namespace {

/// Prefetch distance of the right operand when it is read for the first time, in bytes. A step of
/// two parts fills a page, and the hardware prefetcher stops at the page's end.
constexpr int64_t kFetchAhead = 8192;

/// Computes a block of sums in the tile registers. The products of parts are ordered so that each
/// part is loaded as rarely as the tiles allow. `leftPart` and `leftStep` are the strides in bytes
/// between parts and between steps of the left operand. If `fetches` is set, the right operand is
/// prefetched, since it may not be in the cache.
template <bool tall, int parts>
inline void sumBlock(const char *left, int64_t leftPart, int64_t leftStep, const char *right,
                     int64_t steps, bool fetches) {
  for (int64_t step = 0; step < steps; ++step, left += leftStep, right += parts * kPartBytes) {
    const char *leftM = left + leftPart, *rightM = right + kPartBytes;
    const char *leftL = leftM + leftPart, *rightL = right + 2 * kPartBytes;
    if (fetches)
      for (int64_t line = 0; line < parts * kPartBytes; line += 64)
        simd::prefetch<simd::CacheLevel::L2>(right + kFetchAhead + line);
    loadRight(right);
    if (parts == 3) {
      loadLeft<tall>(leftL);
      multiplyParts<tall>();
    }
    if (parts > 1) {
      loadLeft<tall>(leftM);
      multiplyParts<tall>();
    }
    loadLeft<tall>(left);
    multiplyParts<tall>();
    if (parts > 1) {
      loadRight(rightM);
      multiplyParts<tall>();
    }
    if (parts == 3) {
      loadLeft<tall>(leftM);
      multiplyParts<tall>();
      loadRight(rightL);
      loadLeft<tall>(left);
      multiplyParts<tall>();
    }
  }
}

inline Floats loadOperand(const PostOp &post, int64_t row, int64_t column, Mask mask) {
  const float *at = post.operand.data + row * post.operand.row + column * post.operand.column;
  return post.operand.column == 0 ? simd::splat<16>(*at) : loadMasked(at, mask);
}

inline Floats applyActivationInline(const PostOp &post, Floats v) {
  simd::dispatchActivation<16>(post.activation, post.alpha, post.beta,
                               [&](const auto &function) { v = function(v); });
  return v;
}

/// Applies an activation. The function is not inlined, so that the code for the most common
/// epilogues stays small.
__attribute__((noinline)) Floats applyActivationOutlined(const PostOp &post, Floats v) {
  return applyActivationInline(post, v);
}

inline Floats applyActivation(const PostOp &post, Floats v) {
  return post.activation <= Activation::Linear ? applyActivationInline(post, v)
                                               : applyActivationOutlined(post, v);
}

inline Floats applyPostOp(const PostOp &post, Floats v, const float *old, int64_t row,
                          int64_t column, Mask mask) {
  switch (post.kind) {
  case PostOpKind::Activate:
    return applyActivation(post, v);
  case PostOpKind::Add:
    return v + loadOperand(post, row, column, mask);
  case PostOpKind::Mul:
    return v * loadOperand(post, row, column, mask);
  case PostOpKind::Sub:
    return v - loadOperand(post, row, column, mask);
  case PostOpKind::LogisticGradient: {
    Floats y = loadOperand(post, row, column, mask);
    return v * (y * (simd::splat<16>(1) - y));
  }
  case PostOpKind::TanhGradient: {
    Floats y = loadOperand(post, row, column, mask);
    return v * simd::subtractProduct(y, y, simd::splat<16>(1));
  }
  case PostOpKind::ReluGradient: {
    Floats y = loadOperand(post, row, column, mask);
    return simd::keepWherePositive(y, v);
  }
  case PostOpKind::Sum:
    return simd::multiplyAdd(simd::splat<16>(post.alpha), loadMasked(old, mask), v);
  }
  __builtin_unreachable();
}

/// Epilogue of up to 16 columns of sums, beginning with `column`.
struct ColumnEpilogue {
  const Epilogue &epilogue;
  Mask mask;
  int64_t column;
  Floats bias;

  ColumnEpilogue(const Epilogue &epilogue, int64_t column, int64_t columns)
      : epilogue(epilogue), mask(makeLaneMask(columns)), column(column),
        bias(epilogue.bias ? loadMasked(epilogue.bias + column, mask) : Floats{}) {}

  __attribute__((always_inline)) void end(const float *sums, float *to, int64_t row) const {
    Floats v = simd::multiplyAdd(simd::loadAligned(sums), simd::splat<16>(epilogue.scale), bias);
    for (int p = 0; p < epilogue.count; ++p)
      v = applyPostOp(epilogue.posts[p], v, to, row, column, mask);
    simd::storeMasked<16>(to, mask, v);
  }
};

/// Applies the epilogue to a block of sums and stores the results.
void end(const float *sums, const PanelArguments &panel, const Epilogue &epilogue, int64_t row0,
         int64_t column0, int64_t rows, int64_t columns) {
  for (int64_t half = 0; half < columns; half += kHalf) {
    ColumnEpilogue ending(epilogue, panel.firstColumn + column0 + half, columns - half);
    for (int64_t i = 0; i < rows; ++i)
      ending.end(sums + i * kBlock + half, panel.dst + (row0 + i) * panel.dstRow + column0 + half,
                 panel.firstRow + row0 + i);
  }
}

template <bool tall, int parts>
void multiplyBlock(const PanelArguments &panel, const Epilogue &epilogue, int64_t row0,
                   int64_t column0) {
  const char *left = panel.left + row0 / kBlock * panel.leftStride;
  const char *right = panel.right + column0 / kBlock * panel.rightStride;
  int64_t rows = panel.rows - row0 < kBlock ? panel.rows - row0 : kBlock;
  int64_t columns = panel.columns - column0 < kBlock ? panel.columns - column0 : kBlock;
  bool ends = panel.isLast || panel.each,
       bare = epilogue.count == 0 && !epilogue.bias && epilogue.scale == 1;
  bool whole = columns == kBlock && rows == (tall ? kBlock : kHalf);
  float *dst = panel.dst + row0 * panel.dstRow + column0;
  alignas(64) float sums[kBlock * kBlock];
  if (panel.isFirst || panel.each) {
    zeroSums<tall>();
  } else if (whole) {
    loadSums<tall>(dst, panel.dstRow);
  } else {
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(sums + i * kBlock, dst + i * panel.dstRow, size_t(columns) * 4);
    publish(sums);
    loadSums<tall>(sums, kBlock);
  }
  sumBlock<tall, parts>(left, kPartBytes, parts * kPartBytes, right, panel.steps, row0 == 0);
  if (whole && (!ends || bare)) {
    storeSums<tall>(dst, panel.dstRow);
    return;
  }
  storeSums<tall>(sums, kBlock);
  if (ends) {
    end(sums, panel, epilogue, row0, column0, rows, columns);
    return;
  }
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(dst + i * panel.dstRow, sums + i * kBlock, size_t(columns) * 4);
}

template <int parts> void multiplyAll(const PanelArguments &panel, const Epilogue &epilogue) {
  for (int64_t row = 0; row < panel.rows; row += kBlock)
    for (int64_t column = 0; column < panel.columns; column += kBlock)
      if (panel.rows - row > kHalf)
        multiplyBlock<true, parts>(panel, epilogue, row, column);
      else
        multiplyBlock<false, parts>(panel, epilogue, row, column);
}

template <bool tall, int parts>
void convolveBlock(const ConvolveArguments &at, const Epilogue &epilogue, int64_t row0,
                   int64_t column0) {
  zeroSums<tall>();
  const char *left = at.left + row0 * kPixelBytes;
  const char *right = at.right + column0 / kBlock * at.rightStride;
  const uint8_t *live = at.live + row0 / kBlock * at.taps;
  for (int64_t tap = 0; tap < at.taps; ++tap)
    if (live[tap])
      sumBlock<tall, parts>(left + at.tapBytes[tap], at.partStride, at.stepStride,
                            right + tap * at.rightTap, at.steps, row0 == 0);
  alignas(64) float sums[kBlock * kBlock];
  storeSums<tall>(sums, kBlock);
  int64_t rows = at.rows - row0 < kBlock ? at.rows - row0 : kBlock;
  for (int64_t half = 0; half < kBlock && column0 + half < at.columns; half += kHalf) {
    int64_t column = column0 + half;
    ColumnEpilogue ending(epilogue, at.firstColumn + column, at.columns - column);
    for (int64_t i = 0; i < rows; ++i) {
      if (at.pixel[row0 + i] < 0)
        continue;
      int64_t pixel = at.firstPixel + at.pixel[row0 + i];
      ending.end(sums + i * kBlock + half, at.dst + pixel * at.dstPixel + at.firstColumn + column,
                 pixel);
    }
  }
}

/// Multiplies all rows by one block of columns after the other, so that the columns' weights stay
/// in the cache.
template <int parts> void convolveAll(const ConvolveArguments &at, const Epilogue &epilogue) {
  for (int64_t column = 0; column < at.columns; column += kBlock)
    for (int64_t row = 0; row < at.rows; row += kBlock)
      if (at.rows - row > kHalf)
        convolveBlock<true, parts>(at, epilogue, row, column);
      else
        convolveBlock<false, parts>(at, epilogue, row, column);
}

} // namespace

void convolve(const ConvolveArguments &at, const Epilogue &epilogue) {
  publish(at.left);
  if (at.parts == 1)
    convolveAll<1>(at, epilogue);
  else if (at.parts == 2)
    convolveAll<2>(at, epilogue);
  else
    convolveAll<3>(at, epilogue);
}

void multiply(const PanelArguments &panel, const Epilogue &epilogue) {
  publish(panel.left);
  if (panel.parts == 1)
    multiplyAll<1>(panel, epilogue);
  else if (panel.parts == 2)
    multiplyAll<2>(panel, epilogue);
  else
    multiplyAll<3>(panel, epilogue);
}

void configureTiles() { simd::enableTiles(); }
void releaseTiles() { simd::disableTiles(); }

bool requestTilePermission() {
  constexpr long request = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, request, tileData) == 0;
}

} // namespace dlc::tiles

#else

namespace dlc::tiles {

void multiply(const PanelArguments &, const Epilogue &) {}
void convolve(const ConvolveArguments &, const Epilogue &) {}
void configureTiles() {}
void releaseTiles() {}
bool requestTilePermission() { return false; }

} // namespace dlc::tiles

#endif
