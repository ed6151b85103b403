//===- Window.h - window parameters of oneDNN's convolutions and pools ----===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H

#include "runtime/library/describe/Window.h"
#include "runtime/library/onednn/Operation.h"

namespace dlc::onednn {

struct Window : describe::Window {
  /// Dilations in oneDNN's convention: the number of skipped elements between two taps.
  std::vector<int64_t> gaps;

  /// Reads the window from the builder's description; its rank is that of `src` minus 2. `words`
  /// are the names of the fields. By default no field has the window's sizes, because a
  /// convolution's window has the sizes of its weights.
  Window(PrimitiveBuilder &builder, const_dnnl_memory_desc_t src,
         describe::Window::Words words = {nullptr, "pads_l", "pads_r", 0});
};

struct Pool : Window {
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;

  Pool(PrimitiveBuilder &builder, const_dnnl_memory_desc_t src);
};

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_WINDOW_H
