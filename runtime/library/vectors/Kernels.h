//===- Kernels.h - what a processor's vectors do in a product --------------------===//
//
// Shared with code compiled for one processor alone: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_KERNELS_H
#define DLC_RUNTIME_LIBRARY_VECTORS_KERNELS_H

#include "runtime/library/products/Panel.h"

namespace dlc::vectors {

/// One processor's functions.
struct Kernels {
  int64_t lanes; ///< numbers in a vector; blocks of the right operand have two vectors of columns
  int64_t mostRows; ///< of a block of the left operand
  products::Pack pack;
  products::PackNarrow packNarrow;
  products::Narrow narrow;
  products::Sums sums;
  void (*multiply)(const products::Panel &panel, const products::Epilogue &epilogue);
  const products::Strassen *strassen;
};

const Kernels &avx2Kernels();
const Kernels &avx512Kernels();

} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_KERNELS_H
