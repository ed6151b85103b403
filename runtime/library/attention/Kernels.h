//===- Kernels.h - vector kernels for the blocks of attention -------------===//
//
// All blocks are f32 in the caller's memory. Their rows are padded to full vectors, and the kernels
// may overwrite the padding.
//
// The files compiled for one instruction set include this header, so it must not contain inline
// functions: the linker could choose their copies for all processors.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_KERNELS_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_KERNELS_H

#include <stdint.h>

namespace dlc::attention {

/// Arguments of multiply: dst = a * b, or dst += a * b if `adds` is set; `b` is packed by
/// packRight.
struct MultiplyArguments {
  const float *a = nullptr;
  int64_t aRow = 0, aColumn = 0; ///< strides in elements
  const float *b = nullptr;
  int64_t panel = 0; ///< stride between two panels of `width` columns of b, in elements
  float *dst = nullptr;
  int64_t dstRow = 0, rows = 0, columns = 0, depth = 0;
  bool adds = false;
};

/// Attention kernels compiled for one instruction set.
struct Kernels {
  int64_t lanes, width; ///< width: number of columns of a panel
  /// Packs a right operand into panels of `width` lanes: [lanes / width][panel / width][width],
  /// where `panel` is the stride between two panels in elements. Lanes after the last one are
  /// padding of 0. `lane` and `depth` are the operand's strides in elements.
  void (*packRight)(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
                    int64_t panel, float *to);
  void (*multiply)(const MultiplyArguments &product);
  /// Computes scores = scale * scores + bias. Scores are -inf where the bias is -inf, and from
  /// `count` up to `all`. Returns the maximum of the scores and `least`.
  float (*finishScores)(float *scores, const float *bias, float scale, int64_t count, int64_t all,
                        float least);
  /// Computes scores = exp(scores - largest) and returns their sum. If `largest` is -inf, the
  /// lowest finite f32 is subtracted instead.
  float (*exponentials)(float *scores, int64_t all, float largest);
  /// Computes scores = p = exp(scores - lse) and products = scale * p * (products - share). Both
  /// are 0 where the scores are -inf.
  void (*gradients)(float *scores, float *products, int64_t all, float lse, float share,
                    float scale);
  /// Computes to = factor * from, and rounds to bf16 if `narrow` is set.
  void (*scaled)(const float *from, int64_t count, float factor, bool narrow, void *to);
  void (*widen)(const uint16_t *from, int64_t count, float *to);
  /// Returns the dot product of x and y.
  float (*dot)(const float *x, const float *y, int64_t count);
};

/// Kernels compiled for AVX-512 (16 lanes), for AVX2 with FMA (8 lanes), and for any CPU (8 lanes).
const Kernels &avx512Kernels();
const Kernels &avx2Kernels();
const Kernels &scalarKernels();

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_KERNELS_H
