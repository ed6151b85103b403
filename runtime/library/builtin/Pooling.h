//===- Pooling.h - how windows slide over [N, C, spatial...] ------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_POOLING_H

#include "runtime/library/builtin/Builtin.h"

namespace dlc::runtime::builtin {

struct Pooling : describe::Sliding {
  std::vector<int64_t> srcStrides;
  int64_t planes, plane, outputs, taps; ///< images and channels; pixels and results of one

  explicit Pooling(const Request &request);
};

/// "pads_counted": how much of the padding at the end counts as elements.
std::vector<int64_t> countedPads(const Request &request, size_t rank);

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
