//===- Tag.h - layout tags such as aBcd16b --------------------------------===//
#ifndef DLC_PASSES_LAYOUT_TAG_H
#define DLC_PASSES_LAYOUT_TAG_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Parsed layout tag such as aBcd16b, with at most one blocked dimension. Layouts with more blocked
/// dimensions are not propagated through a graph.
struct Tag {
  llvm::SmallVector<int64_t> order; // dimensions, outermost first
  int64_t blockedDim = -1, block = 1;

  static std::optional<Tag> parse(llvm::StringRef tag);
};

/// Returns the same tensor type in the layout `tag`.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, llvm::StringRef tag);

/// Normalizes a layout tag: returns an empty string for the row-major order, such as "abcd", and
/// `tag` otherwise.
std::string normalizeTag(llvm::StringRef tag);

/// Returns whether the layout adds padding to a tensor of this shape, because the blocked dimension
/// is not a multiple of the block size.
bool hasPartialBlock(llvm::ArrayRef<int64_t> shape, llvm::StringRef tag);

/// Returns whether a row-major tensor that broadcasts against a tensor of `rank` dimensions has the
/// same memory order in the layout `tag`. Examples: scalars, per-channel values, and [N, C, 1, 1]
/// if C is a multiple of the block size.
bool hasSameMemoryOrder(llvm::ArrayRef<int64_t> shape, int64_t rank, llvm::StringRef tag);

/// Returns the dimensions of a tensor in memory order, outermost first, or nullopt for blocked
/// layouts.
std::optional<llvm::SmallVector<int64_t>> memoryOrder(mlir::RankedTensorType type);

/// Returns whether a transpose from x to y by `permutation`, in the layouts of these types, moves
/// no element in memory. False if a layout has blocks.
bool preservesMemoryOrder(mlir::RankedTensorType x, llvm::ArrayRef<int64_t> permutation,
                          mlir::RankedTensorType y);

/// Returns whether changing the type of a tensor from `from` to `to`, which differ only in layout,
/// moves no element in memory.
bool isSameInMemory(mlir::RankedTensorType from, mlir::RankedTensorType to);

/// Returns the layout of [N, C, spatial..] that stores the channels last, for 3 to 5 dimensions.
/// Tensors of another rank have the row-major layout.
llvm::StringRef getChannelsLastTag(int64_t rank);

/// Returns whether the slice selects, of each dimension, either one index or all indices, and all
/// indices of the blocked dimension. Such a slice does not depend on the layout.
bool slicesWholeUnits(SliceOp op, int64_t blockedDim);

/// Returns whether a slice of a tensor in this layout selects contiguous indices and whole blocks.
/// Such a slice copies whole blocks in memory order, and its result has the same layout.
bool slicesAlongBlocks(SliceOp op, llvm::StringRef tag);

/// Returns whether a gather selects indices of a dimension that is not blocked, in a tensor without
/// padding. Its result then has the same layout.
bool gathersBlocks(GatherOp op, llvm::StringRef tag);

/// Returns whether all dimensions that precede `axis` in memory order have size 1, so that slices
/// along `axis` are contiguous.
bool isOutermost(mlir::RankedTensorType type, int64_t axis);

/// Returns the offset of the slice's first element in x if the slice is one contiguous run of
/// memory, otherwise nullopt.
std::optional<int64_t> contiguousSliceOffset(SliceOp op);

/// Returns whether a reduction of [N, C, spatial..] covers all spatial dimensions and optionally N,
/// or all dimensions.
bool reducesSpatialDims(ReduceOp op, int64_t rank);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_TAG_H
