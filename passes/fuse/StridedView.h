//===- StridedView.h - views of a buffer by offset and strides ------------===//
#ifndef DLC_PASSES_FUSE_STRIDEDVIEW_H
#define DLC_PASSES_FUSE_STRIDEDVIEW_H

#include "passes/TensorBuilder.h"

#include <optional>

namespace dlc {

/// Element `index` of the view is element offset + sum(index[d] * strides[d]) of `base`, which lies
/// row-major.
struct StridedView {
  mlir::Value base;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides; // in elements; 0 where broadcast
  int64_t offset = 0;

  /// Whether it is just `base` under some shape.
  bool isContiguous() const;
  void swapLastTwo();
};

using OpFilter = llvm::function_ref<bool(mlir::Operation *)>;

/// Reads `value` through reshapes, transposes, slices and broadcasts as strides over the first
/// value that comes from anything else, or from an operation that is not `inside`. Nothing when
/// strides cannot say it.
std::optional<StridedView> asStrided(mlir::Value value, OpFilter inside = nullptr);

/// The other way round: `yielded` is made from `inner` by transposes and reshapes alone. Where in
/// `yielded`'s buffer (the base of the result) the elements of `inner` go.
std::optional<StridedView> asStridedDestination(mlir::Value inner, mlir::Value yielded);

} // namespace dlc

#endif // DLC_PASSES_FUSE_STRIDEDVIEW_H
