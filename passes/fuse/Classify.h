//===- Classify.h - what an operation is to fusion ------------------------===//
#ifndef DLC_PASSES_FUSE_CLASSIFY_H
#define DLC_PASSES_FUSE_CLASSIFY_H

#include "passes/TensorBuilder.h"

namespace dlc {

enum class NodeClass {
  Constant,    // no work
  Alias,       // the same bytes under another type: no kernel when it stands alone
  Map,         // each result element from some operand elements
  Reduce,      // many elements into one
  Contraction, // matmul, conv, conv_transpose, conv_weight_grad
  Pool,        // pools and their gradients
  Opaque       // its own command, or control flow, or not ours
};

NodeClass classify(mlir::Operation *op);

/// Whether the result lies in the operand's memory in order: reshape, slices along the outermost
/// dimension, rows by a loop's iteration (and that one's arithmetic).
bool isAlias(mlir::Operation *op);
/// Whether a concatenation can be written in place: nothing but unit dimensions lies before its
/// axis in memory.
bool isContiguousConcat(ConcatOp op);
/// Whether it is: in a layout only where what makes its parts writes most of it there, since no
/// kernel joins in.
bool isWrittenInPlace(ConcatOp op);

/// Whether neighbours in memory may be of two parts.
bool joinsInnermost(ConcatOp op);
/// Whether a row has single elements of each part in turn, of two or four or so: lanes along the
/// dimension before are lanes of each part, which are then interleaved.
bool takesTurns(ConcatOp op);

/// Operations that move elements and compute nothing.
bool isMovement(mlir::Operation *op);
/// Whether each result element comes from the operand elements at its own (broadcast) index.
bool isElementwise(mlir::Operation *op);
/// Whether vectors along the result's innermost dimension are vectors of the operand (or splats).
bool keepsInnermost(mlir::Operation *op);
/// Elements of a step up to this come with the registers that hold them; farther ones one by one.
constexpr int64_t kNearStep = 4;
/// Whether vectors along the result's innermost dimension come from few vectors of the operand: its
/// own, those that hold elements of a small step, or runs of lanes along two dimensions.
bool keepsVectors(mlir::Operation *op);

/// Bytes of a static tensor, a large number for a dynamic one.
int64_t bytesOf(mlir::Type type);

} // namespace dlc

#endif // DLC_PASSES_FUSE_CLASSIFY_H
