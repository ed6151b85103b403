//===- Pooling.h - sliding windows over [N, C, spatial...] ----------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H

#include "runtime/library/builtin/Builtin.h"

namespace dlc::runtime::builtin {

struct Pooling : describe::SlidingWindow {
  std::vector<int64_t> srcStrides;
  /// `planes` is batch * channels. `plane` and `outputs` are the numbers of pixels and of results
  /// of a plane, `taps` the number of elements of the window.
  int64_t planes, plane, outputs, taps;

  explicit Pooling(const schema::PoolCall &fields);
};

/// Returns, for each dimension, the part of the padding at the high end that counts as elements of
/// an average.
std::vector<int64_t> countedPads(const schema::AvgPoolGrad &fields, size_t rank);

/// Taps [first, last) of a window that are inside of the image along one dimension, and the number
/// of taps that count for an average. `origin` is the coordinate of tap 0.
struct TapRange {
  int64_t origin, first, last, counted;
};

/// Returns the reach of every output coordinate, for each dimension. With `includePad`
/// (`count_include_pad`), the padding counts as elements, but at the high end only `countedHigh` of
/// it.
std::vector<std::vector<TapRange>> reachesOf(const Pooling &pool, bool includePad,
                                             const std::vector<int64_t> &countedHigh);

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H
