//===- Convolution.h - what a convolution is, whoever computes it -------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Window.h"
#include "runtime/library/simd/Step.h"

namespace dlc::describe {

struct DLC_EXPORT Convolution : Sliding {
  int64_t groups = 1;
  bool channelsLast = false; ///< images; otherwise as the library wants them
  bool isTurned = false;     ///< weights are [C, O, ..], and the window comes from its end
  bool isPacked = false;     ///< weights, by the library
  bool hasBias = false;
  std::vector<simd::Step> steps; ///< of each result, operands still open

  static Convolution read(const Fields &fields, const Window::Words &words,
                          const char *dst = "dst");

  int64_t weightElements() const { return features * (channels / groups) * window.taps(); }
  /// What a call of f32 reads and writes: src, weights, [bias], the steps' operands, dst.
  void check(Buffers &given, int64_t weightElements) const;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_CONVOLUTION_H
