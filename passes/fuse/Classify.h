//===- Classify.h - classifies operations for fusion ----------------------===//
#ifndef DLC_PASSES_FUSE_CLASSIFY_H
#define DLC_PASSES_FUSE_CLASSIFY_H

#include "passes/TensorBuilder.h"

namespace dlc {

enum class NodeClass {
  Constant,    // no work at run time
  Alias,       // the operand's bytes under another type: needs no kernel unless it is fused
  Map,         // each result element depends on a few operand elements
  Reduce,      // many elements are reduced to one
  Contraction, // matmul, conv, conv_transpose, conv_weight_grad
  Pool,        // pools and their gradients
  Opaque       // runs as a command of its own, is control flow, or is not a dlc operation
};

NodeClass classify(mlir::Operation *op);

/// Whether the result shares the operand's memory in the same order: reshapes, slices along the
/// outermost dimension, rows selected by a loop's iteration (and the arithmetic on this iteration).
bool isAlias(mlir::Operation *op);
/// Whether a concatenation can be written in place: all dimensions that precede its axis in memory
/// have size 1.
bool isContiguousConcat(ConcatOp op);
/// Whether a concatenation is written in place. If it is not row-major, it is written in place only
/// if its producers write at least half of its bytes directly, because it cannot be fused with
/// other operations.
bool isWrittenInPlace(ConcatOp op);

/// Whether elements that are adjacent in memory may belong to different parts.
bool joinsInnermost(ConcatOp op);
/// Whether the concatenation interleaves single elements of its parts along the innermost
/// dimension, and the number of parts is a power of two. Generated code then computes a vector
/// along the preceding dimension for each part, and interleaves these vectors.
bool interleavesElements(ConcatOp op);

/// Whether the operation moves elements and computes nothing.
bool isMovement(mlir::Operation *op);
/// Whether each result element depends on the operand elements at its own (broadcast) index.
bool isElementwise(mlir::Operation *op);
/// Whether vectors along the result's innermost dimension are vectors of the operand, or splats.
bool keepsInnermost(mlir::Operation *op);
/// Largest stride for which elements are selected from contiguous vectors. Elements at larger
/// strides are loaded one by one.
constexpr int64_t kNearStep = 4;
/// Whether vectors along the result's innermost dimension are computed from few vectors of the
/// operand: vectors of its own innermost dimension, vectors that contain the elements of a small
/// stride, or runs of lanes along two dimensions.
bool preservesVectors(mlir::Operation *op);

/// Size in bytes of a static tensor; a large number for a dynamic one.
int64_t bytesOf(mlir::Type type);

} // namespace dlc

#endif // DLC_PASSES_FUSE_CLASSIFY_H
