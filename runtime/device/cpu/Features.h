//===- Features.h - CPU feature detection ------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_FEATURES_H
#define DLC_RUNTIME_DEVICE_CPU_FEATURES_H

#include "dlc/Export.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Returns whether the CPU has a feature, by its LLVM name ("avx2", "avx512bf16", "amx-tile"), and
/// the operating system saves the registers that it needs. Also works for features that generated
/// code does not use ("shstk", "pku").
DLC_EXPORT bool hostHasFeature(std::string_view name);
/// Returns all known features that this CPU has: the value for target.features in the compiler.
DLC_EXPORT std::vector<std::string> hostFeatures();
/// Returns false if this runtime does not know the feature name.
DLC_EXPORT bool isKnownFeature(std::string_view name);
/// Returns the number of f32 SIMD lanes of the precompiled kernels: 16 with AVX-512, 8 with AVX2
/// and FMA, otherwise 0. Respects ONEDNN_MAX_CPU_ISA=AVX2, so that this variable alone simulates an
/// older CPU.
DLC_EXPORT int hostLanes();
/// Returns the number of CPUs in the affinity mask of this process.
DLC_EXPORT int hostThreads();

/// Returns the size in bytes of the L2 cache of one core, clamped to [256 KiB, 4 MiB]; 1 MiB if it
/// is unknown.
DLC_EXPORT int64_t getPrivateCacheBytes();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_FEATURES_H
