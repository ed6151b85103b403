//===- Index.h - PyTorch's indexing by tensors ----------------------------===//
#ifndef DLC_FRONTEND_ATEN_INDEX_H
#define DLC_FRONTEND_ATEN_INDEX_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// x[.., i, .., j, ..], as tuples into x with its indexed dimensions first.
struct Indexed {
  /// [shape.., axes.size()]
  Value tuples;
  /// What the indices broadcast to.
  Dims shape;
  /// The indexed dimensions.
  Dims axes;
  /// The permutation that puts them first.
  Dims order;
  /// Among x's other dimensions, before which one `shape` stands in the result.
  int64_t place = 0;
};

/// Of the argument "indices".
Indexed indexedOf(Node &n, Build &b, Value x);

/// Indices that each vary along a dimension of their own, in the order of the indexed dimensions,
/// which are adjacent: one dimension of x after the other. An image is so resized.
struct Apart {
  /// Each [extent], and the dimension of x that it counts in.
  std::vector<std::pair<Value, int64_t>> indices;
};

std::optional<Apart> apart(Node &n, Build &b, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_INDEX_H
