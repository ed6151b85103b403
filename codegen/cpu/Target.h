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
  /// Lanes of a 32-bit element in one register.
  int64_t lanes32() const { return vectorBits / 32; }
};

} // namespace dlc::cpu
#endif
