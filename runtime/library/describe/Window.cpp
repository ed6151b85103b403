//===- Window.cpp - parsed parameters of a sliding window -----------------===//
#include "runtime/library/describe/Window.h"

#include <algorithm>
#include <numeric>

namespace dlc::describe {

using nlohmann::json;

int64_t computeProduct(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

Window Window::read(const Fields &fields, size_t rank, const Words &words) {
  auto list = [&](const char *name, int64_t least, int64_t otherwise) {
    return name && fields.has(name) ? fields.integers(name, rank, least, INT32_MAX)
                                    : std::vector<int64_t>(rank, otherwise);
  };
  Window window;
  if (!words.sizes)
    window.sizes.assign(rank, 1);
  else if (fields.at(words.sizes).is_number())
    window.sizes.assign(rank, fields.integer(words.sizes, 1, INT32_MAX));
  else
    window.sizes = fields.integers(words.sizes, rank, 1, INT32_MAX);
  window.strides = list("strides", 1, 1);
  window.dilations = list("dilations", words.dense, words.dense);
  for (int64_t &dilation : window.dilations)
    dilation += 1 - words.dense;
  window.low = list(words.low, -INT32_MAX, 0);
  window.high = list(words.high, -INT32_MAX, 0);
  int64_t taps = 1;
  for (int64_t size : window.sizes)
    if (__builtin_mul_overflow(taps, size, &taps) || taps > kMaxSize)
      fields.complain("a window of ", runtime::formatList(window.sizes), " is too large");
  return window;
}

void Window::write(json &desc, const Words &words) const {
  auto list = [&](const char *name, const std::vector<int64_t> &values) {
    if (name)
      desc[name] = values;
  };
  list(words.sizes, sizes);
  list("strides", strides);
  list("dilations", dilations);
  for (json &dilation : desc["dilations"])
    dilation = dilation.get<int64_t>() - 1 + words.dense;
  list(words.low, low);
  list(words.high, high);
}

int64_t Window::taps() const { return computeProduct(sizes); }

bool Window::isPoint() const {
  auto all = [](const std::vector<int64_t> &values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v == value; });
  };
  return all(sizes, 1) && all(strides, 1) && all(low, 0);
}

int64_t SlidingWindow::pixels() const { return computeProduct(src); }
int64_t SlidingWindow::positions() const { return computeProduct(dst); }

SlidingWindow SlidingWindow::read(const Fields &fields, const Window::Words &words,
                                  const char *dst) {
  std::vector<int64_t> from = fields.sizes("src", 0, words.least),
                       to = fields.sizes(dst, 0, words.least);
  if (from.size() < 3 || from.size() != to.size() || from[0] != to[0])
    fields.complain("'src' and '", dst,
                    "' must be [N, channels, spatial...] of the same batch size; found: ",
                    runtime::formatList(from), " and ", runtime::formatList(to));
  SlidingWindow s;
  s.batch = from[0], s.channels = from[1], s.features = to[1];
  s.src.assign(from.begin() + 2, from.end());
  s.dst.assign(to.begin() + 2, to.end());
  s.window = Window::read(fields, s.src.size(), words);
  // Pixel offsets must not overflow 64-bit integers.
  for (size_t d = 0; d < s.dst.size(); ++d)
    if (__int128(s.dst[d]) * s.window.strides[d] +
            __int128(s.window.sizes[d]) * s.window.dilations[d] >
        (__int128(1) << 60))
      fields.complain("the extent of its windows overflows");
  return s;
}

void SlidingWindow::write(json &desc, const Window::Words &words, const char *dst) const {
  auto sizes = [&](int64_t channels, const std::vector<int64_t> &spatial) {
    std::vector<int64_t> all = {batch, channels};
    all.insert(all.end(), spatial.begin(), spatial.end());
    return all;
  };
  desc["src"] = sizes(channels, src);
  desc[dst] = sizes(features, this->dst);
  window.write(desc, words);
}

} // namespace dlc::describe
