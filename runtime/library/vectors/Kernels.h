//===- Kernels.h - table of the vector kernels for matmuls ----------------===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_KERNELS_H
#define DLC_RUNTIME_LIBRARY_VECTORS_KERNELS_H

#include "runtime/library/products/Panel.h"

namespace dlc::vectors {

/// Matmul kernels compiled for one instruction set.
struct Kernels {
  int64_t lanes;   ///< f32 in a vector; a block of the right operand has two vectors of columns
  int64_t maxRows; ///< maximum number of rows of a block of the left operand
  products::Pack pack;
  products::PackNarrow packNarrow;
  products::Narrow narrow;
  products::Sums sums;
  void (*multiply)(const products::PanelArguments &panel, const products::Epilogue &epilogue);
  const products::StrassenTable *strassen;
};

const Kernels &avx2MatmulKernels();
const Kernels &avx512MatmulKernels();
const Kernels &scalarMatmulKernels();

} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_KERNELS_H
