//===- Bytes.h - contractions of integers of 8 bits, as tensor cores take them ===//
#ifndef DLC_CODEGEN_CUDA_BYTES_H
#define DLC_CODEGEN_CUDA_BYTES_H

#include "ir/dlc/Dialect.h"

#include <array>
#include <optional>

namespace dlc::cuda {

/// An operand of a contraction in i32: cast(x) - zero point.
struct ByteOperand {
  mlir::Value x;         ///< i8 or ui8
  mlir::Value zeroPoint; ///< i32, one element; null: 0
  /// What lies outside the image is the zero point, which is one of x's integers.
  bool isPadded = false;
};
using ByteOperands = std::array<ByteOperand, 2>;

/// Of a contraction within a fusion: both operands, if products of 8 bits can take the place of
/// those of i32.
std::optional<ByteOperands> byteOperandsOf(mlir::Operation *contraction);

} // namespace dlc::cuda
#endif
