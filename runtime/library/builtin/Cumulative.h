//===- Cumulative.h - running sums of columns, many at a time -----------------===//
//
// Shared with code compiled for one kind of processor: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVE_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVE_H

#include <stdint.h>

namespace dlc::runtime::builtin {

/// Columns of f32 that lie side by side; what has been gathered of each is an f64.
struct CumulativeColumns {
  int64_t width; ///< so many columns
  int64_t steps; ///< of so many elements
  int64_t pitch; ///< from an element to the next one of its column, which may be the one above it
  bool product, exclusive;
};

struct CumulativeKernels {
  int64_t together; ///< columns; more come in several walks
  void (*columns)(const CumulativeColumns &, const float *src, float *dst);
};

extern const CumulativeKernels cumulativeAvx2, cumulativeAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVE_H
