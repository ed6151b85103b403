//===- Pooling.cpp - sliding windows over [N, C, spatial...] --------------===//
#include "runtime/library/builtin/Pooling.h"

namespace dlc::runtime::builtin {

std::vector<int64_t> countedPads(const schema::AvgPoolGrad &fields, size_t rank) {
  if (fields.padsCounted.empty())
    return std::vector<int64_t>(rank);
  if (fields.padsCounted.size() != rank)
    fields.complain("'pads_counted' must be ", rank, " integers");
  return fields.padsCounted;
}

Pooling::Pooling(const schema::PoolCall &fields)
    : SlidingWindow(SlidingWindow::of(fields)), srcStrides(rank()), planes(batch * channels),
      plane(pixels()), outputs(positions()), taps(window.taps()) {
  if (channels != features)
    fields.complain("src and dst must have the same channels, found ", channels, " and ", features);
  int64_t step = 1;
  for (size_t d = rank(); d-- > 0;) {
    srcStrides[d] = step;
    step *= src[d];
  }
}

/// Returns the number of taps before coordinate `bound`: the first k >= 0 with origin + k * step >=
/// bound, but at most `kernel`.
static int64_t countTapsBefore(int64_t origin, int64_t step, int64_t bound, int64_t kernel) {
  if (origin >= bound)
    return 0;
  return std::min(kernel, (bound - origin + step - 1) / step);
}

std::vector<std::vector<TapRange>> reachesOf(const Pooling &pool, bool includePad,
                                             const std::vector<int64_t> &countedHigh) {
  std::vector<std::vector<TapRange>> all(pool.rank());
  for (size_t d = 0; d < pool.rank() && pool.resultElements() > 0; ++d)
    for (int64_t o = 0; o < pool.dst[d]; ++o) {
      TapRange reach;
      int64_t step = pool.window.dilations[d], kernel = pool.window.sizes[d];
      reach.origin = o * pool.window.strides[d] - pool.window.low[d];
      reach.first = countTapsBefore(reach.origin, step, 0, kernel);
      reach.last = std::max(reach.first, countTapsBefore(reach.origin, step, pool.src[d], kernel));
      reach.counted = reach.last - reach.first;
      if (includePad)
        reach.counted = countTapsBefore(reach.origin, step, pool.src[d] + countedHigh[d], kernel) -
                        countTapsBefore(reach.origin, step, -pool.window.low[d], kernel);
      all[d].push_back(reach);
    }
  return all;
}

} // namespace dlc::runtime::builtin
