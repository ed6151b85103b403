//===- Cumulative.h - running sums of f32 columns, many columns at a time -===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVE_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVE_H

#include <stdint.h>

namespace dlc::runtime::builtin {

/// Adjacent columns of f32. The running sum or product of each column is an f64.
struct CumulativeColumns {
  int64_t width; ///< number of columns
  int64_t steps; ///< number of elements of a column
  int64_t pitch; ///< stride between two elements of a column; negative for a reverse scan
  bool product, exclusive;
};

struct CumulativeKernels {
  int64_t together; ///< number of columns in a pass; more columns take several passes
  void (*columns)(const CumulativeColumns &, const float *src, float *dst);
};

extern const CumulativeKernels cumulativeScalar, cumulativeAvx2, cumulativeAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVE_H
