//===- Shares.h - gradients, memory and update split over ranks -----------===//
//
//   gradients  ->  reduce-scatter of a bucket  ->  update of this rank's share  ->  all-gather
//
// A bucket is a range of memory, gradients one after another; the first that are written fill the
// first one.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_TRACE_SHARES_H
#define DLC_FRONTEND_TRACE_SHARES_H

#include "dlc/optim.hpp"

namespace mlir {
class Operation;
}

namespace dlc::optim {

/// Which parameters go together, by their places: of one rule each, one element type and one
/// device, in the order in which their gradients are written.
std::vector<std::vector<size_t>> bucketsOf(const std::vector<Parameter> &parameters,
                                           const std::vector<size_t> &rules);
int64_t shareOf(const Bucket &bucket);

int64_t elementsOf(const trace::Shape &shape);
/// The parameter as it is now in the trace.
Tensor valueOf(const Parameter &parameter);
/// Tensors one after another, [elements].
Tensor flattened(const std::vector<Tensor> &values);
/// The tensor of that shape that begins at an element of a flat one.
Tensor partOf(const Tensor &flat, int64_t begin, const trace::Shape &shape);

/// This rank's share of the bucket's gradients, averaged over ranks unless they are.
Tensor scattered(const Bucket &bucket, const std::vector<Tensor> &gradients, bool averaged);
/// This rank's share of the parameters.
Tensor ownShare(const Bucket &bucket);
/// The parameters become what the ranks' shares are together.
void assignGathered(const Bucket &bucket, const Tensor &share);
/// The state is the rank's share of tensors that are called as the parameters, after the prefix.
void keepShare(const Parameter &slot, const Bucket &bucket, const std::string &prefix);

/// A sum over the gradients that are here, over all of them.
Tensor overRanks(const Gradients &gradients, const Tensor &sum);

/// What is traced while it lives must treat each element of a share by itself.
class ElementsOnly {
public:
  ElementsOnly(const Bucket &bucket, std::string rule);
  /// Throws dlc::Error.
  void require() const;

private:
  const int64_t share;
  const std::string rule;
  mlir::Operation *before;
};

} // namespace dlc::optim

#endif // DLC_FRONTEND_TRACE_SHARES_H
