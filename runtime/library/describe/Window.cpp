//===- Window.cpp - parsed parameters of a sliding window -----------------===//
#include "runtime/library/describe/Window.h"

#include <algorithm>
#include <numeric>

namespace dlc::describe {

int64_t computeProduct(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

/// Returns the list `values` of a description, or `otherwise` for each dimension if it is empty.
static std::vector<int64_t> listOr(const schema::Record &fields, const char *name,
                                   std::vector<int64_t> values, size_t rank, int64_t otherwise) {
  if (values.empty())
    values.assign(rank, otherwise);
  if (values.size() != rank)
    fields.complain("'", name, "' must be ", rank,
                    " integers; found: ", runtime::formatList(values));
  return values;
}

static void checkTaps(const schema::Record &fields, const std::vector<int64_t> &sizes) {
  int64_t taps = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(taps, size, &taps) || taps > schema::kMaxSize)
      fields.complain("a window of ", runtime::formatList(sizes), " is too large");
}

Window Window::of(const schema::WindowFields &fields, size_t rank) {
  Window window;
  window.sizes = listOr(fields, "window", fields.window, rank, 0);
  checkTaps(fields, window.sizes);
  window.strides = listOr(fields, "strides", fields.strides, rank, 1);
  window.dilations = listOr(fields, "dilations", fields.dilations, rank, 1);
  window.low = listOr(fields, "pads", fields.pads, rank, 0);
  window.high.assign(rank, 0);
  return window;
}

Window Window::of(const schema::StepFields &fields, size_t rank) {
  Window window;
  window.sizes.assign(rank, 1);
  window.strides = listOr(fields, "strides", fields.strides, rank, 1);
  window.dilations = listOr(fields, "dilations", fields.dilations, rank, 0);
  for (int64_t &dilation : window.dilations)
    ++dilation;
  window.low = listOr(fields, "pads_l", fields.low, rank, 0);
  window.high = listOr(fields, "pads_r", fields.high, rank, 0);
  return window;
}

Window Window::of(const schema::KernelFields &fields, size_t rank) {
  Window window = of(static_cast<const schema::StepFields &>(fields), rank);
  window.sizes = listOr(fields, "kernel", fields.kernel, rank, 0);
  checkTaps(fields, window.sizes);
  return window;
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

SlidingWindow SlidingWindow::of(const schema::Record &fields, const std::vector<int64_t> &from,
                                const std::vector<int64_t> &to, const char *dst) {
  if (from.size() < 3 || from.size() != to.size() || from[0] != to[0])
    fields.complain("'src' and '", dst,
                    "' must be [N, channels, spatial...] of the same batch size; found: ",
                    runtime::formatList(from), " and ", runtime::formatList(to));
  SlidingWindow s;
  s.batch = from[0], s.channels = from[1], s.features = to[1];
  s.src.assign(from.begin() + 2, from.end());
  s.dst.assign(to.begin() + 2, to.end());
  return s;
}

SlidingWindow SlidingWindow::of(const schema::ImageWindowFields &fields) {
  SlidingWindow s = of(fields, fields.src, fields.dst);
  s.slide(fields, Window::of(static_cast<const schema::KernelFields &>(fields), s.rank()));
  return s;
}

void SlidingWindow::slide(const schema::Record &fields, Window by) {
  window = std::move(by);
  for (size_t d = 0; d < dst.size(); ++d)
    if (__int128(dst[d]) * window.strides[d] + __int128(window.sizes[d]) * window.dilations[d] >
        (__int128(1) << 60))
      fields.complain("the extent of its windows overflows");
}

} // namespace dlc::describe
