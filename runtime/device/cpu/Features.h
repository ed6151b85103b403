//===- Features.h - CPU feature detection ------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_FEATURES_H
#define DLC_RUNTIME_DEVICE_CPU_FEATURES_H

#include "dlc/Export.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// CPU features, in the order of the rows of Features.def.
enum class Feature : uint8_t {
#define FEATURE(name, ...) name,
#include "runtime/device/cpu/Features.def"
};

constexpr size_t kFeatureCount = 0
#define FEATURE(...) +1 // NOLINT(bugprone-macro-parentheses)
#include "runtime/device/cpu/Features.def"
    ;

/// Returns LLVM's name of a feature, such as "avx512bf16".
DLC_EXPORT std::string_view getFeatureName(Feature feature);

/// Set of CPU features.
struct DLC_EXPORT CpuFeatures {
  std::bitset<kFeatureCount> bits;

  bool has(Feature feature) const { return bits[size_t(feature)]; }
  bool hasAll(std::initializer_list<Feature> features) const {
    return std::all_of(features.begin(), features.end(), [&](Feature each) { return has(each); });
  }
  /// Adds a feature by LLVM's name. Unknown names are ignored.
  void add(std::string_view name);
  /// Parses LLVM's list of features, such as "+avx2,-sse4a,+fma".
  static CpuFeatures parse(std::string_view text);
  /// Returns the names of the features that distinguish machines, for users and tuning keys.
  std::vector<std::string_view> mainNames() const;
};

/// Returns whether LLVM's list of features, such as "+avx2,-sse4a,+fma", enables a feature.
DLC_EXPORT bool enablesFeature(std::string_view list, Feature feature);

/// Instruction sets that kernels of this library are compiled for. A CPU that supports one of them
/// supports those before it.
enum class InstructionSet : uint8_t { Scalar, Avx2, Avx512, Amx };

/// Returns the last instruction set that may be used: Amx, unless the environment variable DLC_ARCH
/// is `scalar`, `avx2` or `avx512`, with which tests simulate an older CPU. Throws dlc::Error for
/// another value of the variable.
DLC_EXPORT InstructionSet getMaxInstructionSet();

/// Returns whether this CPU has the features that the kernels for an instruction set require.
DLC_EXPORT bool hostSupports(InstructionSet set);

/// Returns the features that the CPU has, whose registers the operating system saves, and that
/// getMaxInstructionSet() permits.
DLC_EXPORT const CpuFeatures &hostFeatures();
/// Returns whether the CPU has a feature, by its LLVM name. Also works for features that generated
/// code does not use ("shstk", "pku").
DLC_EXPORT bool hostHasFeature(std::string_view name);
/// Returns false if this runtime does not know the feature name.
DLC_EXPORT bool isKnownFeature(std::string_view name);
/// Returns the number of f32 lanes of the precompiled kernels: 16 with AVX-512, otherwise 8.
/// Respects ONEDNN_MAX_CPU_ISA=AVX2, so that this variable alone simulates an older CPU.
DLC_EXPORT int hostLanes();
/// Returns the same for kernels with dot products of bytes: 16 with AVX-512 and VNNI, otherwise 8.
DLC_EXPORT int hostByteLanes();

/// Returns the instruction set of the kernels with this number of lanes that run on this CPU.
DLC_EXPORT InstructionSet getKernelSet(int64_t lanes);
/// Returns the name of that instruction set in the names of kernels: "scalar", "avx2" or "avx512".
DLC_EXPORT std::string_view getKernelSetName(int64_t lanes);

/// Whether this build has kernels for the instruction sets of x86 (CMake option DLC_ARCH).
#ifdef DLC_ARCH_SCALAR
constexpr bool kHasX86Kernels = false;
#else
constexpr bool kHasX86Kernels = true;
#endif

/// Returns the result of the function for the instruction set of the kernels with this number of
/// lanes. In a build without kernels for x86, their functions are not referenced.
template <typename Scalar, typename Avx2, typename Avx512>
auto selectKernels(int64_t lanes, const Scalar &scalar, const Avx2 &avx2, const Avx512 &avx512) {
  if constexpr (kHasX86Kernels) {
    if (lanes == 16)
      return avx512();
    if (hostSupports(InstructionSet::Avx2))
      return avx2();
  }
  return scalar();
}
/// Returns the number of CPUs in the affinity mask of this process.
DLC_EXPORT int hostThreads();

/// Returns the size in bytes of the L2 cache of one core, clamped to [256 KiB, 4 MiB]; 1 MiB if it
/// is unknown.
DLC_EXPORT int64_t getPrivateCacheBytes();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_FEATURES_H
