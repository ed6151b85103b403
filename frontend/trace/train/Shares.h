//===- Shares.h - gradients, optimizer state and updates sharded over ranks --===//
//
//   gradients  ->  reduce-scatter of a bucket  ->  update of this rank's share  ->  all-gather
//
// A bucket is a contiguous buffer of concatenated gradients. The gradients that the backward pass
// computes first fill the first bucket.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_TRAIN_SHARES_H
#define DLC_FRONTEND_TRACE_TRAIN_SHARES_H

#include "dlc/optim.hpp"

namespace mlir {
class Operation;
}

namespace dlc::optim {

/// Groups parameters into buckets and returns the parameter indices of each bucket. All parameters
/// of a bucket have the same update rule, element type and device. The buckets follow the order in
/// which the backward pass computes the gradients.
std::vector<std::vector<size_t>> makeBuckets(const std::vector<Parameter> &parameters,
                                             const std::vector<size_t> &rules);
int64_t computeShareSize(const Bucket &bucket);

int64_t countElements(const trace::Shape &shape);
/// Returns the parameter's current value in the trace.
Tensor getParameterValue(const Parameter &parameter);
/// Flattens the tensors and concatenates them into one tensor of shape [elements].
Tensor flattenAndConcat(const std::vector<Tensor> &values);
/// Returns the elements of a flat tensor from index `begin` on, reshaped to `shape`.
Tensor sliceAndReshape(const Tensor &flat, int64_t begin, const trace::Shape &shape);

/// Reduce-scatters the bucket's gradients and returns this rank's share of their average. If
/// `averaged` is set, all ranks have the average already, and only the share is sliced.
Tensor reduceScatterGradients(const Bucket &bucket, const std::vector<Tensor> &gradients,
                              bool averaged);
/// Returns this rank's share of the bucket's concatenated parameters.
Tensor getOwnShare(const Bucket &bucket);
/// All-gathers the updated shares of all ranks and assigns the result to the bucket's parameters.
void allGatherAndAssign(const Bucket &bucket, const Tensor &share);
/// Records that the state `slot` holds this rank's share of several concatenated tensors, one per
/// parameter of the bucket. The name of each tensor is `prefix` plus the parameter's name.
void recordShareLayout(const Parameter &slot, const Bucket &bucket, const std::string &prefix);

/// Returns `sum`, a sum over the elements of all gradients. If the gradients are sharded, `sum` is
/// this rank's partial sum, and the partial sums of all ranks are added by an all-reduce.
Tensor sumOverRanks(const Gradients &gradients, const Tensor &sum);

/// Checks that an update rule processes each element of a share independently. Covers the
/// operations that are traced during the lifetime of the object.
class ElementwiseCheck {
public:
  ElementwiseCheck(const Bucket &bucket, std::string rule);
  /// Throws dlc::Error if a traced operation on a share is not elementwise.
  void require() const;

private:
  const int64_t share;
  const std::string rule;
  mlir::Operation *before;
};

} // namespace dlc::optim

#endif // DLC_FRONTEND_TRACE_TRAIN_SHARES_H
