//===- Target.h - the processor that code is generated for ----------------===//
#ifndef DLC_CODEGEN_CPU_TARGET_TARGET_H
#define DLC_CODEGEN_CPU_TARGET_TARGET_H

#include "runtime/device/cpu/Features.h"

#include <cstdint>
#include <string>

namespace dlc::cpu {

/// Processor that code is generated for, and the features that the code may use.
struct Target {
  /// LLVM names of the processor (-mcpu) and of its features (-mattr).
  std::string cpu, features;
  int64_t vectorBits = 256;
  /// Total bytes of a kernel's outputs from which they are stored by non-temporal stores, because
  /// they would be evicted from the caches before they are read. Measured on processors with 2 MiB
  /// of second-level cache per core and a large but slow third level: non-temporal stores paid off
  /// from 8 to 16 MiB, even if the outputs were read back at once.
  int64_t pastCacheBytes = 16 << 20;
  bool operator==(const Target &) const = default;
  /// Returns whether generated code may use a feature.
  bool has(runtime::Feature feature) const { return runtime::enablesFeature(features, feature); }
  /// Number of 32-bit elements in a vector register.
  int64_t lanes32() const { return vectorBits / 32; }
};

} // namespace dlc::cpu
#endif
