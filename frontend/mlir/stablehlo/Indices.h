//===- Indices.h - index tuples of gathers and scatters ------------------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_INDICES_H
#define DLC_FRONTEND_MLIR_STABLEHLO_INDICES_H

#include "frontend/mlir/stablehlo/Node.h"

namespace dlc::stablehlo {

/// Dimension of the operand that gather_nd or scatter_nd indexes.
struct IndexedDim {
  int64_t dim;       ///< of the operand
  int64_t size;      ///< of the slice along this dimension
  int64_t component; ///< of the index vector; -1 if the slice starts at 0
  int64_t batch;     ///< batch dimension whose index is the position; -1 if there is none
};

/// Index vectors of a gather or a scatter, with the vector as the last dimension: [batch.., k].
class IndexVectors {
public:
  IndexVectors(Build &b, Value indices, int64_t vectorDim);
  Value all;
  Dims batch; ///< shape of the batch dimensions
  /// Returns the batch dimension for a dimension of the original indices.
  int64_t batchDim(int64_t dim) const { return dim > vectorDim ? dim - 1 : dim; }
  /// Returns one component of all vectors, of shape `batch`.
  Value component(Build &b, int64_t i) const;

private:
  int64_t vectorDim;
};

/// Returns index tuples of shape [batch.., sizes of slices above 1.., dims.size()]: one for each
/// element of each slice. `starts[i]` is the start along dims[i], of shape `batch`; it is null for
/// dimensions without a component.
Value indexTuples(Build &b, ArrayRef<int64_t> batch, ArrayRef<IndexedDim> dims,
                  ArrayRef<Value> starts);

/// Returns the dimensions from 0 to rank - 1 that are not in any of the lists.
Dims otherDims(int64_t rank, ArrayRef<ArrayRef<int64_t>> lists);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_INDICES_H
