//===- Window.h - how a window slides over images -----------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H

#include "runtime/library/describe/Fields.h"

namespace dlc::describe {

/// Of each spatial dimension. A dilation of 1 is dense; negative padding cuts off.
struct DLC_EXPORT Window {
  std::vector<int64_t> sizes, strides, dilations, low, high;

  /// How a kind of description spells it; null: it says nothing of that. What is said of strides,
  /// dilations and padding may be left out: 1, dense, 0.
  struct Words {
    const char *sizes, *low, *high;
    int64_t dense;     ///< a dilation
    int64_t least = 0; ///< of an image's sizes
  };

  static Window read(const Fields &fields, size_t rank, const Words &words);
  void write(nlohmann::json &desc, const Words &words) const;

  int64_t taps() const;
  /// A single place, in step with the image.
  bool isPoint() const;
};

/// Of descriptions that say "window", and of those that say "kernel" and count what lies between
/// two places of a dilated one.
constexpr Window::Words kWindowWords = {"window", "pads", nullptr, 1, 1},
                        kKernelWords = {"kernel", "pads_l", "pads_r", 0};

/// What a window slides over: [batch, channels, src..], and what comes of that: [batch, features,
/// dst..].
struct DLC_EXPORT Sliding {
  int64_t batch = 0, channels = 0, features = 0;
  std::vector<int64_t> src, dst;
  Window window;

  /// `dst`: what the description calls the second one.
  static Sliding read(const Fields &fields, const Window::Words &words, const char *dst = "dst");
  void write(nlohmann::json &desc, const Window::Words &words, const char *dst = "dst") const;

  size_t rank() const { return src.size(); }
  int64_t pixels() const;    ///< of an image of src
  int64_t positions() const; ///< of an image of dst
  int64_t sourceElements() const { return batch * channels * pixels(); }
  int64_t resultElements() const { return batch * features * positions(); }
  /// Whether each result comes of the pixel at its place.
  bool isPoint() const { return window.isPoint() && src == dst; }
};

DLC_EXPORT int64_t product(const std::vector<int64_t> &sizes);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_WINDOW_H
