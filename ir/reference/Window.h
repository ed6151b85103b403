//===- Window.h - positions of sliding windows ----------------------------===//
#ifndef DLC_IR_REFERENCE_WINDOW_H
#define DLC_IR_REFERENCE_WINDOW_H

#include "ir/reference/Rows.h"

namespace dlc::ref {

/// How a window slides over the spatial dimensions: one entry per dimension in each list.
struct Window {
  llvm::ArrayRef<int64_t> size, strides, dilations, low, high;

  /// One place in the window that meets an input position; both as flat indices.
  struct Tap {
    int64_t place, input;
  };

  /// The number of output positions per dimension for these input sizes; negative when nothing
  /// fits.
  Shape outputShape(llvm::ArrayRef<int64_t> input) const;

  /// Calls `f` for each output position, in order, with what its window meets inside the input.
  void forEachOutput(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                     llvm::function_ref<void(int64_t output, llvm::ArrayRef<Tap> taps)> f) const;
};

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_WINDOW_H
