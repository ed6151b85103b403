//===- Classify.h - classifies operations for fusion ----------------------===//
#ifndef DLC_PASSES_FUSE_ANALYSIS_CLASSIFY_H
#define DLC_PASSES_FUSE_ANALYSIS_CLASSIFY_H

#include "passes/TensorBuilder.h"

namespace dlc {

enum class NodeClass {
  Constant,    // constants: no work at run time
  Alias,       // result shares the operand's memory: needs no kernel unless it is fused
  Map,         // each result element depends on a few operand elements
  Reduce,      // many elements are reduced to one
  Contraction, // matmul, conv, conv_transpose, conv_weight_grad
  Pool,        // pools and their gradients
  Opaque       // runs as a command of its own, is control flow, or is not a dlc operation
};

NodeClass classify(mlir::Operation *op);

/// Returns whether the result shares the operand's memory in the same order: reshapes, slices along
/// the outermost dimension, rows selected by a loop's iteration number (and the index arithmetic on
/// this number).
bool isAlias(mlir::Operation *op);
/// Returns whether the operands of a concatenation are contiguous parts of the result, so that they
/// can be written in place: all dimensions that precede the axis in memory have size 1.
bool isContiguousConcat(ConcatOp op);
/// Returns whether the operands of a concatenation are written in place into the result. If the
/// result is not row-major, they are written in place only if their producers write at least half
/// of its bytes directly, because the concatenation then cannot be fused with other operations.
bool isInPlaceConcat(ConcatOp op);

/// Returns whether the concatenation has several operands along the innermost dimension, so that
/// elements that are adjacent in memory may be from different operands.
bool concatenatesInnermostDim(ConcatOp op);
/// Returns whether the concatenation interleaves single elements of its operands along the
/// innermost dimension, and the number of operands is a power of two. Generated code then computes
/// a vector along the preceding dimension for each operand, and interleaves these vectors.
bool isInterleavingConcat(ConcatOp op);

/// Returns whether the operation only moves elements and computes nothing.
bool isMovement(mlir::Operation *op);
/// Returns whether each result element depends only on the operand elements at the same (broadcast)
/// index.
bool isElementwise(mlir::Operation *op);
/// Returns whether each vector along the result's innermost dimension is a vector along the
/// operand's innermost dimension, or a splat.
bool preservesInnermostDim(mlir::Operation *op);
/// Largest stride for which strided elements are loaded as contiguous vectors and selected by
/// shuffles. Elements at larger strides are loaded one by one.
constexpr int64_t kNearStep = 4;
/// Returns whether vectors along the result's innermost dimension are computed from few vectors of
/// the operand: vectors along its innermost dimension, vectors that contain the elements of a small
/// stride, or runs of vector lanes along two dimensions.
bool preservesVectorization(mlir::Operation *op);

/// Returns the size in bytes of a static tensor, or a large number for a dynamic one.
int64_t bytesOf(mlir::Type type);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ANALYSIS_CLASSIFY_H
