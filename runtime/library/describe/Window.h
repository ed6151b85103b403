//===- Window.h - parsed parameters of a sliding window -------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H

#include "runtime/library/describe/Fields.h"

namespace dlc::describe {

/// Sizes, strides, dilations and padding of a window, for each spatial dimension. A dilation of 1
/// is dense. Negative padding crops the image.
struct DLC_EXPORT Window {
  std::vector<int64_t> sizes, strides, dilations, low, high;

  /// JSON field names of a window in one kind of description; null for a field that the kind does
  /// not have. Missing strides, dilations and padding default to 1, dense and 0.
  struct Words {
    const char *sizes, *low, *high;
    int64_t dense;     ///< dilation value of a dense window: 0 or 1
    int64_t least = 0; ///< minimum size of an image's dimensions
  };

  static Window read(const Fields &fields, size_t rank, const Words &words);
  void write(nlohmann::json &desc, const Words &words) const;

  int64_t taps() const;
  /// Returns true for a 1x1 window with stride 1 and no padding at the low end.
  bool isPoint() const;
};

/// Field names of descriptions with a "window", whose dense dilation is 1, and of descriptions with
/// a "kernel", whose dilations count the elements between two taps (dense: 0).
constexpr Window::Words kWindowWords = {"window", "pads", nullptr, 1, 1},
                        kKernelWords = {"kernel", "pads_l", "pads_r", 0};

/// Shapes of the source [batch, channels, src..] and of the result [batch, features, dst..] of a
/// sliding window.
struct DLC_EXPORT SlidingWindow {
  int64_t batch = 0, channels = 0, features = 0;
  std::vector<int64_t> src, dst;
  Window window;

  /// Reads the shapes and the window; `dst` is the name of the field with the result's shape.
  static SlidingWindow read(const Fields &fields, const Window::Words &words,
                            const char *dst = "dst");
  void write(nlohmann::json &desc, const Window::Words &words, const char *dst = "dst") const;

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
