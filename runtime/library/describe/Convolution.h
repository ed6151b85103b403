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
      steps; ///< epilogue ops; parseSteps() does not set their operand addresses

  Convolution() = default;
  /// Checks that the groups divide the channels and that the weights are not too large.
  Convolution(const schema::Record &fields, SlidingWindow images, int64_t groups = 1);

  int64_t weightElements() const { return features * (channels / groups) * window.taps(); }
  /// Checks the buffers of an f32 call: src, weights, [bias], the operands of the epilogue ops,
  /// dst.
  void check(BufferChecker &given, int64_t weightElements) const;
};

/// Parses the epilogue ops of a convolution. Does not set their operand addresses.
DLC_EXPORT std::vector<simd::EpilogueStep>
parseSteps(const std::vector<schema::ConvolutionStep> &steps);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H
