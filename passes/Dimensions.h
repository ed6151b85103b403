//===- Dimensions.h - permutations and splits of dimensions ---------------===//
#ifndef DLC_PASSES_DIMENSIONS_H
#define DLC_PASSES_DIMENSIONS_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace dlc {

llvm::SmallVector<int64_t> invertPermutation(llvm::ArrayRef<int64_t> permutation);

/// Permutes a shape that broadcasts against a tensor whose dimensions are permuted: extends `shape`
/// with leading 1s to the rank of the permutation, then applies the permutation.
llvm::SmallVector<int64_t> permuteBroadcastShape(llvm::ArrayRef<int64_t> shape,
                                                 llvm::ArrayRef<int64_t> permutation);

/// Matches a reshape that splits dimensions. Returns, for each dimension of `from`, the consecutive
/// dimensions of `to` into which it is split, or nullopt if a dimension of `to` combines elements
/// of two dimensions of `from`. Unit dimensions of `to` are assigned to the preceding dimension.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>>
splitGroups(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace dlc

#endif // DLC_PASSES_DIMENSIONS_H
