//===- TransposeReorders.h - reorders without blocks as transpositions ----===//
#ifndef DLC_PASSES_FUSE_TRANSPOSEREORDERS_H
#define DLC_PASSES_FUSE_TRANSPOSEREORDERS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// What the reorder gives as a transposition of what lies in memory, between views that move
/// nothing; a view alone where that moves nothing either. Null where a layout has blocks. `alone`:
/// in a dlc.fusion of its own, so that generated code competes for it with libraries.
mlir::Value transposeReorder(mlir::OpBuilder &builder, ReorderOp op, bool alone = true);

} // namespace dlc

#endif // DLC_PASSES_FUSE_TRANSPOSEREORDERS_H
