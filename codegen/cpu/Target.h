//===- Target.h - the processor that code is generated for ----------------===//
#ifndef DLC_CODEGEN_CPU_TARGET_H
#define DLC_CODEGEN_CPU_TARGET_H

#include <cstdint>
#include <string>

namespace dlc::cpu {

/// Processor features that generated code may use.
struct Target {
  std::string cpu, features; ///< in LLVM's terms
  int64_t vectorBits = 256;
  /// Total output size from which a kernel's outputs are evicted from the caches before they are
  /// read. (On processors with 2 MiB of second-level cache per core and a large but slow third
  /// level, non-temporal stores paid off from 8 to 16 MiB, even if the outputs were read back at
  /// once.)
  int64_t pastCacheBytes = 16 << 20;
  bool operator==(const Target &) const = default;
  /// Lanes of a 32-bit element in one register.
  int64_t lanes32() const { return vectorBits / 32; }
};

} // namespace dlc::cpu
#endif
