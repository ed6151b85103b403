//===- Kernels.h - what attention does with blocks, in a processor's vectors -------===//
//
// All blocks are f32 in memory of the caller's whose rows are padded to whole vectors; what lies
// behind a block's end may be overwritten.
//
// This header is read by files compiled for other processors than the rest: nothing here may bring
// inline functions along that the linker could take for everybody.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_KERNELS_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_KERNELS_H

#include <stdint.h>

namespace dlc::attention {

/// dst = a * b, or dst + a * b where `adds`; `b` as packRight writes it.
struct Product {
  const float *a = nullptr;
  int64_t aRow = 0, aColumn = 0; ///< strides in elements
  const float *b = nullptr;
  int64_t panel = 0; ///< elements from `width` columns of b to the next
  float *dst = nullptr;
  int64_t dstRow = 0, rows = 0, columns = 0, depth = 0;
  bool adds = false;
};

/// One processor's functions.
struct Kernels {
  int64_t lanes, width; ///< width: columns of a panel
  /// Panels of `width` lanes, each depth by depth: [lanes / width][panel / width][width]. What lies
  /// behind the last lane is 0. `lane` and `depth` are strides.
  void (*packRight)(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
                    int64_t panel, float *to);
  void (*multiply)(const Product &product);
  /// scores = scale * scores + bias, -inf where the bias is; behind `count` up to `all` -inf too.
  /// The largest of them and `least`.
  float (*finishScores)(float *scores, const float *bias, float scale, int64_t count, int64_t all,
                        float least);
  /// scores = exp(scores - largest), whose sum is returned. -inf as the largest counts as the
  /// lowest number.
  float (*exponentials)(float *scores, int64_t all, float largest);
  /// scores = p = exp(scores - lse), products = scale * p * (products - share); both 0 where
  /// scores are -inf.
  void (*gradients)(float *scores, float *products, int64_t all, float lse, float share,
                    float scale);
  /// to = factor * from; with `narrow` as bf16.
  void (*scaled)(const float *from, int64_t count, float factor, bool narrow, void *to);
  void (*widen)(const uint16_t *from, int64_t count, float *to);
  /// The sum of x * y.
  float (*dot)(const float *x, const float *y, int64_t count);
};

/// Compiled for AVX-512 and for AVX2 with FMA.
const Kernels &avx512Kernels();
const Kernels &avx2Kernels();

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_KERNELS_H
