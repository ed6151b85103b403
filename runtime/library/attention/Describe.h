//===- Describe.h - attention seen from the compiler ------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_DESCRIBE_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace dlc::attention {

/// Lanes of the vectors that this machine has for it: 16 (AVX-512), 8 (AVX2 with FMA), or 0 where
/// it has neither. $ONEDNN_MAX_CPU_ISA counts here too.
DLC_EXPORT int lanes();
/// Whether products can be made on tiles.
DLC_EXPORT bool hasTiles();
/// What a description's call needs; -1 where it cannot be made here.
DLC_EXPORT int64_t scratchBytes(const nlohmann::json &desc, int threads);

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_DESCRIBE_H
