//===- Dimensions.h - permuted and split ----------------------------------===//
#ifndef DLC_PASSES_DIMENSIONS_H
#define DLC_PASSES_DIMENSIONS_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace dlc {

llvm::SmallVector<int64_t> inverseOf(llvm::ArrayRef<int64_t> permutation);

/// A shape that broadcasts against one of as many dimensions as the permutation has, permuted as
/// that one is.
llvm::SmallVector<int64_t> permutedAlike(llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<int64_t> permutation);

/// For each dimension of `from`, the run of dimensions of `to` that it splits into; nothing when
/// some dimension of `to` holds parts of two. Unit dimensions of `to` go with the dimension before
/// them.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>>
splitGroups(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace dlc

#endif // DLC_PASSES_DIMENSIONS_H
