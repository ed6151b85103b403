//===- Bytes.h - contractions of 8-bit integers for tensor cores ----------===//
#ifndef DLC_CODEGEN_CUDA_BYTES_H
#define DLC_CODEGEN_CUDA_BYTES_H

#include "ir/dlc/Dialect.h"

#include <array>
#include <optional>

namespace dlc::cuda {

/// An operand of a contraction of integers.
struct ByteOperand {
  mlir::Value x;         ///< i8 or ui8
  mlir::Value zeroPoint; ///< in x's type or i32, one element; null: 0
  /// Whether elements outside the image have the value of the zero point, which must be
  /// representable in x's type.
  bool isPadded = false;
};
using ByteOperands = std::array<ByteOperand, 2>;

/// Returns both operands of a contraction in a fusion if products of 8-bit integers can replace its
/// i32 products.
std::optional<ByteOperands> byteOperandsOf(mlir::Operation *contraction);

} // namespace dlc::cuda
#endif
