//===- Post.h - epilogues and prologues of matmuls ------------------------===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_POST_H
#define DLC_RUNTIME_LIBRARY_SIMD_POST_H

#include "runtime/epilogue/EpilogueOps.h"

#include <cstdint>

namespace dlc::simd {

struct Matrix {
  const float *data = nullptr;
  int64_t row = 0, column = 0; ///< strides in elements
};

enum class PostOpKind {
  Activate,
#define BINARY(enumerator, ...)
#define OWN_BINARY(enumerator, ...) enumerator,
#include "runtime/epilogue/EpilogueOps.def"
  Sum
};

struct PostOp {
  PostOpKind kind = PostOpKind::Activate;
  Activation activation = Activation::Relu;
  /// Parameters of the activation; for Sum, alpha is the factor of the old result.
  float alpha = 0, beta = 0;
  Matrix operand; ///< second operand of binary ops; a stride of 0 broadcasts
};

constexpr int kMaxPosts = 6;

/// Epilogue of a matmul, which computes the results from the sums: dst = posts(scale · sum + bias).
struct Epilogue {
  float scale = 1;
  const float *bias = nullptr;
  PostOp posts[kMaxPosts];
  int count = 0;
};

/// Prologue of a matmul: changes an operand's elements while they are packed. An element x in a row
/// and a column of memory becomes e(x - shift[row]) · factor[row], where e is the exponential or
/// the identity. If hot[row] is the column, `value` is added. A step of 0 uses one shift or factor
/// for all rows.
struct Prologue {
  bool exponential = false;
  const float *shift = nullptr, *factor = nullptr;
  int64_t shiftStep = 0, factorStep = 0;
  const int64_t *hot = nullptr;
  float value = 0;
};

} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_POST_H
