//===- StridedView.h - views of a buffer by offset and strides ------------===//
#ifndef DLC_PASSES_FUSE_STRIDEDVIEW_H
#define DLC_PASSES_FUSE_STRIDEDVIEW_H

#include "passes/TensorBuilder.h"

#include <optional>

namespace dlc {

/// View of a row-major buffer: element `index` of the view is element offset + sum(index[d] *
/// strides[d]) of `base`.
struct StridedView {
  mlir::Value base;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides; // in elements; 0 where broadcast
  int64_t offset = 0;

  /// Whether the view contains all elements of `base` in order, so that only the shape differs.
  bool isContiguous() const;
  void swapLastTwo();
};

using OpFilter = llvm::function_ref<bool(mlir::Operation *)>;

/// Expresses `value` as a strided view. Follows reshapes, transposes, slices and broadcasts to the
/// first value that is defined by another operation, or by an operation that `inside` rejects.
/// Returns nullopt if the view is not expressible by strides.
std::optional<StridedView> asStrided(mlir::Value value, OpFilter inside = nullptr);

/// The inverse for results: `yielded` is derived from `inner` by transposes and reshapes only.
/// Returns the strides at which the elements of `inner` are stored in the buffer of `yielded`,
/// which is the base.
std::optional<StridedView> asStridedDestination(mlir::Value inner, mlir::Value yielded);

} // namespace dlc

#endif // DLC_PASSES_FUSE_STRIDEDVIEW_H
