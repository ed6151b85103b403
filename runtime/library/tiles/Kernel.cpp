//===- Kernel.cpp - packing, multiplying and ending on tiles --------------------===//
#include "runtime/library/tiles/Kernel.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/tiles/Functions.h"

#include <cstring>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::tiles {

namespace {

constexpr int64_t kTile = 1024, kHalf = 16;

/// The compiler does not know what loads of tiles read: what was written before must be in memory.
inline void publish(const void *memory) { asm volatile("" : : "r"(memory) : "memory"); }

/// Two vectors as bf16 parts, in each 32-bit lane the first one's below the second one's where
/// `pairs`, otherwise one behind the other; the rests stay in x and y.
template <bool pairs> inline __m512i takePart(__m512 &x, __m512 &y, __m512i interleave) {
  const __m512 most = _mm512_set1_ps(0x1.fep+127f);
  __m512i both = (__m512i)_mm512_cvtne2ps_pbh(y, x);
  __m512i order = pairs ? _mm512_permutexvar_epi16(interleave, both) : both;
  __m512 headX, headY;
  if (pairs) {
    headX = _mm512_castsi512_ps(_mm512_slli_epi32(order, 16));
    headY = _mm512_castsi512_ps(_mm512_and_si512(order, _mm512_set1_epi32(int(0xffff0000))));
  } else {
    headX = _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(both)), 16));
    headY = _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(both, 1)), 16));
  }
  __mmask16 wildX = _mm512_cmp_ps_mask(_mm512_abs_ps(x), most, _CMP_NLE_UQ);
  __mmask16 wildY = _mm512_cmp_ps_mask(_mm512_abs_ps(y), most, _CMP_NLE_UQ);
  if (__builtin_expect((wildX | wildY) == 0, 1)) {
    x = _mm512_sub_ps(x, headX);
    y = _mm512_sub_ps(y, headY);
    return order;
  }
  // What would become infinite is cut instead; infinities and NaN have no rest.
  auto tamed = [&](__m512 &v, __mmask16 wild) {
    __m512i bits = _mm512_castps_si512(v), upper = _mm512_set1_epi32(int(0xffff0000));
    __mmask16 finite =
        _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(0x1.fffffep+127f), _CMP_LE_OQ);
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    __m512i head = _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(v)), 16);
    head = _mm512_mask_and_epi32(head, wild, bits, upper);
    head = _mm512_mask_or_epi32(head, nan, head, _mm512_set1_epi32(0x400000));
    v = _mm512_maskz_sub_ps(finite, v, _mm512_castsi512_ps(head));
    return head;
  };
  __m512i wholeX = tamed(x, wildX), wholeY = tamed(y, wildY);
  if (pairs)
    return _mm512_or_si512(_mm512_srli_epi32(wholeX, 16), wholeY);
  return _mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtepi32_epi16(_mm512_srli_epi32(wholeX, 16))),
      _mm512_cvtepi32_epi16(_mm512_srli_epi32(wholeY, 16)), 1);
}

inline __m512i interleaving() {
  alignas(64) int16_t order[32];
  for (int i = 0; i < 16; ++i) {
    order[2 * i] = int16_t(i);
    order[2 * i + 1] = int16_t(16 + i);
  }
  return _mm512_load_si512(order);
}

/// 16 x 16 lanes of 32 bits.
inline void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

/// What comes next where elements lie side by side along the lanes, so far ahead in bytes.
constexpr int64_t kAhead = 256;

/// The first `count` of sixteen.
inline __mmask16 firstLanes(int64_t count) {
  return static_cast<__mmask16>(count >= kHalf ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}

/// One tile of each part, 16 lanes and 32 deep, `kPartBytes` apart. A tile of the left operand has
/// a row for each lane; of the right one, a row for each two of the depth. The elements are side by
/// side along the depth (runs), or along the lanes.
template <bool runs, bool left>
inline void packTile(const float *from, int64_t stride, int parts, char *to, __m512i interleave) {
  __m512 x[16], y[16];
  for (int i = 0; i < 16; ++i) {
    const float *first = from + (runs ? i : 2 * i) * stride;
    const float *second = runs ? first + 16 : first + stride;
    x[i] = _mm512_loadu_ps(first);
    y[i] = _mm512_loadu_ps(second);
    if (!runs) {
      _mm_prefetch(reinterpret_cast<const char *>(first) + kAhead, _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char *>(second) + kAhead, _MM_HINT_T0);
    }
  }
  for (int part = 0; part < parts; ++part) {
    __m512i rows[16];
    for (int i = 0; i < 16; ++i)
      rows[i] = takePart<!runs>(x[i], y[i], interleave);
    if (runs != left)
      transpose(rows);
    for (int i = 0; i < 16; ++i)
      _mm512_store_si512(to + part * kPartBytes + 64 * i, rows[i]);
  }
}

struct Source {
  const float *from;
  int64_t lane, depth, lanes, depths;
};

/// One block of 32 lanes, 32 deep.
template <bool left>
void packBlock(const Source &source, int64_t block, int64_t step, int parts, char *to,
               __m512i interleave) {
  for (int64_t half = 0; half < 2; ++half) {
    int64_t firstLane = block * kBlock + half * kHalf, firstDepth = step * kDepth;
    const float *from = source.from + firstLane * source.lane + firstDepth * source.depth;
    char *tile = to + half * kTile;
    int64_t lanes = source.lanes - firstLane < kHalf ? source.lanes - firstLane : kHalf;
    int64_t depths = source.depths - firstDepth < kDepth ? source.depths - firstDepth : kDepth;
    if (lanes <= 0) {
      for (int part = 0; part < parts; ++part)
        std::memset(tile + part * kPartBytes, 0, kTile);
    } else if (lanes == kHalf && depths == kDepth && source.depth == 1) {
      packTile<true, left>(from, source.lane, parts, tile, interleave);
    } else if (lanes == kHalf && depths == kDepth && source.lane == 1) {
      packTile<false, left>(from, source.depth, parts, tile, interleave);
    } else if (source.lane == 1 && source.depth != 1) {
      alignas(64) float edge[kDepth][kHalf] = {};
      for (int64_t k = 0; k < depths; ++k)
        _mm512_store_ps(edge[k], _mm512_maskz_loadu_ps(firstLanes(lanes), from + k * source.depth));
      packTile<false, left>(&edge[0][0], kHalf, parts, tile, interleave);
    } else {
      alignas(64) float edge[kHalf][kDepth] = {};
      for (int64_t i = 0; i < lanes && i < kHalf; ++i) {
        const float *row = from + i * source.lane;
        if (source.depth == 1) {
          _mm512_store_ps(edge[i], _mm512_maskz_loadu_ps(firstLanes(depths), row));
          _mm512_store_ps(edge[i] + kHalf,
                          _mm512_maskz_loadu_ps(firstLanes(depths - kHalf), row + kHalf));
          continue;
        }
        for (int64_t k = 0; k < depths; ++k)
          edge[i][k] = row[k * source.depth];
      }
      packTile<true, left>(&edge[0][0], kDepth, parts, tile, interleave);
    }
  }
}

/// Walks along the memory.
template <bool left> void pack(const Source &source, int parts, char *to) {
  __m512i interleave = interleaving();
  int64_t steps = (source.depths + kDepth - 1) / kDepth,
          blocks = (source.lanes + kBlock - 1) / kBlock;
  auto one = [&](int64_t block, int64_t step) {
    packBlock<left>(source, block, step, parts, to + (block * steps + step) * parts * kPartBytes,
                    interleave);
  };
  if (source.lane == 1) {
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t block = 0; block < blocks; ++block)
        one(block, step);
    return;
  }
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t step = 0; step < steps; ++step)
      one(block, step);
}

struct alignas(64) Config {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles 0 to 3 hold sums, 4 and 5 a part of the left operand, 6 and 7 one of the right.
template <bool tall> inline void loadLeft(const char *part) {
  _tile_loadd(4, part, 64);
  if (tall)
    _tile_loadd(5, part + kTile, 64);
}

inline void loadRight(const char *part) {
  _tile_loadd(6, part, 64);
  _tile_loadd(7, part + kTile, 64);
}

template <bool tall> inline void multiplyParts() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if (tall) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

/// How far ahead the right operand is fetched when it is read for the first time, in bytes: a step
/// of it fills a page, where the processor's own fetching ends.
constexpr int64_t kFetchAhead = 8192;

/// One block of sums; small parts come first, and each part is loaded as seldom as the tiles allow.
/// Parts of the left operand lie `leftPart` bytes apart, its steps `leftStep`. `fetches`: the right
/// one may be far away.
template <bool tall, int parts>
inline void sumBlock(const char *left, int64_t leftPart, int64_t leftStep, const char *right,
                     int64_t steps, bool fetches) {
  for (int64_t step = 0; step < steps; ++step, left += leftStep, right += parts * kPartBytes) {
    const char *leftM = left + leftPart, *rightM = right + kPartBytes;
    const char *leftL = leftM + leftPart, *rightL = right + 2 * kPartBytes;
    if (fetches)
      for (int64_t line = 0; line < parts * kPartBytes; line += 64)
        _mm_prefetch(right + kFetchAhead + line, _MM_HINT_T1);
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

template <bool tall> inline void storeSums(float *to, int64_t row) {
  int64_t bytes = row * 4;
  _tile_stored(0, to, bytes);
  _tile_stored(1, to + 16, bytes);
  if (tall) {
    _tile_stored(2, to + 16 * row, bytes);
    _tile_stored(3, to + 16 * row + 16, bytes);
  }
}

template <bool tall> inline void loadSums(const float *from, int64_t row) {
  int64_t bytes = row * 4;
  _tile_loadd(0, from, bytes);
  _tile_loadd(1, from + 16, bytes);
  if (tall) {
    _tile_loadd(2, from + 16 * row, bytes);
    _tile_loadd(3, from + 16 * row + 16, bytes);
  }
}

inline __m512 operandOf(const Post &post, int64_t row, int64_t column, __mmask16 mask) {
  const float *at = post.operand.data + row * post.operand.row + column * post.operand.column;
  return post.operand.column == 0 ? _mm512_set1_ps(*at) : _mm512_maskz_loadu_ps(mask, at);
}

/// Kept out of line, so that what is done for most results stays small.
__attribute__((noinline)) __m512 functionOf(PostKind kind, __m512 v) {
  switch (kind) {
  case PostKind::Logistic:
    return logistic(v);
  case PostKind::Tanh:
    return tanhOf(v);
  case PostKind::GeluErf:
    return geluErf(v);
  default:
    return geluTanh(v);
  }
}

inline __m512 applied(const Post &post, __m512 v, const float *old, int64_t row, int64_t column,
                      __mmask16 mask) {
  __m512 alpha = _mm512_set1_ps(post.alpha), beta = _mm512_set1_ps(post.beta);
  switch (post.kind) {
  case PostKind::Relu: {
    __mmask16 negative = _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_mask_mul_ps(v, negative, v, alpha);
  }
  case PostKind::Clip:
    // min and max give their second operand where one is NaN.
    return _mm512_min_ps(beta, _mm512_max_ps(alpha, v));
  case PostKind::Linear:
    return _mm512_fmadd_ps(v, alpha, beta);
  case PostKind::Square:
    return _mm512_mul_ps(v, v);
  case PostKind::Add:
    return _mm512_add_ps(v, operandOf(post, row, column, mask));
  case PostKind::Mul:
    return _mm512_mul_ps(v, operandOf(post, row, column, mask));
  case PostKind::Sub:
    return _mm512_sub_ps(v, operandOf(post, row, column, mask));
  case PostKind::Sum:
    return _mm512_fmadd_ps(alpha, _mm512_maskz_loadu_ps(mask, old), v);
  default:
    return functionOf(post.kind, v);
  }
}

/// Half a block's columns of sums become results: column is the first one's.
struct Ending {
  const Epilogue &epilogue;
  __mmask16 mask;
  int64_t column;
  __m512 bias;

  Ending(const Epilogue &epilogue, int64_t column, int64_t columns)
      : epilogue(epilogue), mask(firstLanes(columns)), column(column),
        bias(epilogue.bias ? _mm512_maskz_loadu_ps(mask, epilogue.bias + column)
                           : _mm512_setzero_ps()) {}

  __attribute__((always_inline)) inline void end(const float *sums, float *to, int64_t row) const {
    __m512 v = _mm512_fmadd_ps(_mm512_load_ps(sums), _mm512_set1_ps(epilogue.scale), bias);
    for (int p = 0; p < epilogue.count; ++p)
      v = applied(epilogue.posts[p], v, to, row, column, mask);
    _mm512_mask_storeu_ps(to, mask, v);
  }
};

/// A block of sums becomes results.
void end(const float *sums, const Panel &panel, const Epilogue &epilogue, int64_t row0,
         int64_t column0, int64_t rows, int64_t columns) {
  for (int64_t half = 0; half < columns; half += kHalf) {
    Ending ending(epilogue, panel.firstColumn + column0 + half, columns - half);
    for (int64_t i = 0; i < rows; ++i)
      ending.end(sums + i * kBlock + half, panel.dst + (row0 + i) * panel.dstRow + column0 + half,
                 panel.firstRow + row0 + i);
  }
}

template <bool tall, int parts>
void multiplyBlock(const Panel &panel, const Epilogue &epilogue, int64_t row0, int64_t column0) {
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
    _tile_zero(0);
    _tile_zero(1);
    if (tall) {
      _tile_zero(2);
      _tile_zero(3);
    }
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

template <int parts> void multiplyAll(const Panel &panel, const Epilogue &epilogue) {
  for (int64_t row = 0; row < panel.rows; row += kBlock)
    for (int64_t column = 0; column < panel.columns; column += kBlock)
      if (panel.rows - row > kHalf)
        multiplyBlock<true, parts>(panel, epilogue, row, column);
      else
        multiplyBlock<false, parts>(panel, epilogue, row, column);
}

template <bool tall, int parts>
void convolveBlock(const Window &window, const Epilogue &epilogue, int64_t row0, int64_t column0) {
  _tile_zero(0);
  _tile_zero(1);
  if (tall) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const char *left = window.left + row0 * kPixelBytes;
  const char *right = window.right + column0 / kBlock * window.rightStride;
  for (int64_t tap = 0; tap < window.taps; ++tap)
    sumBlock<tall, parts>(left + window.tapBytes[tap], window.partStride, window.stepStride,
                          right + tap * window.rightTap, window.steps, row0 == 0);
  alignas(64) float sums[kBlock * kBlock];
  storeSums<tall>(sums, kBlock);
  int64_t rows = window.rows - row0 < kBlock ? window.rows - row0 : kBlock;
  for (int64_t half = 0; half < kBlock && column0 + half < window.columns; half += kHalf) {
    int64_t column = column0 + half;
    Ending ending(epilogue, window.firstColumn + column, window.columns - column);
    for (int64_t i = 0; i < rows; ++i) {
      if (window.pixel[row0 + i] < 0)
        continue;
      int64_t pixel = window.firstPixel + window.pixel[row0 + i];
      ending.end(sums + i * kBlock + half,
                 window.dst + pixel * window.dstPixel + window.firstColumn + column, pixel);
    }
  }
}

/// All rows pass by a block of columns, whose weights stay near.
template <int parts> void convolveAll(const Window &window, const Epilogue &epilogue) {
  for (int64_t column = 0; column < window.columns; column += kBlock)
    for (int64_t row = 0; row < window.rows; row += kBlock)
      if (window.rows - row > kHalf)
        convolveBlock<true, parts>(window, epilogue, row, column);
      else
        convolveBlock<false, parts>(window, epilogue, row, column);
}

} // namespace

void packPixels(const PixelRun &run, int parts, char *to, int64_t stepStride, int64_t partStride) {
  int64_t steps = (run.channels + kDepth - 1) / kDepth;
  if (!run.from) {
    for (int64_t step = 0; step < steps; ++step)
      for (int part = 0; part < parts; ++part)
        std::memset(to + step * stepStride + part * partStride, 0, size_t(run.count * kPixelBytes));
    return;
  }
  __m512i none = _mm512_setzero_si512();
  for (int64_t i = 0; i < run.count; ++i) {
    const float *from = run.from + i * run.stride;
    char *row = to + i * kPixelBytes;
    for (int64_t step = 0; step < steps; ++step, from += kDepth, row += stepStride) {
      int64_t left = run.channels - step * kDepth;
      __m512 x = _mm512_maskz_loadu_ps(firstLanes(left), from),
             y = _mm512_maskz_loadu_ps(firstLanes(left - kHalf), from + kHalf);
      for (int part = 0; part < parts; ++part)
        _mm512_store_si512(row + part * partStride, takePart<false>(x, y, none));
    }
  }
}

void convolve(const Window &window, const Epilogue &epilogue) {
  publish(window.left);
  if (window.parts == 1)
    convolveAll<1>(window, epilogue);
  else if (window.parts == 2)
    convolveAll<2>(window, epilogue);
  else
    convolveAll<3>(window, epilogue);
}

void packLeft(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              int parts, void *to) {
  pack<true>({from, lane, depth, lanes, depths}, parts, static_cast<char *>(to));
}

void packRight(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               int parts, void *to) {
  pack<false>({from, lane, depth, lanes, depths}, parts, static_cast<char *>(to));
}

void multiply(const Panel &panel, const Epilogue &epilogue) {
  publish(panel.left);
  if (panel.parts == 1)
    multiplyAll<1>(panel, epilogue);
  else if (panel.parts == 2)
    multiplyAll<2>(panel, epilogue);
  else
    multiplyAll<3>(panel, epilogue);
}

void enterTiles() {
  Config config;
  for (int tile = 0; tile < 8; ++tile) {
    config.bytes[tile] = 64;
    config.rows[tile] = 16;
  }
  publish(&config);
  _tile_loadconfig(&config);
}

void leaveTiles() { _tile_release(); }

bool requestTiles() {
  constexpr long request = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, request, tileData) == 0;
}

} // namespace dlc::tiles

#else

namespace dlc::tiles {

void packLeft(const float *, int64_t, int64_t, int64_t, int64_t, int, void *) {}
void packRight(const float *, int64_t, int64_t, int64_t, int64_t, int, void *) {}
void multiply(const Panel &, const Epilogue &) {}
void packPixels(const PixelRun &, int, char *, int64_t, int64_t) {}
void convolve(const Window &, const Epilogue &) {}
void enterTiles() {}
void leaveTiles() {}
bool requestTiles() { return false; }

} // namespace dlc::tiles

#endif
