//===- Tag.h - layout tags such as aBcd16b --------------------------------===//
#ifndef DLC_PASSES_LAYOUT_TAG_H
#define DLC_PASSES_LAYOUT_TAG_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// A layout with at most one blocked dimension. Other layouts are not propagated through a graph.
struct Tag {
  llvm::SmallVector<int64_t> order; // dimensions, outermost first
  int64_t blockedDim = -1, block = 1;

  static std::optional<Tag> parse(llvm::StringRef tag);
};

/// The same type in another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, llvm::StringRef tag);

/// Returns an empty string for the row-major order, such as "abcd", and `tag` otherwise.
std::string normalTag(llvm::StringRef tag);

/// Whether the layout adds padding to a tensor of this shape: the blocked dimension is not a
/// multiple of the block size.
bool padsBlocks(llvm::ArrayRef<int64_t> shape, llvm::StringRef tag);

/// Whether a row-major tensor has the same memory order in the layout `tag`, when it broadcasts
/// against a tensor of `rank` dimensions. Examples: scalars, per-channel values, and [N, C, 1, 1]
/// if C is a multiple of the block size.
bool hasSameMemoryOrder(llvm::ArrayRef<int64_t> shape, int64_t rank, llvm::StringRef tag);

/// Dimensions in memory order, outermost first. Returns nullopt for blocked layouts.
std::optional<llvm::SmallVector<int64_t>> memoryOrder(mlir::RankedTensorType type);

/// Whether permuting the dimensions of x moves no element in memory, with x and y in the layouts of
/// these types. False if a layout has blocks.
bool preservesMemoryOrder(mlir::RankedTensorType x, llvm::ArrayRef<int64_t> permutation,
                          mlir::RankedTensorType y);

/// Whether changing the type of a tensor from `from` to `to`, which differ only in layout, moves no
/// element in memory.
bool isSameInMemory(mlir::RankedTensorType from, mlir::RankedTensorType to);

/// Returns the layout of [N, C, spatial..] that stores the channels last, for 3 to 5 dimensions.
/// Tensors of another rank have the row-major layout.
llvm::StringRef channelsLast(int64_t rank);

/// Whether the slice takes either one index or all indices of each dimension, and all indices of
/// the blocked one, so that it is independent of the layout.
bool slicesWhole(SliceOp op, int64_t blockedDim);

/// Whether a slice of a tensor in this layout takes contiguous indices and whole blocks. It is then
/// a slice of the memory, and its result has the same layout.
bool slicesBlocks(SliceOp op, llvm::StringRef tag);

/// Whether a gather selects indices of a dimension that is not blocked, in a tensor without
/// padding. Its result then has the same layout.
bool gathersBlocks(GatherOp op, llvm::StringRef tag);

/// Whether all dimensions outside of `axis` in memory have size 1, so that parts along `axis` are
/// contiguous.
bool isOutermost(mlir::RankedTensorType type, int64_t axis);

/// If the slice takes one contiguous run of the memory of x, returns the offset of its first
/// element.
std::optional<int64_t> runStart(SliceOp op);

/// Whether a reduction of [N, C, spatial..] covers all spatial dimensions and optionally N, or all
/// dimensions.
bool reducesImages(ReduceOp op, int64_t rank);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_TAG_H
