//===- Shares.h - gradients, optimizer state and updates sharded over ranks --===//
//
//   gradients  ->  reduce-scatter of a bucket  ->  update of this rank's share  ->  all-gather
//
// A bucket is a contiguous buffer of concatenated gradients. The gradients that the backward pass
// computes first fill the first bucket.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_SHARES_H
#define DLC_FRONTEND_TRACE_SHARES_H

#include "dlc/optim.hpp"

namespace mlir {
class Operation;
}

namespace dlc::optim {

/// Groups parameters into buckets and returns their indices. All parameters of a bucket have the
/// same rule, element type and device. They follow the order in which the backward pass computes
/// their gradients.
std::vector<std::vector<size_t>> bucketsOf(const std::vector<Parameter> &parameters,
                                           const std::vector<size_t> &rules);
int64_t shareOf(const Bucket &bucket);

int64_t elementsOf(const trace::Shape &shape);
/// The parameter's current value in the trace.
Tensor valueOf(const Parameter &parameter);
/// Concatenates flattened tensors into one tensor of shape [elements].
Tensor flattened(const std::vector<Tensor> &values);
/// Returns the tensor of a shape whose elements start at index `begin` of a flat tensor.
Tensor partOf(const Tensor &flat, int64_t begin, const trace::Shape &shape);

/// Returns this rank's share of the bucket's gradients. Averages over the ranks unless `averaged`
/// says that the gradients are averages already.
Tensor scattered(const Bucket &bucket, const std::vector<Tensor> &gradients, bool averaged);
/// Returns this rank's share of the parameters.
Tensor ownShare(const Bucket &bucket);
/// Gathers the updated shares of all ranks and assigns them to the parameters.
void assignGathered(const Bucket &bucket, const Tensor &share);
/// Records that the state `slot` holds this rank's share of a set of tensors, one per parameter of
/// the bucket. Their names are the prefix plus the parameter's name.
void keepShare(const Parameter &slot, const Bucket &bucket, const std::string &prefix);

/// Returns a sum over all gradients. Adds up the ranks' partial sums if the gradients are sharded.
Tensor overRanks(const Gradients &gradients, const Tensor &sum);

/// Checks that the operations traced during its lifetime process each element of a share
/// independently.
class ElementsOnly {
public:
  ElementsOnly(const Bucket &bucket, std::string rule);
  /// Throws dlc::Error if an operation on a share is not elementwise.
  void require() const;

private:
  const int64_t share;
  const std::string rule;
  mlir::Operation *before;
};

} // namespace dlc::optim

#endif // DLC_FRONTEND_TRACE_SHARES_H
