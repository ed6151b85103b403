//===- Implementation.h - properties of oneDNN implementations ------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_IMPLEMENTATION_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_IMPLEMENTATION_H

#include "dlc/Export.h"

#include <string_view>

namespace dlc::onednn {

/// Properties of an implementation. oneDNN reports only its name, such as
/// "brg_conv_fwd:avx512_core" or "gemm:jit", from which they are parsed.
struct Implementation {
  enum class Isa { Sse, Avx2, Other };

  bool isReference = false;   ///< slow reference code, or calls reference code
  bool isGemm = false;        ///< a GEMM; for convolutions, after im2col
  bool isIntegerGemm = false; ///< a GEMM of 8-bit integers; for convolutions, after im2col
  bool isBrgemm = false;      ///< blocked matmul (brgemm)
  bool isPointwise = false;   ///< specialized for 1x1 windows
  bool isDepthwise = false;   ///< has code for depthwise convolutions
  bool isBrdgmm = false;      ///< depthwise convolution as a blocked matmul (brdgmm)
  bool isBf16 = false;        ///< for bf16 operands
  bool isAmx = false;         ///< uses AMX tiles
  bool isRepeated = false;    ///< another implementation that precedes it has the same name
  Isa isa = Isa::Other;       ///< instruction set, if it has fewer lanes than the machine may have
};

/// Parses an implementation's name, with or without the prefix "onednn:".
DLC_EXPORT Implementation parseImplementation(std::string_view name);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_IMPLEMENTATION_H
