//===- Index.h - advanced indexing as in PyTorch --------------------------===//
#ifndef DLC_FRONTEND_ATEN_SHAPE_INDEX_H
#define DLC_FRONTEND_ATEN_SHAPE_INDEX_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Advanced indexing x[.., i, .., j, ..] as a gather of index tuples from x, with the indexed
/// dimensions of x transposed to the front.
struct AdvancedIndexing {
  /// The index tuples, of shape [shape.., axes.size()].
  Value tuples;
  /// The shape to which all index tensors are broadcast.
  Dims shape;
  /// The dimensions of x that are indexed.
  Dims axes;
  /// The permutation that moves the indexed dimensions of x to the front.
  Dims order;
  /// Position at which the dimensions of `shape` are inserted into the result.
  int64_t place = 0;
};

/// Reads the argument "indices" of an advanced-indexing operator on x. Index tensors are broadcast
/// to a common shape.
AdvancedIndexing readAdvancedIndexing(Node &n, Build &b, Value x);

/// Separable advanced indexing: each index tensor varies along its own result dimension only, and
/// the indexed dimensions of x are adjacent. It is equivalent to one gather per dimension.
/// PyTorch's image resizing is traced in this form.
struct SeparableIndexing {
  /// Each index vector, flattened to [extent], with the dimension of x that it indexes.
  std::vector<std::pair<Value, int64_t>> indices;
};

std::optional<SeparableIndexing> readSeparableIndexing(Node &n, Build &b, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_SHAPE_INDEX_H
