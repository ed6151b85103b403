//===- StridedView.h - views of a buffer by offset and strides ------------===//
#ifndef DLC_PASSES_FUSE_ANALYSIS_STRIDEDVIEW_H
#define DLC_PASSES_FUSE_ANALYSIS_STRIDEDVIEW_H

#include "passes/TensorBuilder.h"

#include <optional>

namespace dlc {

/// Strided view of a row-major buffer: element `index` of the view is element offset + sum(index[d]
/// * strides[d]) of `base`.
struct StridedView {
  mlir::Value base;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides; // in elements; 0 for broadcast dimensions
  int64_t offset = 0;

  /// Returns whether the view contains all elements of `base` in order, so that only the shape
  /// differs.
  bool isContiguous() const;
  void swapLastTwo();
};

using OpFilter = llvm::function_ref<bool(mlir::Operation *)>;

/// Follows the definition of `value` upwards through reshapes, transposes, slices and broadcasts
/// that `inside` accepts, and returns `value` as a strided view of the value that it reaches.
/// Returns nullopt if strides cannot express the view.
std::optional<StridedView> matchStridedView(mlir::Value value, OpFilter inside = nullptr);

/// Returns the strided view through which `inner` can be written directly into the buffer of
/// `yielded`, which is the base of the view. Returns nullopt unless `yielded` is derived from
/// `inner` by transposes and reshapes only.
std::optional<StridedView> matchStridedDestination(mlir::Value inner, mlir::Value yielded);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ANALYSIS_STRIDEDVIEW_H
