//===- WinogradHelp.h - Winograd convolutions and their reference sums in f64 ------===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_WINOGRADHELP_H
#define DLC_TEST_RUNTIME_LIBRARY_WINOGRADHELP_H

#include "Calls.h"

#include "runtime/library/winograd/Describe.h"

#include <gtest/gtest.h>

#include <map>

namespace dlc::test::winograd {

using namespace dlc::test;

struct Layer {
  int64_t n, c, o, height, width, window, top, left, bottom, right;

  int64_t outHeight() const { return height + top + bottom - window + 1; }
  int64_t outWidth() const { return width + left + right - window + 1; }
};

/// Returns the channel block of a description's images, or 0 for channels last.
inline int blockIn(const json &desc) {
  return desc.value("channels_last", false) ? 0 : int(desc["block"]);
}

inline json describe(const Layer &l, const char *kind, int tile, int block) {
  return {{"kind", kind},
          {"tile", tile},
          {"window", l.window},
          {"block", block},
          {"src", {l.n, l.c, l.height, l.width}},
          {"dst", {l.n, l.o, l.outHeight(), l.outWidth()}},
          {"pads", {l.top, l.left}}};
}

/// Calls sum(index of y, o, c, ky, kx, value of x) for all products of the convolution.
template <typename Sum> void convolve(const Layer &l, int block, const Numbers &x, const Sum &sum) {
  for (int64_t n = 0; n < l.n; ++n)
    for (int64_t o = 0; o < l.o; ++o)
      for (int64_t y = 0; y < l.outHeight(); ++y)
        for (int64_t column = 0; column < l.outWidth(); ++column)
          for (int64_t ky = 0; ky < l.window; ++ky)
            for (int64_t kx = 0; kx < l.window; ++kx) {
              int64_t inY = y + ky - l.top, inX = column + kx - l.left;
              if (inY < 0 || inX < 0 || inY >= l.height || inX >= l.width)
                continue;
              for (int64_t c = 0; c < l.c; ++c)
                sum(at(block, l.o, l.outHeight(), l.outWidth(), n, o, y, column), o, c, ky, kx,
                    x[at(block, l.c, l.height, l.width, n, c, inY, inX)]);
            }
}

inline size_t weightAt(const Layer &l, bool transposed, int64_t o, int64_t c, int64_t ky,
                       int64_t kx) {
  if (transposed)
    return size_t(((c * l.o + o) * l.window + l.window - 1 - ky) * l.window + l.window - 1 - kx);
  return size_t(((o * l.c + c) * l.window + ky) * l.window + kx);
}

inline std::vector<double> reference(const Layer &l, int block, bool transposed, const Numbers &x,
                                     const Numbers &w, bool gradient, const Numbers &dy) {
  std::vector<double> want(size_t(gradient ? l.o * l.c * l.window * l.window
                                           : l.n * l.o * l.outHeight() * l.outWidth()));
  convolve(l, block, x, [&](size_t y, int64_t o, int64_t c, int64_t ky, int64_t kx, float value) {
    size_t weight = weightAt(l, transposed, o, c, ky, kx);
    if (gradient)
      want[weight] += double(value) * double(dy[y]);
    else
      want[y] += double(value) * double(w[weight]);
  });
  return want;
}

/// Error bound that Desc.md documents for results with enough elements that a large one is among
/// them.
inline double bound(int tile, int64_t window) {
  return window == 3 ? (tile == 2 ? 8e-7 : 3e-6) : (tile == 2 ? 3e-6 : 1.5e-5);
}

/// Error bound that Desc.md documents for any number of results.
inline double bound(const Layer &l, int tile) {
  return bound(tile, l.window) * (l.n * l.o * l.outHeight() * l.outWidth() < 256 ? 2 : 1);
}

/// Returns f32 sums, with the products added one after the other.
inline Numbers directSums(const Layer &l, int block, bool transposed, const Numbers &x,
                          const Numbers &w, bool gradient, const Numbers &dy) {
  Numbers got(gradient ? w.size() : dy.size());
  convolve(l, block, x, [&](size_t y, int64_t o, int64_t c, int64_t ky, int64_t kx, float value) {
    size_t weight = weightAt(l, transposed, o, c, ky, kx);
    got[gradient ? weight : y] += value * (gradient ? dy[y] : w[weight]);
  });
  return got;
}

struct Operands {
  Numbers x, w, dy;
  /// Cache of expected results. The key has only the settings that change them, because f64 sums
  /// are slow.
  mutable std::map<std::string, std::vector<double>> wanted;

  const std::vector<double> &want(const Layer &l, int block, bool transposed, bool gradient) const {
    auto [found, isNew] =
        wanted.try_emplace(std::to_string(block) + (transposed ? "t" : "") + (gradient ? "g" : ""));
    if (isNew)
      found->second = reference(l, block, transposed, x, w, gradient, dy);
    return found->second;
  }

  explicit Operands(const Layer &l)
      : x(randomNumbers(size_t(l.n * l.c * l.height * l.width), 1)),
        w(randomNumbers(size_t(l.o * l.c * l.window * l.window), 2)),
        dy(randomNumbers(size_t(l.n * l.o * l.outHeight() * l.outWidth()), 3)) {}
};

/// Creates a call with the buffers that the description requires.
inline std::optional<Runnable> callOf(const json &desc, int threads, std::string &error) {
  auto has = [&](const char *flag) { return desc.contains(flag) && desc[flag] == true; };
  size_t count = 3 + has("bias") + (has("statistics") ? 3 : 0);
  if (desc.contains("steps"))
    for (const json &step : desc["steps"])
      count += step["do"] == "add" || std::string(step["do"]).ends_with("channels");
  return Runnable::create("winograd", desc, {count, {UINT64_MAX, true}}, threads, error);
}

/// Runs the call and returns its result, or an empty array if the library rejects the description.
inline Numbers resultOf(const json &desc, int threads, const Operands &operands) {
  bool gradient = desc["kind"] == "convolution_weights";
  std::string error;
  auto call = callOf(desc, threads, error);
  EXPECT_TRUE(call) << error << " " << desc;
  if (!call)
    return {};
  Numbers result(gradient ? operands.w.size() : operands.dy.size(), NAN);
  dlc::winograd::PackedWeights packed;
  const float *weights = gradient ? operands.dy.data() : operands.w.data();
  if (desc.value("packed", false)) {
    packed = dlc::winograd::packWeights(desc, weights, threads);
    EXPECT_TRUE(packed.data) << packed.error;
    weights = static_cast<const float *>(packed.data.get());
  }
  void *buffers[] = {const_cast<float *>(operands.x.data()), const_cast<float *>(weights),
                     result.data()};
  call->run(buffers);
  return result;
}

/// Returns the largest error, relative to the largest result.
inline double run(const Layer &l, const json &desc, int threads, const Operands &operands) {
  bool gradient = desc["kind"] == "convolution_weights",
       transposed = desc.value("transposed", false);
  Numbers result = resultOf(desc, threads, operands);
  return result.empty() ? INFINITY
                        : errorOf(result, operands.want(l, blockIn(desc), transposed, gradient));
}

} // namespace dlc::test::winograd

#endif // DLC_TEST_RUNTIME_LIBRARY_WINOGRADHELP_H
