//===- TransposeReorders.h - reorders between layouts without blocks as transpositions ----===//
#ifndef DLC_PASSES_FUSE_LAYOUTS_TRANSPOSEREORDERS_H
#define DLC_PASSES_FUSE_LAYOUTS_TRANSPOSEREORDERS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Expresses the result of a reorder as a transposition of the data in memory, between views that
/// move no data. The result is a view only if the transposition moves no data either. Returns null
/// if a layout has blocks. With `alone`, the transposition becomes a separate dlc.fusion, for which
/// generated code and libraries are candidates.
mlir::Value reorderToTranspose(mlir::OpBuilder &builder, ReorderOp op, bool alone = true);

} // namespace dlc

#endif // DLC_PASSES_FUSE_LAYOUTS_TRANSPOSEREORDERS_H
