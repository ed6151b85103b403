//===- LaneCases.h - pooling and convolution windows over images with contiguous channels ===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_LANECASES_H
#define DLC_TEST_RUNTIME_LIBRARY_LANECASES_H

#include "BuiltinArrays.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace dlc::test {

/// Sizes of an image and of the window over it.
struct LaneCase {
  int64_t images, channels, group, size[2], kernel[2], strides[2], steps[2], low[2], high[2];
  int64_t out(int d) const {
    int64_t reach = (kernel[d] - 1) * steps[d] + 1;
    return (size[d] + low[d] + high[d] - reach) / strides[d] + 1;
  }
  json describe(const char *kind) const {
    return {{"kind", kind},
            {"dtype", "f32"},
            {"src", {images, channels, size[0], size[1]}},
            {"dst", {images, channels, out(0), out(1)}},
            {"kernel", {kernel[0], kernel[1]}},
            {"strides", {strides[0], strides[1]}},
            {"dilations", {steps[0] - 1, steps[1] - 1}},
            {"pads_l", {low[0], low[1]}}};
  }
};

/// Reorders [N, C, pixels] to [N, C / group, pixels, group].
template <typename T>
std::vector<T> grouped(const std::vector<T> &plain, const LaneCase &c, int64_t pixels) {
  std::vector<T> result(plain.size());
  for (int64_t n = 0; n < c.images; ++n)
    for (int64_t k = 0; k < c.channels; ++k)
      for (int64_t p = 0; p < pixels; ++p)
        result[size_t(((n * c.channels / c.group + k / c.group) * pixels + p) * c.group +
                      k % c.group)] = plain[size_t((n * c.channels + k) * pixels + p)];
  return result;
}

inline std::vector<float> randomFloats(int64_t count, bool withNan) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> any(-9, 9); // a small range, so that many values are equal
  std::vector<float> values(static_cast<size_t>(count));
  for (float &v : values)
    v = withNan && random() % 17 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                      : float(any(random));
  return values;
}

inline bool isSame(const std::vector<float> &a, const std::vector<float> &b, float most) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(b[i])) && !(std::abs(a[i] - b[i]) <= most))
      return false;
  return a.size() == b.size();
}

/// Calls the body for each instruction set that this processor supports.
template <typename Body> void onEachProcessor(Body body) {
  body();
  setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  body();
  unsetenv("ONEDNN_MAX_CPU_ISA");
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_LIBRARY_LANECASES_H
