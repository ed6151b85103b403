//===- Index.h - advanced indexing as in PyTorch --------------------------===//
#ifndef DLC_FRONTEND_ATEN_INDEX_H
#define DLC_FRONTEND_ATEN_INDEX_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Advanced indexing x[.., i, .., j, ..], lowered to index tuples into x with the indexed
/// dimensions transposed to the front.
struct Indexed {
  /// The tuples, of shape [shape.., axes.size()].
  Value tuples;
  /// The shape to which the index tensors broadcast.
  Dims shape;
  /// Indices of x's indexed dimensions.
  Dims axes;
  /// The permutation of x's dimensions that moves the indexed dimensions to the front.
  Dims order;
  /// Position of `shape` in the result: the number of x's other dimensions that precede it.
  int64_t place = 0;
};

/// Reads the argument "indices".
Indexed indexedOf(Node &n, Build &b, Value x);

/// Indices that vary each along its own dimension, in the order of the indexed dimensions, which
/// are adjacent. They can be applied to one dimension of x after the other. Image resizing is
/// written in this way.
struct SeparateIndices {
  /// Each index vector [extent] with the dimension of x that it indexes.
  std::vector<std::pair<Value, int64_t>> indices;
};

std::optional<SeparateIndices> separateIndices(Node &n, Build &b, Value x);

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_INDEX_H
