//===- Window.h - iteration over sliding windows --------------------------===//
#ifndef DLC_IR_REFERENCE_OPS_WINDOW_H
#define DLC_IR_REFERENCE_OPS_WINDOW_H

#include "ir/reference/Rows.h"

namespace dlc::ref {

/// Parameters of a sliding window of a convolution or pool. Each list has one entry per spatial
/// dimension.
struct Window {
  llvm::ArrayRef<int64_t> size, strides, dilations, low, high;

  /// Pair of a window element and the input element that it reads, both as row-major indices.
  /// Padding is excluded.
  struct Tap {
    int64_t place, input;
  };

  /// Returns the output size of each spatial dimension for the given input sizes. A size is
  /// negative or 0 if the window does not fit.
  Shape outputShape(llvm::ArrayRef<int64_t> input) const;

  /// Calls `f` for each output position, in row-major order, with the taps that are inside the
  /// input, not in the padding.
  void forEachOutput(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                     llvm::function_ref<void(int64_t output, llvm::ArrayRef<Tap> taps)> f) const;
};

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_OPS_WINDOW_H
