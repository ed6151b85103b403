//===- Target.h - the processor that code is generated for ----------------===//
#ifndef DLC_CODEGEN_CPU_TARGET_H
#define DLC_CODEGEN_CPU_TARGET_H

#include <cstdint>
#include <string>

namespace dlc::cpu {

/// What generated code may count on.
struct Target {
  std::string cpu, features; ///< as LLVM names them
  int64_t vectorBits = 256;
  /// A kernel's outputs of so many bytes are gone from the caches before anybody reads them. (On
  /// processors with 2 MiB of second-level cache per core and a large but slow third level, storing
  /// past the caches paid from 8 to 16 MiB on, read back at once.)
  int64_t pastCacheBytes = 16 << 20;
  bool operator==(const Target &) const = default;
  /// Lanes of a 32-bit element in one register.
  int64_t lanes32() const { return vectorBits / 32; }
};

} // namespace dlc::cpu
#endif
