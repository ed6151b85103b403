//===- Indices.h - index tuples of gathers and scatters ------------------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_SHAPE_INDICES_H
#define DLC_FRONTEND_MLIR_STABLEHLO_SHAPE_INDICES_H

#include "frontend/mlir/stablehlo/Node.h"

namespace dlc::stablehlo {

/// One dimension of the operand that gather_nd or scatter_nd indexes.
struct IndexedDim {
  int64_t dim;       ///< dimension of the operand
  int64_t size;      ///< size of the slice along `dim`
  int64_t component; ///< component of the index vector; -1: no component, the slice starts at 0
  int64_t batch;     ///< batch dimension whose index is the operand's index; -1: none
};

/// Index vectors of a gather or a scatter, transposed so that the vectors are the last dimension:
/// [batch.., k].
class IndexVectors {
public:
  IndexVectors(Build &b, Value indices, int64_t vectorDim);
  Value all;
  Dims batch; ///< sizes of the batch dimensions
  /// Converts a dimension of the original indices, which is not the vector dimension, to the index
  /// of a batch dimension.
  int64_t batchDim(int64_t dim) const { return dim > vectorDim ? dim - 1 : dim; }
  /// Returns component i of all index vectors, as a tensor of shape `batch`.
  Value component(Build &b, int64_t i) const;

private:
  int64_t vectorDim;
};

/// Returns one index tuple for each element of each slice. The result's shape is [batch.., slice
/// sizes above 1.., dims.size()]. `starts[i]` has shape `batch` and is the start of the slices
/// along dims[i]; it is null if dims[i] has no component.
Value indexTuples(Build &b, ArrayRef<int64_t> batch, ArrayRef<IndexedDim> dims,
                  ArrayRef<Value> starts);

/// Returns the dimensions in [0, rank) that are in none of the lists.
Dims otherDims(int64_t rank, ArrayRef<ArrayRef<int64_t>> lists);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_SHAPE_INDICES_H
