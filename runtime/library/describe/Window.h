//===- Window.h - parsed parameters of a sliding window -------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H

#include "runtime/library/schema/Schema.h"

namespace dlc::describe {

/// Sizes, strides, dilations and padding of a window, for each spatial dimension. A dilation of 1
/// is dense. Negative padding crops the image.
struct DLC_EXPORT Window {
  std::vector<int64_t> sizes, strides, dilations, low, high;

  /// Returns the window of a description with `rank` spatial dimensions. Throws dlc::Error if a
  /// list has another length or the window is too large.
  static Window of(const schema::WindowFields &fields, size_t rank);
  static Window of(const schema::KernelFields &fields, size_t rank);
  /// Returns the steps of a window whose sizes are those of the weights; its own sizes are 1.
  static Window of(const schema::StepFields &fields, size_t rank);

  int64_t taps() const;
  /// Returns true for a 1x1 window with stride 1 and no padding at the low end.
  bool isPoint() const;
};

/// Shapes of the source [batch, channels, src..] and of the result [batch, features, dst..] of a
/// sliding window.
struct DLC_EXPORT SlidingWindow {
  int64_t batch = 0, channels = 0, features = 0;
  std::vector<int64_t> src, dst;
  Window window;

  /// Checks that the shapes match; `dst` is the name of the field with the result's shape.
  static SlidingWindow of(const schema::Record &fields, const std::vector<int64_t> &from,
                          const std::vector<int64_t> &to, const char *dst = "dst");
  /// Returns the shapes of `src` and `dst` with the window. Throws dlc::Error if they do not match.
  static SlidingWindow of(const schema::ImageWindowFields &fields);
  /// Sets the window, and checks that pixel offsets do not overflow.
  void slide(const schema::Record &fields, Window by);

  size_t rank() const { return src.size(); }
  int64_t pixels() const;    ///< spatial size of one source image
  int64_t positions() const; ///< spatial size of one result image
  int64_t sourceElements() const { return batch * channels * pixels(); }
  int64_t resultElements() const { return batch * features * positions(); }
  /// Returns true if each result depends only on the source pixel with the same coordinates.
  bool isPoint() const { return window.isPoint() && src == dst; }
};

DLC_EXPORT int64_t computeProduct(const std::vector<int64_t> &sizes);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H
