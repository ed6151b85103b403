//===- Share.h - distribution of a value over ranks -----------------------===//
#ifndef DLC_PASSES_SHARE_SHARE_H
#define DLC_PASSES_SHARE_SHARE_H

#include "ir/dlc/Shape.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <string>

namespace dlc::share {

/// Distribution ("share") of a value over ranks. Whole: each rank has the whole value. Split: each
/// rank has a part along one dimension; the dimension consists of `blocks` blocks, and each block
/// has one part per rank, in rank order. Terms: each rank has a partial sum, and the value is the
/// sum over all ranks.
struct Share {
  enum Kind { Whole, Split, Terms } kind = Whole;
  int64_t dimension = 0, blocks = 1;
  /// Annotated argument from which this distribution is derived; null for whole values.
  mlir::Value origin = {};

  static Share split(int64_t dimension, int64_t blocks, mlir::Value origin) {
    return {Split, dimension, blocks, origin};
  }
  static Share terms(mlir::Value origin) { return {Terms, 0, 1, origin}; }

  bool isWhole() const { return kind == Whole; }
  bool isSplit() const { return kind == Split; }
  bool isTerms() const { return kind == Terms; }
  /// Returns whether the two shares are equal, ignoring their origins.
  bool isLike(const Share &other) const {
    return kind == other.kind &&
           (kind != Split || (dimension == other.dimension && blocks == other.blocks));
  }
};

/// Returns the tensor type of one rank's part of a tensor of type `whole`.
inline mlir::RankedTensorType partType(mlir::RankedTensorType whole, const Share &share,
                                       int64_t ranks) {
  if (!share.isSplit())
    return whole;
  llvm::SmallVector<int64_t> shape(staticShape(whole));
  shape[size_t(share.dimension)] /= ranks;
  return makeTensorType(shape, whole.getElementType(), whole.getEncoding());
}

/// Returns the value's name for diagnostics, such as "'fc1.weight'", or a description if it has no
/// name.
std::string nameOf(mlir::Value value);
/// Returns the reason for a distribution as text, such as "split along dimension 1 since
/// 'fc1.weight' is split".
std::string describeShare(const Share &share);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SHARE_H
