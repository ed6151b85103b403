//===- Post.h - how sums become results, and operands what is summed -------------===//
//
// Shared with code compiled for one processor alone: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_POST_H
#define DLC_RUNTIME_LIBRARY_SIMD_POST_H

#include "runtime/library/simd/Activation.h"

#include <cstdint>

namespace dlc::simd {

struct Matrix {
  const float *data = nullptr;
  int64_t row = 0, column = 0; ///< strides in elements
};

enum class PostKind {
  Activate,
  Add,
  Mul,
  Sub,
  LogisticGradient, ///< of an activation by what came of it, the operand
  TanhGradient,
  ReluGradient,
  Sum
};

struct Post {
  PostKind kind = PostKind::Activate;
  Activation activation = Activation::Relu;
  float alpha = 0, beta = 0; ///< as oneDNN's; Sum: alpha is its factor
  Matrix operand;            ///< of Add to ReluGradient: a stride of 0 repeats its elements
};

constexpr int kMostPosts = 6;

/// How sums become results: dst = posts(scale · sum + bias).
struct Epilogue {
  float scale = 1;
  const float *bias = nullptr;
  Post posts[kMostPosts];
  int count = 0;
};

/// What elements of an operand become on their way to the tiles, x in a row and a column of memory:
/// e(x - shift[row]) · factor[row], and `value` more where hot[row] is the column; e is the
/// exponential or nothing. A step of 0 repeats a shift or factor for all rows.
struct Prologue {
  bool exponential = false;
  const float *shift = nullptr, *factor = nullptr;
  int64_t shiftStep = 0, factorStep = 0;
  const int64_t *hot = nullptr;
  float value = 0;
};

} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_POST_H
