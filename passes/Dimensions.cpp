//===- Dimensions.cpp - permutations and splits of dimensions -------------===//
#include "passes/Dimensions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dlc {

SmallVector<int64_t> invertPermutation(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, from] : llvm::enumerate(permutation))
    inverse[from] = i;
  return inverse;
}

SmallVector<int64_t> permuteBroadcastShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> aligned(permutation.size() - shape.size(), 1), permuted;
  llvm::append_range(aligned, shape);
  for (int64_t d : permutation)
    permuted.push_back(aligned[d]);
  return permuted;
}

std::optional<SmallVector<SmallVector<int64_t>>> splitGroups(ArrayRef<int64_t> from,
                                                             ArrayRef<int64_t> to) {
  SmallVector<SmallVector<int64_t>> groups(from.size());
  size_t next = 0;
  for (auto [d, size] : llvm::enumerate(from)) {
    if (size == 0)
      return std::nullopt;
    int64_t product = 1;
    // A dimension of size 1 in `from` corresponds to a separate unit dimension of `to`.
    if (size == 1) {
      if (next < to.size() && to[next] == 1)
        groups[d].push_back(next++);
      else
        return std::nullopt;
      continue;
    }
    while (next < to.size() && product < size) {
      product *= to[next];
      groups[d].push_back(next++);
    }
    if (product != size)
      return std::nullopt;
  }
  for (; next < to.size(); ++next) {
    if (to[next] != 1 || groups.empty())
      return std::nullopt;
    groups.back().push_back(next);
  }
  return groups;
}

} // namespace dlc
