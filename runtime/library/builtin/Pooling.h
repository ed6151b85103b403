//===- Pooling.h - how windows slide over [N, C, spatial...] ------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H

#include "runtime/library/builtin/Builtin.h"

namespace dlc::runtime::builtin {

/// "src" and "dst" ([N, C, spatial...]; what the forward operation reads and gives), "kernel",
/// "strides", "dilations" (0 = dense, as oneDNN counts), "pads_l".
struct Pooling {
  /// Of the spatial dimensions; `steps` are the dilations plus one.
  std::vector<int64_t> src, dst, kernel, strides, steps, pads;
  std::vector<int64_t> srcStrides;
  int64_t planes, pixels, outputs, taps;

  explicit Pooling(const Request &request);
  int64_t elements() const { return planes * pixels; }
  int64_t results() const { return planes * outputs; }
  size_t rank() const { return src.size(); }

  /// A list with one entry per spatial dimension.
  static std::vector<int64_t> list(const Request &request, const char *name, size_t rank,
                                   int64_t otherwise);
};

/// Which taps of a window are inside along one dimension: [first, last), and how many count.
struct Reach {
  int64_t origin, first, last, counted;
};

/// Reaches of every output coordinate, dimension after dimension. With `includePad` the padding
/// counts as elements, at the end `countedHigh` of it.
std::vector<std::vector<Reach>> reachesOf(const Pooling &pool, bool includePad,
                                          const std::vector<int64_t> &countedHigh);

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H
