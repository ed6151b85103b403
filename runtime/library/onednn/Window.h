//===- Window.h - window parameters of oneDNN's convolutions and pools ----===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H

#include "runtime/library/describe/Window.h"
#include "runtime/library/onednn/Operation.h"

namespace dlc::onednn {

struct Window : describe::Window {
  /// Dilations in oneDNN's convention: the number of skipped elements between two taps.
  std::vector<int64_t> gaps;

  explicit Window(describe::Window window);
  /// Reads the steps of the window from the builder's description. The window has the rank of `src`
  /// minus 2, and the sizes of its weights.
  Window(const PrimitiveBuilder &builder, const_dnnl_memory_desc_t src);
};

struct Pool : Window {
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;

  Pool(PrimitiveBuilder &builder, const_dnnl_memory_desc_t src);
};

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H
