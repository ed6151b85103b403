//===- TransposeReorders.h - reorders without blocks as transpositions ----===//
#ifndef DLC_PASSES_FUSE_TRANSPOSEREORDERS_H
#define DLC_PASSES_FUSE_TRANSPOSEREORDERS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// What the reorder gives as a transposition of what lies in memory, in a dlc.fusion of its own
/// between views that move nothing: generated code competes for it with libraries. Null where a
/// layout has blocks.
mlir::Value transposeReorder(mlir::OpBuilder &builder, ReorderOp op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_TRANSPOSEREORDERS_H
