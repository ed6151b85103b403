//===- Bytes.h - contractions of 8-bit integers for tensor cores ----------===//
#ifndef DLC_CODEGEN_CUDA_CONTRACT_BYTES_H
#define DLC_CODEGEN_CUDA_CONTRACT_BYTES_H

#include "ir/dlc/Dialect.h"

#include <array>
#include <optional>

namespace dlc::cuda {

/// Operand of a matmul or convolution of 8-bit integers.
struct ByteOperand {
  mlir::Value x;         ///< tensor operand with elements of type i8 or ui8
  mlir::Value zeroPoint; ///< single-element zero point of x, in x's type or i32; null means 0
  /// Whether elements in the padding of an image have the value of the zero point instead of 0. The
  /// zero point must be representable in x's type.
  bool isPadded = false;
};
using ByteOperands = std::array<ByteOperand, 2>;

/// Returns both operands of a contraction in a fusion if its i32 products can be computed as
/// products of 8-bit integers.
std::optional<ByteOperands> matchByteOperands(mlir::Operation *contraction);

} // namespace dlc::cuda
#endif
