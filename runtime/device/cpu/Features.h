//===- Features.h - which instructions this machine has -----------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_FEATURES_H
#define DLC_RUNTIME_DEVICE_CPU_FEATURES_H

#include "dlc/Export.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Names are LLVM's ("avx2", "avx512bf16", "amx-tile"). A feature counts only when the operating
/// system saves its registers too. True also for what no generated code uses ("shstk", "pku").
DLC_EXPORT bool hostHasFeature(std::string_view name);
/// Every known feature that this machine has: what a compiler puts into target.features.
DLC_EXPORT std::vector<std::string> hostFeatures();
/// False for a name that this runtime has never heard of.
DLC_EXPORT bool isKnownFeature(std::string_view name);
/// How many floats the kernels that were compiled for kinds of processors take at a time: 16 where
/// there is AVX-512, 8 where there are AVX2 and FMA, else 0. ONEDNN_MAX_CPU_ISA=AVX2 counts here
/// too, so that one variable makes an older processor.
DLC_EXPORT int hostLanes();
/// CPUs that this process may use.
DLC_EXPORT int hostThreads();

/// Bytes of one core's second-level cache, from 256 KiB to 4 MiB; 1 MiB where it is unknown.
DLC_EXPORT int64_t nearBytes();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_FEATURES_H
