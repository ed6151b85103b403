//===- ScaledBlocks.h - weights of few bits in blocks with scales -----------===//
//
//   numbers [n, blocks, depth] -> cast -> - zero -> * scale -> reshape -> slice -> [n, k]
//
// The form of weights whose few bits a kernel reads; passes/quantize/Blocks.cpp makes it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_SCALEDBLOCKS_H
#define DLC_PASSES_SCALEDBLOCKS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// On a product: its left operand may be rounded to "int8" in blocks.
constexpr llvm::StringLiteral kActivationsAttr = "dlc.activations";

/// On a product: its right operand is in this form, and its kernel reads the few bits.
constexpr llvm::StringLiteral kBlocksAttr = "dlc.weights_in_blocks";

struct ScaledBlocks {
  mlir::Value numbers; ///< i8 [n, blocks, depth]
  mlir::Value scale;   ///< f32 [n, blocks, 1]
  mlir::Value zero;    ///< [n, blocks, 1], f32, or i32 before it is made; null: none
  int64_t k = 0;
  /// From the last one backwards.
  llvm::SmallVector<mlir::Operation *, 6> ops;

  int64_t n() const { return shapeOf(numbers)[0]; }
  int64_t blocks() const { return shapeOf(numbers)[1]; }
  int64_t depth() const { return shapeOf(numbers)[2]; }
};

/// Reads the right operand [n, k] of a product with kBlocksAttr; nothing for other operations.
std::optional<ScaledBlocks> keptBlocksOf(mlir::Operation *product);
/// Whether the cast makes f32 of such numbers for products that read the few bits.
bool makesKeptBlocks(CastOp cast);

} // namespace dlc

#endif // DLC_PASSES_SCALEDBLOCKS_H
