//===- Window.h - the geometry that convolutions and pools share --------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H

#include "runtime/library/onednn/Operation.h"

#include <vector>

namespace dlc::onednn {

struct Window {
  std::vector<int64_t> strides, dilations, padsLeft, padsRight;

  /// `src` has the rank that the lists must have, less two.
  Window(Builder &builder, const_dnnl_memory_desc_t src);
};

/// A pool's own part: kernel and algorithm.
struct Pool {
  Window window;
  std::vector<int64_t> kernel;
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;

  Pool(Builder &builder, const_dnnl_memory_desc_t src);
};

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H
