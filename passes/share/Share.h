//===- Share.h - what a rank has of a value that all ranks have together ------===//
#ifndef DLC_PASSES_SHARE_SHARE_H
#define DLC_PASSES_SHARE_SHARE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <string>

namespace dlc::share {

/// All of it; a part along one dimension, in which each of `blocks` blocks has a part for every
/// rank, in their order; or all of it in terms that are still to be summed over ranks.
struct Share {
  enum Kind { Whole, Split, Terms } kind = Whole;
  int64_t dimension = 0, blocks = 1;
  /// The annotated argument that it follows from; null of what is whole.
  mlir::Value origin = {};

  static Share split(int64_t dimension, int64_t blocks, mlir::Value origin) {
    return {Split, dimension, blocks, origin};
  }
  static Share terms(mlir::Value origin) { return {Terms, 0, 1, origin}; }

  bool isWhole() const { return kind == Whole; }
  bool isSplit() const { return kind == Split; }
  bool isTerms() const { return kind == Terms; }
  /// Whoever it follows from.
  bool isLike(const Share &other) const {
    return kind == other.kind &&
           (kind != Split || (dimension == other.dimension && blocks == other.blocks));
  }
};

/// The type of a rank's part.
inline mlir::RankedTensorType partType(mlir::RankedTensorType whole, const Share &share,
                                       int64_t ranks) {
  if (!share.isSplit())
    return whole;
  llvm::SmallVector<int64_t> shape(whole.getShape());
  shape[size_t(share.dimension)] /= ranks;
  return mlir::RankedTensorType::get(shape, whole.getElementType(), whole.getEncoding());
}

/// "'fc1.weight'", or what it is where nobody named it.
std::string nameOf(mlir::Value value);
/// "'x' is split along dimension 1 since 'fc1.weight' is".
std::string becauseOf(const Share &share);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_SHARE_H
