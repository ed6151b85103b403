//===- Tag.h - layout tags such as aBcd16b --------------------------------===//
#ifndef DLC_PASSES_LAYOUT_TAG_H
#define DLC_PASSES_LAYOUT_TAG_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// A layout with at most one blocked dimension; others are not followed through a graph.
struct Tag {
  llvm::SmallVector<int64_t> order; // dimensions, outermost first
  int64_t blockedDim = -1, block = 1;

  static std::optional<Tag> parse(llvm::StringRef tag);
};

/// The type in another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, llvm::StringRef tag);

/// "abcd" is written as nothing.
std::string normalTag(llvm::StringRef tag);

/// Whether a layout leaves holes in a tensor: its blocked dimension is no multiple of the block.
bool padsBlocks(llvm::ArrayRef<int64_t> shape, llvm::StringRef tag);

/// Whether a row-major tensor that broadcasts against one of `rank` dimensions in layout `tag` lies
/// in memory as that layout would have it: scalars, per-channel values, [N, C, 1, 1] with whole
/// blocks.
bool readsAlike(llvm::ArrayRef<int64_t> shape, int64_t rank, llvm::StringRef tag);

/// Dimensions, outermost in memory first; nothing of blocked layouts.
std::optional<llvm::SmallVector<int64_t>> memoryOrder(mlir::RankedTensorType type);

/// Whether permuting x's dimensions leaves every element where it is, x and y being in these
/// layouts, without blocks.
bool keepsMemory(mlir::RankedTensorType x, llvm::ArrayRef<int64_t> permutation,
                 mlir::RankedTensorType y);

/// Whether every element is where it was when a tensor changes from one of these types to the
/// other, which differ in layout alone.
bool isSameInMemory(mlir::RankedTensorType from, mlir::RankedTensorType to);

/// Returns the layout of [N, C, spatial..] that stores the channels last, for 3 to 5 dimensions.
/// Tensors of another rank have the plain layout.
llvm::StringRef channelsLast(int64_t rank);

/// Whether a slice takes all or one of each dimension, and all of the blocked one: the result is
/// read alike in any layout.
bool slicesWhole(SliceOp op, int64_t blockedDim);

/// Whether neighbours, in whole blocks, are what a slice of a tensor in this layout takes: they are
/// a slice of what lies in memory, and the result has the layout, too.
bool slicesBlocks(SliceOp op, llvm::StringRef tag);

/// Whether a gather takes places of one dimension, with whole blocks of the others: the result has
/// the layout, too.
bool gathersBlocks(GatherOp op, llvm::StringRef tag);

/// Whether nothing but dimensions of size 1 lies before this one in memory: parts along it are
/// runs.
bool isOutermost(mlir::RankedTensorType type, int64_t axis);

/// The element of x, as they lie in memory, at which a slice starts that is one run of them.
std::optional<int64_t> runStart(SliceOp op);

/// Whether a reduction of [N, C, spatial..] is over all spatial dimensions, and N perhaps, or over
/// all that there is.
bool reducesImages(ReduceOp op, int64_t rank);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_TAG_H
