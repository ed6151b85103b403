//===- Implementation.cpp - properties of oneDNN implementations ----------===//
#include "runtime/library/onednn/Implementation.h"

namespace dlc::onednn {

Implementation parseImplementation(std::string_view name) {
  if (constexpr std::string_view prefix = "onednn:"; name.starts_with(prefix))
    name.remove_prefix(prefix.size());
  auto contains = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const std::string_view isa = name.substr(name.rfind(':') + 1);
  Implementation parsed;
  parsed.isReference = name.starts_with("ref") || name.starts_with("simple_n") || contains("+ref");
  // The threads of this GEMM wait for panels that other threads pack.
  parsed.isGemm = contains("gemm:");
  parsed.isIntegerGemm = contains("gemm_");
  parsed.isBrgemm = contains("brg");
  parsed.isPointwise = contains("1x1");
  // The kernels for 8-bit integers (jit_int8) also contain code for depthwise convolutions.
  parsed.isDepthwise = contains("dw") || contains("jit_int8");
  parsed.isBrdgmm = contains("brdgmm");
  parsed.isBf16 = contains("bf16");
  parsed.isAmx = contains("amx");
  parsed.isRepeated = contains("#");
  parsed.isa = isa.starts_with("avx2")  ? Implementation::Isa::Avx2
               : isa.starts_with("sse") ? Implementation::Isa::Sse
                                        : Implementation::Isa::Other;
  return parsed;
}

} // namespace dlc::onednn
