//===- ScaledBlocks.h - block-scaled weights of 8 bits or fewer -----------===//
//
//   numbers [n, blocks, depth] -> cast -> - zero -> * scale -> reshape -> slice -> [n, k]
//
// This sequence of operations dequantizes weights that have one scale for each block of `depth`
// elements along k. Kernels match it and read the quantized values directly.
// passes/quantize/Blocks.cpp builds it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_SCALEDBLOCKS_H
#define DLC_PASSES_SCALEDBLOCKS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Attribute of a matmul: the kernel may quantize the left operand to this type ("int8"), in blocks
/// along k.
constexpr llvm::StringLiteral kActivationsAttr = "dlc.activations";

/// Attribute of a matmul whose right operand is dequantized as above: its kernel reads the
/// quantized values.
constexpr llvm::StringLiteral kBlocksAttr = "dlc.weights_in_blocks";

struct ScaledBlocks {
  mlir::Value numbers; ///< quantized values, i8 [n, blocks, depth]
  mlir::Value scale;   ///< scales, f32 [n, blocks, 1]
  mlir::Value zero;    ///< zero points, [n, blocks, 1], as f32, or as the i32 value that is cast to
                       ///< f32; null if there are none
  int64_t k = 0;
  /// The matched operations, from the last to the first.
  llvm::SmallVector<mlir::Operation *, 6> ops;

  int64_t n() const { return shapeOf(numbers)[0]; }
  int64_t blocks() const { return shapeOf(numbers)[1]; }
  int64_t depth() const { return shapeOf(numbers)[2]; }
};

/// Matches the right operand [n, k] of a matmul with kBlocksAttr. Returns nullopt for all other
/// operations.
std::optional<ScaledBlocks> keptBlocksOf(mlir::Operation *product);
/// Whether the cast belongs to such a sequence, so that a matmul reads the quantized values that it
/// converts.
bool makesKeptBlocks(CastOp cast);

} // namespace dlc

#endif // DLC_PASSES_SCALEDBLOCKS_H
