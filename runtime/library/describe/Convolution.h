//===- Convolution.h - parsed description of a convolution ----------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Window.h"
#include "runtime/library/simd/Step.h"

namespace dlc::describe {

struct DLC_EXPORT Convolution : SlidingWindow {
  int64_t groups = 1;
  /// Source and result are channels last (NHWC); otherwise in the library's own layout.
  bool channelsLast = false;
  bool isTransposed = false; ///< weights are [C, O, ..] and the window is flipped
  bool isPacked = false;     ///< weights were packed in advance by the library
  bool hasBias = false;
  std::vector<simd::EpilogueStep>
      steps; ///< epilogue ops; read() does not set their operand addresses

  static Convolution read(const Fields &fields, const Window::Words &words,
                          const char *dst = "dst");

  int64_t weightElements() const { return features * (channels / groups) * window.taps(); }
  /// Checks the buffers of an f32 call: src, weights, [bias], the operands of the epilogue ops,
  /// dst.
  void check(BufferChecker &given, int64_t weightElements) const;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H
